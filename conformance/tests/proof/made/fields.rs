//! Each field takes a value that it should refuse, refuses one that it should take, or is not
//! named where it is at fault.

use promptarium_conformance::scenarios::tables::{FIELDS, Field, Kind, Presence, Request};
use serde_json::Value;

use super::json::Json;
use super::{dashed, made};
use crate::bounds::refusal;
use crate::entries::without;
use crate::exchange::{self, Response};
use crate::fault::{Fault, Intercept};
use crate::front::{answers, instead};

/// What a server does with a field.
#[derive(Clone, Copy)]
enum Act {
    /// It takes a value that is to be refused.
    Takes,
    /// It refuses a value that is to be taken.
    Refuses,
}

/// Whether an operator is about a value; `None` is a field that is not there.
type When = Box<dyn Fn(Option<&Value>) -> bool + Send + Sync>;

/// An operator on one field: as in ids, what is wrong, the rule.
struct Operator {
    id: String,
    wrong: String,
    rule: &'static str,
    act: Act,
    when: When,
}

pub(super) fn all() -> Vec<Fault> {
    let of_fields = FIELDS.iter().flat_map(|field| {
        let values = operators(field).into_iter().map(|operator| of_value(field, operator));
        let named = made(
            format!("{}unnamed", prefix(field)),
            "ER-03",
            prefix(field),
            format!("A refusal does not name {} of {}.", field.name, field.request.names().1),
            || unnamed(field),
        );
        let entry = matches!(field.kind, Kind::Uris(_)).then(|| {
            made(
                format!("{}entry-unnamed", prefix(field)),
                "ER-03",
                prefix(field),
                format!("The message for {} does not name the entry at fault.", field.name),
                || entry_unnamed(field),
            )
        });
        values.chain([named]).chain(entry)
    });
    of_fields.chain(of_requests()).collect()
}

fn prefix(field: &Field) -> String {
    format!("fields.{}.{}-", field.request.names().0, dashed(field.name))
}

fn route(request: Request) -> &'static str {
    match request {
        Request::CreatePrompt => "POST /prompts",
        Request::UpdatePrompt => "PATCH /prompts/*",
        Request::SavePrompt => "POST /prompts/*/save",
        Request::CreateVault => "POST /vaults",
        Request::UpdateVault => "PATCH /vaults/*",
        Request::AddPrompts => "POST /vaults/*/prompts",
        Request::MovePrompt => "POST /vaults/*/prompts/*/move",
        Request::Generate => "POST /generations",
        Request::Slot => "POST /uploads/images",
        Request::ListPrompts => "GET /prompts",
    }
}

fn of_value(field: &'static Field, operator: Operator) -> Fault {
    let Operator { id, wrong, rule, act, when } = operator;
    let when: &'static When = Box::leak(Box::new(when));
    let request = field.request.names().1;
    let wrong = format!("{request}: {wrong}.");
    made(format!("{}{id}", prefix(field)), rule, prefix(field), wrong, move || {
        instead(route(field.request), move |request| {
            if !when(value(field, request)?.as_ref()) {
                return None;
            }
            Some(match act {
                Act::Takes => Response::data(200, &Value::Object(serde_json::Map::new())),
                Act::Refuses => refusal(field.name),
            })
        })
    })
}

/// The value of the field in a request that is one of the table; the inner `None` if it is not
/// there.
#[expect(clippy::option_option, reason = "no request of the table, and no field in one")]
fn value(field: &Field, request: &exchange::Request) -> Option<Option<Value>> {
    if !field.request.has_body() {
        let given = request.parameter(field.name)?;
        let number = given.parse::<i64>().ok().filter(|_| !matches!(field.kind, Kind::OneOf(..)));
        return Some(Some(number.map_or_else(|| given.into(), Value::from)));
    }
    let body = request.json();
    body.is_object().then(|| body.get(field.name).cloned())
}

fn operators(field: &'static Field) -> Vec<Operator> {
    let mut found = Vec::new();
    let name = field.name;
    let mut add = |id: &str, wrong: String, rule, act, when: When| {
        found.push(Operator { id: id.to_owned(), wrong, rule, act, when });
    };
    let takes = |what: &str| format!("{name} may be {what}");
    let refuses = |what: &str| format!("{name} may not be {what}");
    let body = field.request.has_body();
    let own = if field.request == Request::AddPrompts { "VC-13" } else { field.rule };
    if field.presence == Presence::Required {
        add("missing-taken", takes("missing"), field.rule, Act::Takes, Box::new(|v| v.is_none()));
    }
    let null = |value: Option<&Value>| value.is_some_and(Value::is_null);
    match field.presence {
        _ if !body => {}
        Presence::Nullable | Presence::NullableByChoice => {
            add("null-refused", refuses("null"), field.rule, Act::Refuses, Box::new(null));
        }
        Presence::Required | Presence::Optional => {
            add("null-taken", takes("null"), field.rule, Act::Takes, Box::new(null));
        }
    }
    for kind in other_types(field.kind, body) {
        let when = move |value: Option<&Value>| value.is_some_and(|value| Json::of(value) == kind);
        let (id, what) = (format!("{}-taken", kind.name()), format!("of the type {}", kind.name()));
        add(&id, takes(&what), own, Act::Takes, Box::new(when));
    }
    for kind in other_entries(field.kind) {
        let has = move |value: Option<&Value>| {
            let entries = value.and_then(Value::as_array).into_iter().flatten();
            entries.into_iter().any(|entry| Json::of(entry) == kind)
        };
        let id = format!("entry-{}-taken", kind.name());
        let what = format!("a list with an entry of the type {}", kind.name());
        add(&id, takes(&what), own, Act::Takes, Box::new(has));
    }
    let bounds = bounds(field).into_iter();
    let bounds = bounds.map(|(id, what, act, when)| (id.to_owned(), what, field.range, act, when));
    for (id, what, rule, act, when) in bounds.chain(forms(field)) {
        let wrong = match act {
            Act::Takes => takes(&what),
            Act::Refuses => refuses(&what),
        };
        add(&id, wrong, rule, act, when);
    }
    found
}

/// The types that are sent in place of the field's own.
fn other_types(kind: Kind, body: bool) -> Vec<Json> {
    use Json::{Boolean, Fraction, List, Number, Object, Text};
    match kind {
        Kind::OneOf(..) if !body => Vec::new(),
        _ if !body => vec![Text],
        Kind::Text(..) | Kind::AnyText | Kind::Ratio(_) | Kind::OneOf(..) | Kind::Uri => {
            vec![Number, Boolean, List, Object]
        }
        Kind::Uris(_) => vec![Text, Number, Boolean, Object],
        Kind::Id | Kind::PositiveId | Kind::Integer(..) => {
            vec![Text, Fraction, Boolean, List, Object]
        }
        Kind::Ids(..) => vec![Number, Text, Boolean, Object],
        Kind::Object => vec![Text, Number, Boolean, List],
    }
}

fn other_entries(kind: Kind) -> Vec<Json> {
    use Json::{Boolean, Fraction, List, Null, Number, Object, Text};
    match kind {
        Kind::Uris(_) => vec![Number, Boolean, Null, Object, List],
        Kind::Ids(..) => vec![Text, Boolean, Null, List, Object, Fraction],
        _ => Vec::new(),
    }
}

/// Operators on the bounds: one more is taken, the last is refused, and characters are counted in
/// another way.
fn bounds(field: &'static Field) -> Vec<(&'static str, String, Act, When)> {
    let text = |holds: fn(&str, usize) -> bool, most: usize| -> When {
        Box::new(move |value| value.and_then(Value::as_str).is_some_and(|text| holds(text, most)))
    };
    let list = |count: usize| -> When {
        Box::new(move |value| value.and_then(Value::as_array).is_some_and(|it| it.len() == count))
    };
    let number = |holds: fn(f64, f64) -> bool, bound: i64| -> When {
        Box::new(move |value| {
            value.and_then(Value::as_f64).is_some_and(|number| holds(number, bound as f64))
        })
    };
    let length: fn(&str, usize) -> bool = |text, count| text.chars().count() == count;
    let of = |count: usize| format!("of {count} characters");
    let mut found = Vec::new();
    let (Kind::Text(_, most) | Kind::Ratio(most)) = field.kind else {
        return match field.kind {
            Kind::Uris(most) => vec![
                ("one-more-taken", format!("of {} entries", most + 1), Act::Takes, list(most + 1)),
                ("last-refused", format!("of {most} entries"), Act::Refuses, list(most)),
            ],
            Kind::Ids(least, most) => vec![
                ("none-taken", "without entries".into(), Act::Takes, list(least - 1)),
                ("first-refused", format!("of {least} entries"), Act::Refuses, list(least)),
                ("one-more-taken", format!("of {} entries", most + 1), Act::Takes, list(most + 1)),
                ("last-refused", format!("of {most} entries"), Act::Refuses, list(most)),
            ],
            Kind::Integer(least, most) => vec![
                ("below-taken", format!("below {least}"), Act::Takes, number(|n, b| n < b, least)),
                ("first-refused", least.to_string(), Act::Refuses, number(|n, b| n == b, least)),
                ("last-refused", most.to_string(), Act::Refuses, number(|n, b| n == b, most)),
                ("above-taken", format!("above {most}"), Act::Takes, number(|n, b| n > b, most)),
            ],
            Kind::PositiveId => {
                vec![("below-taken", "below 1".into(), Act::Takes, number(|n, b| n < b, 1))]
            }
            _ => found,
        };
    };
    if let Kind::Text(1, _) = field.kind {
        found.push(("empty-taken", "empty".to_owned(), Act::Takes, text(length, 0)));
        found.push(("first-refused", of(1), Act::Refuses, text(length, 1)));
    }
    found.push(("one-more-taken", of(most + 1), Act::Takes, text(length, most + 1)));
    found.push(("last-refused", of(most), Act::Refuses, text(length, most)));
    if matches!(field.kind, Kind::Text(..)) {
        let counted = |unit: &str| format!("of {most} characters that are more {unit}");
        let bytes: fn(&str, usize) -> bool =
            |text, most| text.chars().count() <= most && text.len() > most;
        found.push(("bytes-counted", counted("bytes"), Act::Refuses, text(bytes, most)));
        let units: fn(&str, usize) -> bool =
            |text, most| text.chars().count() <= most && text.encode_utf16().count() > most;
        found.push(("utf16-counted", counted("UTF-16 units"), Act::Refuses, text(units, most)));
    }
    let signs: fn(&str, usize) -> bool = |text, most| {
        let marks = text.chars().filter(|c| *c == '\u{301}').count();
        let all = text.chars().count();
        all > most && all - marks <= most
    };
    let longer = format!("of more than {most} code points with marks among them");
    found.push(("marks-not-counted", longer, Act::Takes, text(signs, most)));
    found
}

/// Operators on what a value says: words, addresses, spellings.
fn forms(field: &'static Field) -> Vec<(String, String, &'static str, Act, When)> {
    let text = |holds: fn(&str) -> bool| -> When {
        Box::new(move |value| {
            let entries = value.and_then(Value::as_array).into_iter().flatten();
            let mut texts = value.into_iter().chain(entries).filter_map(Value::as_str);
            texts.any(holds)
        })
    };
    let mut found = Vec::new();
    let mut add = |id: &str, what: &str, rule: &'static str, act: Act, when: When| {
        found.push((id.to_owned(), what.to_owned(), rule, act, when));
    };
    match field.kind {
        Kind::OneOf(words, _) => {
            for word in words.split(' ') {
                let when = move |value: Option<&Value>| value.is_some_and(|it| it == word);
                let id = format!("{}-refused", word.replace('/', "-"));
                add(&id, word, field.range, Act::Refuses, Box::new(when));
            }
            let other = move |value: Option<&Value>, same: fn(&str, &str) -> bool| {
                let text = value.and_then(Value::as_str);
                let known = |text: &str| words.split(' ').any(|word| word == text);
                text.is_some_and(|it| !known(it) && words.split(' ').any(|word| same(it, word)))
            };
            let any = move |value: Option<&Value>| other(value, |_, _| true);
            add("any-word-taken", "any other word", field.range, Act::Takes, Box::new(any));
            // The near words of upload types have no capitals: media types have no case.
            if field.request != Request::Slot {
                let case = move |value: Option<&Value>| other(value, str::eq_ignore_ascii_case);
                let what = "a word in capitals";
                add("other-case-taken", what, field.range, Act::Takes, Box::new(case));
            }
        }
        Kind::Uri | Kind::Uris(_) => {
            let plain = text(|text| !text.contains([':', '/', '#']));
            add("word-taken", "a text that is not a URI", field.rule, Act::Takes, plain);
            let relative = text(|text| text.starts_with('/'));
            add("relative-taken", "a relative address", field.rule, Act::Takes, relative);
        }
        Kind::Object => {
            let empty = |value: Option<&Value>| {
                value.and_then(Value::as_object).is_some_and(serde_json::Map::is_empty)
            };
            add("empty-refused", "empty", field.range, Act::Refuses, Box::new(empty));
        }
        Kind::Id | Kind::PositiveId | Kind::Ids(..) | Kind::Integer(..)
            if field.request.has_body() =>
        {
            let rule = if field.request == Request::AddPrompts { "VC-13" } else { field.rule };
            let float = |value: Option<&Value>| {
                let entry = value.and_then(|value| value.get(0)).or(value);
                entry.is_some_and(|it| it.is_f64() && Json::of(it) == Json::Number)
            };
            let what = "a float that is exact";
            add("float-refused", what, rule, Act::Refuses, Box::new(float));
        }
        _ => {}
    }
    if !matches!(
        field.kind,
        Kind::Id | Kind::PositiveId | Kind::Ids(..) | Kind::Integer(..) | Kind::OneOf(..)
    ) {
        let nul = |value: Option<&Value>| {
            value.is_some_and(|value| value.to_string().contains("\\u0000"))
        };
        add("nul-taken", "with U+0000", field.rule, Act::Takes, Box::new(nul));
    }
    found
}

/// Details do not have the field.
fn unnamed(field: &'static Field) -> Intercept {
    answers(route(field.request), |_, response| {
        if response.code() == 400 {
            response.edit(|body| without(&mut body["details"], field.name));
        }
    })
}

fn entry_unnamed(field: &'static Field) -> Intercept {
    answers(route(field.request), |_, response| {
        if response.code() == 400 {
            response.edit(|body| {
                if body["details"].get(field.name).is_some() {
                    body["details"][field.name] = "An entry is not valid.".into();
                }
            });
        }
    })
}

/// Operators on whole requests.
fn of_requests() -> impl Iterator<Item = Fault> {
    let bodies = Request::ALL.iter().copied().filter(|request| request.has_body());
    bodies.flat_map(|request| {
        let (name, words) = request.names();
        let first_only = move || {
            answers(route(request), |_, response| {
                if response.code() == 400 {
                    response.edit(|body| {
                        let details = body["details"].as_object().cloned().unwrap_or_default();
                        body["details"] = details.into_iter().take(1).collect();
                    });
                }
            })
        };
        let unknown = move || {
            instead(route(request), |request| {
                request.json().get("unknown").is_some().then(|| refusal("unknown"))
            })
        };
        // A body with one field has no second one to be named.
        let several = FIELDS.iter().filter(|field| field.request == request).count() > 1;
        let first = several.then(|| {
            made(
                format!("fields.{name}.first-only"),
                "ER-03",
                format!("fields.{name}.all-at-once"),
                format!("{words}: details name one field at most."),
                first_only,
            )
        });
        let unknown = made(
            format!("fields.{name}.unknown-refused"),
            request.rule(),
            format!("fields.{name}.unknown-ignored"),
            format!("{words}: an unknown field is refused."),
            unknown,
        );
        first.into_iter().chain([unknown])
    })
}
