//! Values of a field are sent, and the answers are looked at.

use serde_json::{Value, json};

use super::request::{Correct, Request};
use super::table::Field;
use super::{Fact, facts, values};
use crate::scenarios::generations::job::taken_by_model;
use crate::{Failure, Profile};

/// What stands in a message for a value.
fn shown(field: &Field, value: &str) -> String {
    format!("{} {}", field.name, value.chars().take(80).collect::<String>())
}

/// Each value is refused with 400, and nothing changes.
pub(super) async fn all_refused(
    call: &Correct,
    field: &Field,
    values: &[String],
) -> Result<(), Failure> {
    for value in values {
        call.with(&[(field.name, value)]).await?.is_bad_request(shown(field, value))?;
    }
    call.changed_nothing().await
}

/// Each value is refused with 400 and a message under the name of the field.
pub(super) async fn all_named(
    call: &Correct,
    field: &Field,
    values: &[String],
) -> Result<(), Failure> {
    for value in values {
        let reply = call.with(&[(field.name, value)]).await?;
        reply.is_bad_request_naming(field.name, shown(field, value))?;
    }
    Ok(())
}

/// Whatever is refused for the profile core names the field.
pub(super) async fn named(call: &Correct, field: &Field) -> Result<(), Failure> {
    for fact in facts(field).into_iter().filter(|fact| fact.profile() == Profile::Core) {
        match fact {
            Fact::First | Fact::Last | Fact::Words => {}
            Fact::Required => {
                let reply = call.without(field.name).await?;
                reply.is_bad_request_naming(field.name, format!("no {}", field.name))?;
            }
            _ => all_named(call, field, &fact.values(call, field).await?).await?,
        }
    }
    Ok(())
}

pub(super) async fn entry_named(call: &Correct, field: &Field) -> Result<(), Failure> {
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

/// Each value is accepted, and shown where the answer has the field.
pub(super) async fn accepted(
    call: &Correct,
    field: &Field,
    values: &[String],
) -> Result<(), Failure> {
    for value in values {
        accepted_one(call, field, value).await?;
    }
    Ok(())
}

/// A server may refuse a name that is taken (S-17), and a single letter easily is.
pub(super) async fn one_accepted(call: &Correct, field: &Field) -> Result<(), Failure> {
    let mut last = Ok(());
    for letter in 'a'..='z' {
        last = accepted_one(call, field, &json!(letter).to_string()).await;
        if last.is_ok() {
            break;
        }
    }
    last
}

async fn accepted_one(call: &Correct, field: &Field, value: &str) -> Result<(), Failure> {
    const SHOWN: [&str; 8] = [
        "title",
        "prompt",
        "promptType",
        "name",
        "description",
        "visibility",
        "contentType",
        "size",
    ];
    let beside = beside(call, field, value);
    let beside = beside.iter().map(|(name, value)| (*name, value.as_str()));
    let changed: Vec<_> = [(field.name, value)].into_iter().chain(beside).collect();
    let reply = call.with(&changed).await?;
    if field.request == Request::Generate {
        taken_by_model(&call.case, &reply, field.name)?;
    }
    let success = (200..=299).contains(&reply.status_code());
    let got = format!("status {}", reply.status_code());
    reply.ensure(success, format!("a success for {}", shown(field, value)), got)?;
    let shows = !matches!(field.request, Request::Generate | Request::ListPrompts);
    if shows && SHOWN.contains(&field.name) {
        let value: Value = serde_json::from_str(value).unwrap_or_default();
        reply.equals(&format!("/data/{}", field.name), value)?;
    }
    Ok(())
}

/// What a value needs beside it: a type its model, and a new vault a name that is not taken (S-17).
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
