//! Each field takes a value that it should refuse, refuses one that it should take, or is not
//! named where it is at fault.

use promptarium_conformance::scenarios::tables::{FIELDS, Field, Kind, Presence, Request};
use serde_json::Value;
use strum::VariantArray as _;

use super::{dashed, made};
use crate::bounds::refusal;
use crate::exchange::{self, Response, without};
use crate::fault::{Fault, Intercept};
use crate::front::{answers, instead};

pub(super) fn all() -> Vec<Fault> {
    let bodies = Request::VARIANTS.iter().copied().filter(|request| request.has_body());
    FIELDS.iter().flat_map(of_field).chain(bodies.flat_map(of_request)).collect()
}

fn route(request: Request) -> &'static str {
    let endpoint = request.endpoint();
    super::route(endpoint.method.as_str(), endpoint.template)
}

/// The faults in one field.
struct Operators {
    field: &'static Field,
    /// How the ids of its faults and scenarios begin.
    prefix: String,
    found: Vec<Fault>,
}

impl Operators {
    fn add(
        &mut self,
        id: &str,
        rule: &'static str,
        how: impl Fn() -> Intercept + Send + Sync + 'static,
    ) {
        self.found.push(made(format!("{}{id}", self.prefix), rule, self.prefix.clone(), how));
    }

    /// Answers requests itself in which the field has such a value; `None` is no value.
    fn respond(
        &mut self,
        id: &str,
        rule: &'static str,
        response: fn(&Field) -> Response,
        when: impl Fn(Option<&Value>) -> bool + Send + Sync + 'static,
    ) {
        let field = self.field;
        let when: &'static _ = Box::leak(Box::new(when));
        self.add(id, rule, move || {
            instead(route(field.request), move |request| {
                when(value(field, request)?.as_ref()).then(|| response(field))
            })
        });
    }

    /// A value that is to be refused is taken.
    fn takes(
        &mut self,
        id: &str,
        rule: &'static str,
        when: impl Fn(&Value) -> bool + Send + Sync + 'static,
    ) {
        self.respond(id, rule, success, move |value| value.is_some_and(&when));
    }

    /// A value that is to be taken is refused.
    fn refuses(
        &mut self,
        id: &str,
        rule: &'static str,
        when: impl Fn(&Value) -> bool + Send + Sync + 'static,
    ) {
        self.respond(id, rule, |field| refusal(field.name), move |value| value.is_some_and(&when));
    }
}

fn success(_: &Field) -> Response {
    Response::data(200, &Value::Object(serde_json::Map::new()))
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

fn of_field(field: &'static Field) -> Vec<Fault> {
    let prefix = format!("fields.{}.{}-", field.request.as_ref(), dashed(field.name));
    let mut all = Operators { field, prefix, found: Vec::new() };
    let body = field.request.has_body();
    let own = if field.request == Request::AddPrompts { "VC-13" } else { field.rule };
    if field.presence == Presence::Required {
        all.respond("missing-taken", field.rule, success, |value| value.is_none());
    }
    match field.presence.takes_null() {
        _ if !body => {}
        true => all.refuses("null-refused", field.rule, Value::is_null),
        false => all.takes("null-taken", field.rule, Value::is_null),
    }
    for other in other_types(field.kind, body).split_whitespace() {
        all.takes(&format!("{other}-taken"), own, move |value| kind(value) == other);
    }
    for other in other_entries(field.kind).split_whitespace() {
        all.takes(&format!("entry-{other}-taken"), own, move |value| {
            entries(value).iter().any(|entry| kind(entry) == other)
        });
    }
    let whole =
        matches!(field.kind, Kind::Id | Kind::PositiveId | Kind::Ids(..) | Kind::Integer(..));
    if body && whole {
        all.refuses("float-refused", own, |value| {
            let entry = value.get(0).unwrap_or(value);
            entry.is_f64() && kind(entry) == "number"
        });
    }
    bounds(&mut all);
    forms(&mut all);
    let name = field.name;
    all.add("unnamed", "ER-03", move || {
        in_refusals(field.request, move |body| without(&mut body["details"], name))
    });
    if matches!(field.kind, Kind::Uris(_)) {
        all.add("entry-unnamed", "ER-03", move || {
            in_refusals(field.request, move |body| {
                if body["details"].get(name).is_some() {
                    body["details"][name] = "An entry is not valid.".into();
                }
            })
        });
    }
    all.found
}

/// The type of a JSON value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Number(number) if number.as_f64().is_some_and(|n| n.fract() != 0.0) => "fraction",
        Value::Number(_) => "number",
        Value::Bool(_) => "boolean",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Null => "null",
    }
}

/// The types that are sent in place of the field's own.
fn other_types(kind: Kind, body: bool) -> &'static str {
    match kind {
        Kind::OneOf(..) if !body => "",
        _ if !body => "string",
        Kind::Text(..) | Kind::AnyText | Kind::Ratio(_) | Kind::OneOf(..) | Kind::Uri => {
            "number boolean array object"
        }
        Kind::Uris(_) => "string number boolean object",
        Kind::Id | Kind::PositiveId | Kind::Integer(..) => "string fraction boolean array object",
        Kind::Ids(..) => "number string boolean object",
        Kind::Object => "string number boolean array",
    }
}

fn other_entries(kind: Kind) -> &'static str {
    match kind {
        Kind::Uris(_) => "number boolean null object array",
        Kind::Ids(..) => "string boolean null array object fraction",
        _ => "",
    }
}

fn entries(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A text that holds, or the same of an entry of a list.
fn has_text(value: &Value, holds: fn(&str) -> bool) -> bool {
    std::iter::once(value).chain(entries(value)).filter_map(Value::as_str).any(holds)
}

/// Operators on the bounds: one more is taken, the last is refused, and characters are counted in
/// another way.
fn bounds(all: &mut Operators) {
    let range = all.field.range;
    let text = |holds: fn(&str, usize) -> bool, most: usize| {
        move |value: &Value| value.as_str().is_some_and(|text| holds(text, most))
    };
    let is_of: fn(&str, usize) -> bool = |text, count| text.chars().count() == count;
    let list =
        |count: usize| move |value: &Value| value.as_array().is_some_and(|it| it.len() == count);
    let number = |holds: fn(f64, f64) -> bool, bound: i64| {
        move |value: &Value| value.as_f64().is_some_and(|number| holds(number, bound as f64))
    };
    match all.field.kind {
        Kind::Text(least, most) => {
            if least == 1 {
                all.takes("empty-taken", range, text(is_of, 0));
                all.refuses("first-refused", range, text(is_of, 1));
            }
            let bytes = text(|text, most| fits(text, most) && text.len() > most, most);
            all.refuses("bytes-counted", range, bytes);
            let units =
                text(|text, most| fits(text, most) && text.encode_utf16().count() > most, most);
            all.refuses("utf16-counted", range, units);
        }
        Kind::Uris(most) => {
            all.takes("one-more-taken", range, list(most + 1));
            all.refuses("last-refused", range, list(most));
        }
        Kind::Ids(least, most) => {
            all.takes("none-taken", range, list(least - 1));
            all.refuses("first-refused", range, list(least));
            all.takes("one-more-taken", range, list(most + 1));
            all.refuses("last-refused", range, list(most));
        }
        Kind::Integer(least, most) => {
            all.takes("below-taken", range, number(|n, bound| n < bound, least));
            all.refuses("first-refused", range, number(|n, bound| n == bound, least));
            all.refuses("last-refused", range, number(|n, bound| n == bound, most));
            all.takes("above-taken", range, number(|n, bound| n > bound, most));
        }
        Kind::PositiveId => all.takes("below-taken", range, number(|n, bound| n < bound, 1)),
        _ => {}
    }
    if let Kind::Text(_, most) | Kind::Ratio(most) = all.field.kind {
        all.takes("one-more-taken", range, text(is_of, most + 1));
        all.refuses("last-refused", range, text(is_of, most));
        let marks: fn(&str, usize) -> bool = |text, most| {
            let marks = text.chars().filter(|c| *c == '\u{301}').count();
            !fits(text, most) && text.chars().count() - marks <= most
        };
        all.takes("marks-not-counted", range, text(marks, most));
    }
}

fn fits(text: &str, most: usize) -> bool {
    text.chars().count() <= most
}

/// Operators on what a value says: words, addresses, spellings.
fn forms(all: &mut Operators) {
    let (rule, range) = (all.field.rule, all.field.range);
    match all.field.kind {
        Kind::OneOf(words, _) => {
            for word in words.split(' ') {
                let id = format!("{}-refused", word.replace('/', "-"));
                all.refuses(&id, range, move |value| value == word);
            }
            let other = move |value: &Value, same: fn(&str, &str) -> bool| {
                let text = value.as_str().filter(|text| words.split(' ').all(|word| word != *text));
                text.is_some_and(|text| words.split(' ').any(|word| same(text, word)))
            };
            all.takes("any-word-taken", range, move |value| other(value, |_, _| true));
            // The near words of upload types have no capitals: media types have no case.
            if all.field.request != Request::RequestSlot {
                all.takes("other-case-taken", range, move |value| {
                    other(value, str::eq_ignore_ascii_case)
                });
            }
            return;
        }
        Kind::Uri | Kind::Uris(_) => {
            all.takes("word-taken", rule, |it| {
                has_text(it, |text| !text.contains([':', '/', '#']))
            });
            all.takes("relative-taken", rule, |it| has_text(it, |text| text.starts_with('/')));
        }
        Kind::Object => all.refuses("empty-refused", range, |value| {
            value.as_object().is_some_and(serde_json::Map::is_empty)
        }),
        Kind::Text(..) | Kind::AnyText | Kind::Ratio(_) => {}
        Kind::Id | Kind::PositiveId | Kind::Ids(..) | Kind::Integer(..) => return,
    }
    all.takes("nul-taken", rule, |value| value.to_string().contains("\\u0000"));
}

/// Changes the bodies of refusals with 400.
fn in_refusals(request: Request, change: impl Fn(&mut Value) + Send + Sync + 'static) -> Intercept {
    answers(route(request), move |_, response| {
        if response.code() == 400 {
            response.edit(&change);
        }
    })
}

/// Operators on whole requests.
fn of_request(request: Request) -> Vec<Fault> {
    let name = request.as_ref();
    let unknown = format!("fields.{name}.unknown-refused");
    let among = format!("fields.{name}.unknown-ignored");
    let mut found = vec![made(unknown, request.rule(), among, move || {
        instead(route(request), |request| {
            request.json().get("unknown").is_some().then(|| refusal("unknown"))
        })
    })];
    // A body with one field has no second one to be named.
    if FIELDS.iter().filter(|field| field.request == request).count() > 1 {
        let first_only = format!("fields.{name}.first-only");
        found.push(made(first_only, "ER-03", format!("fields.{name}.all-at-once"), move || {
            in_refusals(request, |body| {
                let details = body["details"].as_object().cloned().unwrap_or_default();
                body["details"] = details.into_iter().take(1).collect();
            })
        }));
    }
    found
}
