//! What our server chose about the fields of requests: which faults `details` names, the forms of
//! numbers, addresses and texts that are refused (S-09, S-11, S-60, S-65, S-66, S-67).

use promptarium_conformance::scenarios::endpoints::Row;
use promptarium_conformance::scenarios::fields::request::{Correct, Request};
use promptarium_conformance::scenarios::fields::table::{FIELDS, Field, Kind, Presence};
use promptarium_conformance::scenarios::fields::{Fact, accepted, dashed, facts, shown, values};
use promptarium_conformance::scenarios::shared::job::taken_by_model;
use strum::VariantArray as _;

use crate::prelude::*;

pub(super) fn all() -> impl Iterator<Item = Scenario> {
    let of_field = |field| choices(field).into_iter().map(move |choice| choice.scenario(field));
    FIELDS.iter().flat_map(of_field).chain(of_requests())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Null,
    NamesField,
    Nul,
    NumberForm,
    ScalarValues,
    NotAbsolute,
    NamesEntry,
}

fn choices(field: &Field) -> Vec<Choice> {
    use Choice::*;
    let is_body = field.request.has_body();
    let of_kind: &[Choice] = match field.kind {
        Kind::Text(..) | Kind::Ratio(..) => &[Nul, ScalarValues],
        Kind::AnyText | Kind::Object => &[Nul],
        Kind::Uri => &[Nul, NotAbsolute],
        Kind::Uris(..) => &[Nul, NotAbsolute, NamesEntry],
        Kind::Id | Kind::PositiveId | Kind::Ids(..) | Kind::Integer(..) if is_body => &[NumberForm],
        _ => &[],
    };
    let null = (field.presence == Presence::NullableByChoice).then_some(Null);
    null.into_iter().chain(of_kind.iter().copied()).chain([NamesField]).collect()
}

impl Choice {
    /// The name in ids, the silent point, and the title with names for what differs.
    fn row(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Null => ("null", "S-09", "{name} may be null"),
            Self::NamesField => ("named", "S-60", "every refusal of a {name} names it in details"),
            Self::Nul => ("nul", "S-66", "U+0000 is refused with 400 naming {name}"),
            Self::NumberForm => (
                "spelling",
                "S-65",
                "an integer in {name} is a number of at most 64 bits, as a float too if it is exact",
            ),
            Self::ScalarValues => {
                ("scalar-values", "S-66", "the bounds of {name} count Unicode scalar values")
            }
            Self::NotAbsolute => (
                "relative",
                "S-11",
                "relative addresses, white space and control characters are refused, naming {name}",
            ),
            Self::NamesEntry => (
                "entry-named",
                "S-11",
                "the message for {name} names the entry at fault, counted from 1",
            ),
        }
    }

    fn scenario(self, field: &'static Field) -> Scenario {
        let Row { name, method, template, .. } = field.request.endpoint();
        let (word, silent, title) = self.row();
        let id = format!("fields.{name}.{}-{word}", dashed(field.name));
        let title = format!("{method} {template}: {}", title.replace("{name}", field.name));
        Scenario::generated(id, title, vec![silent], move |case| self.hold(case, field))
    }

    async fn hold(self, case: Case, field: &'static Field) -> Result {
        let call = field.request.correct(&case).await?;
        let most = field.kind.range().1 as usize;
        match self {
            Self::Null => accepted(&call, field, &["null".to_owned()]).await,
            Self::NamesField => named(&call, field).await,
            Self::Nul if field.kind == Kind::Object => {
                let nul =
                    [json!({ "a": "\0" }), json!({ "\0": 1 }), json!({ "a": [{ "b": "x\0" }] })];
                all_named(&call, field, &nul.map(|value| value.to_string())).await
            }
            Self::Nul => all_named(&call, field, &values::entries(field, &["\0", "a\0b"])).await,
            Self::NotAbsolute => all_named(&call, field, &values::entries(field, &RELATIVE)).await,
            Self::NamesEntry => entry_named(&call, field).await,
            Self::ScalarValues => {
                accepted(&call, field, &odd_texts(&call, field, most)).await?;
                all_named(&call, field, &odd_texts(&call, field, most + 1)).await
            }
            Self::NumberForm => {
                all_named(&call, field, &number_forms(&call, field)).await?;
                float_accepted(&call, field).await
            }
        }
    }
}

/// Numbers that are not exact integers of 64 bits, and a text.
fn number_forms(call: &Correct, field: &Field) -> Vec<String> {
    let own = call.value(field.name);
    match field.kind {
        Kind::Ids(..) => {
            let spelled = spellings(own.trim_matches(['[', ']']));
            spelled.iter().map(|value| format!("[{value}]")).collect()
        }
        _ if own.is_empty() => spellings("1"),
        _ => spellings(own),
    }
}

/// Addresses that are not absolute, or have characters that none has.
const RELATIVE: [&str; 12] = [
    "/a.png",
    "a/b.png",
    "//example.com/a.png",
    "example.com/a.png",
    "#a",
    "https://",
    "https://example.com/a b.png",
    " https://example.com/a.png",
    "https://example.com/a.png\n",
    "https://example.com/\u{a0}a.png",
    "https://example.com/a\tb.png",
    "https://example.com/\u{7f}a.png",
];

/// Letters that count as one only as Unicode scalar values: marks that are no grapheme of their
/// own, and what cannot be seen.
const ODD_LETTERS: [&str; 4] = ["\u{10ffff}", "e\u{301}", "\u{feff}", "👩\u{200d}👧\u{200d}👦"];

/// Texts of `count` Unicode scalar values that count otherwise in other ways.
fn odd_texts(call: &Correct, field: &Field, count: usize) -> Vec<String> {
    let taken = if field.request == Request::Generate { 2 } else { ODD_LETTERS.len() };
    ODD_LETTERS
        .iter()
        .take(taken)
        .map(|letters| json!(values::text(call, field, letters, count)).to_string())
        .collect()
}

fn spellings(integer: &str) -> Vec<String> {
    let spelled = [format!("{integer}.5"), format!("{integer}e-30"), format!("\"{integer}\"")];
    let others = ["99999999999999999999", "-9223372036854775809", "9007199254740993.0", "1e400"];
    spelled.into_iter().chain(others.map(str::to_owned)).collect()
}

async fn all_named(call: &Correct, field: &Field, values: &[String]) -> Result {
    for value in values {
        let reply = call.with(&[(field.name, value)]).await?;
        reply.is_bad_request_naming(field.name, shown(field, value))?;
    }
    Ok(())
}

/// Whatever the specification refuses names the field.
async fn named(call: &Correct, field: &Field) -> Result {
    for fact in facts(field).into_iter().filter(|fact| !fact.accepts(field)) {
        match fact {
            Fact::Required => {
                let reply = call.without(field.name).await?;
                reply.is_bad_request_naming(field.name, format!("no {}", field.name))?;
            }
            _ => all_named(call, field, &fact.values(call, field).await?).await?,
        }
    }
    Ok(())
}

async fn entry_named(call: &Correct, field: &Field) -> Result {
    for at in [1, 4] {
        let mut urls = vec![values::URI; 5];
        urls[at - 1] = "plainword";
        let value = json!(urls).to_string();
        let reply = call.with(&[(field.name, &value)]).await?;
        reply.is_bad_request(shown(field, &value))?;
        let message = reply.string(&format!("/details/{}", field.name))?;
        let names = message.contains(&at.to_string());
        reply.ensure(names, format!("a message that names entry {at}"), message)?;
    }
    Ok(())
}

/// An integer that is written as a float is accepted. One, as some calls succeed once.
async fn float_accepted(call: &Correct, field: &Field) -> Result {
    let value = match (field.kind, call.value(field.name)) {
        (Kind::Ids(..), own) => own.replace(']', ".0]"),
        (Kind::Id, "") => format!("{}.0", call.case.vault().await?.id),
        (_, "") => "1.0".to_owned(),
        (_, own) => format!("{own}.0"),
    };
    let reply = call.with(&[(field.name, &value)]).await?;
    if field.request == Request::Generate {
        taken_by_model(&call.case, &reply, field.name)?;
    }
    reply.status_in(200..=299).map(drop)
}

fn of_requests() -> impl Iterator<Item = Scenario> {
    let bodies = Request::VARIANTS.iter().copied().filter(|request| request.has_body());
    bodies.flat_map(|request| {
        let Row { name, method, template, .. } = request.endpoint();
        let all_at_once = Scenario::generated(
            format!("fields.{name}.all-at-once"),
            format!(
                "{method} {template}: a refusal names every field at fault at once and no other"
            ),
            vec!["S-60"],
            move |case| all_at_once(case, request),
        );
        let unknown = Scenario::generated(
            format!("fields.{name}.unknown-ignored"),
            format!("{method} {template}: fields that it does not know are ignored"),
            vec!["S-67"],
            move |case| unknown_ignored(case, request),
        );
        [all_at_once, unknown]
    })
}

/// A type that no field has, and nothing at all.
async fn all_at_once(case: Case, request: Request) -> Result {
    let call = request.correct(&case).await?;
    let all: Vec<_> = request.fields().map(|field| field.name).collect();
    // `parameters` is the one object.
    let wrong =
        |name: &&'static str| (*name, if *name == "parameters" { "7" } else { r#"{"a":1}"# });
    names(&call.send(all.iter().map(wrong)).await?, &all)?;
    let required = request.fields().filter(|field| field.presence == Presence::Required);
    let required: Vec<_> = required.map(|field| field.name).collect();
    if !required.is_empty() {
        names(&call.send([].into_iter()).await?, &required)?;
    }
    Ok(())
}

/// A 400 whose details and whose error name these fields, the details no other.
fn names(reply: &ApiResponse, fields: &[&str]) -> Result {
    names_exactly(reply, fields)?;
    let error = reply.string("/error")?;
    let unnamed = fields.iter().find(|field| !error.contains(**field));
    reply
        .ensure(unnamed.is_none(), format!("an error that names {}", json_text(&fields)), error)
        .map(drop)
}

async fn unknown_ignored(case: Case, request: Request) -> Result {
    let call = request.correct(&case).await?;
    let unknown = [
        ("unknown", r#"{"a":[{},[null]]}"#),
        ("", r#""""#),
        ("id", "1"),
        ("isSystem", "true"),
        ("status", r#""archived""#),
        ("vaultIds", r#"["x"]"#),
        ("images", "[1]"),
        ("createdAt", "5"),
        ("Title", "5"),
        ("prompt_type", r#""audio""#),
    ];
    let reply = call.with(&unknown).await?;
    reply.status_in(200..=299)?;
    if request == Request::CreatePrompt || request == Request::UpdatePrompt {
        reply.equals("/data/status", "active")?.equals("/data/images", json!([]))?;
        reply.equals("/data/vaultIds", json!([]))?;
    }
    Ok(())
}
