//! Values of a field are sent, and the answers are looked at; what holds for the body of each
//! request as a whole.

use strum::VariantArray as _;

use super::request::{Correct, Request};
use super::table::{Field, Kind, Presence};
use super::{Fact, facts, values};
use crate::scenarios::core::errors::names_exactly;
use crate::scenarios::core::job::taken_by_model;
use crate::scenarios::endpoints::Row;
use crate::scenarios::prelude::*;

fn shown(field: &Field, value: &str) -> String {
    format!("{} {}", field.name, value.chars().take(80).collect::<String>())
}

/// Each value is refused with 400, and nothing changes.
pub(super) async fn all_refused(call: &Correct, field: &Field, values: &[String]) -> Result {
    for value in values {
        call.with(&[(field.name, value)]).await?.is_bad_request(shown(field, value))?;
    }
    call.changed_nothing().await
}

/// Each value is refused with 400 and a message under the name of the field.
pub(super) async fn all_named(call: &Correct, field: &Field, values: &[String]) -> Result {
    for value in values {
        let reply = call.with(&[(field.name, value)]).await?;
        reply.is_bad_request_naming(field.name, shown(field, value))?;
    }
    Ok(())
}

/// Whatever is refused for the profile core names the field.
pub(super) async fn named(call: &Correct, field: &Field) -> Result {
    let core = |fact: &Fact| fact.profile(field).0 == Profile::Core && !fact.accepts(field);
    for fact in facts(field).into_iter().filter(core) {
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

pub(super) async fn entry_named(call: &Correct, field: &Field) -> Result {
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

pub(super) async fn accepted(call: &Correct, field: &Field, values: &[String]) -> Result {
    for value in values {
        accepted_one(call, field, value).await?;
    }
    Ok(())
}

/// A server may refuse a name that is taken (S-17), and a single letter easily is.
pub(super) async fn one_accepted(call: &Correct, field: &Field) -> Result {
    let mut last = Ok(());
    for letter in 'a'..='z' {
        last = accepted_one(call, field, &json!(letter).to_string()).await;
        if last.is_ok() {
            break;
        }
    }
    last
}

async fn accepted_one(call: &Correct, field: &Field, value: &str) -> Result {
    const SHOWN: &str = "title prompt promptType name description visibility contentType size";
    let beside = beside(call, field, value);
    let beside = beside.iter().map(|(name, value)| (*name, value.as_str()));
    let changed: Vec<_> = [(field.name, value)].into_iter().chain(beside).collect();
    let reply = call.with(&changed).await?;
    if field.request == Request::Generate {
        taken_by_model(&call.case, &reply, field.name)?;
    }
    let got = format!("status {}", reply.status_code());
    reply.ensure(reply.is_success(), format!("a success for {}", shown(field, value)), got)?;
    let shows = !matches!(field.request, Request::Generate | Request::ListPrompts);
    if shows && SHOWN.split(' ').any(|name| name == field.name) {
        let value: Value = serde_json::from_str(value).unwrap_or_default();
        reply.equals(&format!("/data/{}", field.name), value)?;
    }
    Ok(())
}

/// An integer that is written as a float is accepted (S-65). One, as some calls succeed once.
pub(super) async fn float_accepted(call: &Correct, field: &Field) -> Result {
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

/// A field that a value needs: a type its model, and a new vault a name that is not taken (S-17).
fn beside(call: &Correct, field: &Field, value: &str) -> Option<(&'static str, String)> {
    match (field.request, value) {
        (Request::ListPrompts, _) => None,
        (Request::CreateVault, _) if field.name != "name" => {
            Some(("name", json!(call.case.name("vault")).to_string()))
        }
        (_, r#""image""#) => Some(("modelId", json!(call.case.image_model()).to_string())),
        (_, r#""video""#) => Some(("modelId", json!(call.case.video_model()).to_string())),
        _ => None,
    }
}

pub(super) fn of_requests() -> impl Iterator<Item = Scenario> {
    let bodies = Request::VARIANTS.iter().copied().filter(|request| request.has_body());
    bodies.flat_map(|request| {
        let Row { name, method, template, .. } = request.endpoint();
        let all_at_once = Scenario::generated(
            Profile::Reference,
            format!("fields.{name}.all-at-once"),
            format!(
                "{method} {template}: a refusal names every field at fault at once and no other"
            ),
            vec!["ER-03"],
            &["S-60"],
            move |case| all_at_once(case, request),
        );
        let unknown = Scenario::generated(
            Profile::Reference,
            format!("fields.{name}.unknown-ignored"),
            format!("{method} {template}: fields that it does not know are ignored"),
            vec![request.rule(), "EN-02"],
            &["S-67"],
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
