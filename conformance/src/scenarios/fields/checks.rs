//! Values of a field are sent, and the answers are looked at.

use super::request::{Correct, Request};
use super::table::Field;
use crate::scenarios::shared::prelude::*;

pub fn shown(field: &Field, value: &str) -> String {
    format!("{} {}", field.name, value.chars().take(80).collect::<String>())
}

/// Each value is refused with 400, and nothing changes.
pub async fn all_refused(call: &Correct, field: &Field, values: &[String]) -> Result {
    for value in values {
        sent(call, field, value).await?.is_bad_request(shown(field, value))?;
    }
    call.changed_nothing().await
}

/// The call with this value, beside all that a right one would need: nothing else is at fault.
async fn sent(call: &Correct, field: &Field, value: &str) -> Result<ApiResponse> {
    let beside = beside(call, field, value);
    let beside = beside.iter().map(|(name, value)| (*name, value.as_str()));
    call.with(&[(field.name, value)].into_iter().chain(beside).collect::<Vec<_>>()).await
}

pub async fn accepted(call: &Correct, field: &Field, values: &[String]) -> Result {
    for value in values {
        accepted_one(call, field, value).await?;
    }
    Ok(())
}

/// A server may refuse a name that is taken (S-17), and a single letter easily is.
pub async fn one_accepted(call: &Correct, field: &Field) -> Result {
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
    let reply = sent(call, field, value).await?;
    if field.request == Request::Generate {
        taken_by_model(&call.case, &reply, field.name)?;
    }
    reply.status_is(reply.is_success(), format!("a success for {}", shown(field, value)))?;
    let shows = !matches!(field.request, Request::Generate | Request::ListPrompts);
    if shows && SHOWN.split(' ').any(|name| name == field.name) {
        let value: Value = serde_json::from_str(value).unwrap_or_default();
        reply.equals(&format!("/data/{}", field.name), value)?;
    }
    Ok(())
}

/// A field that a value needs: a type its model, and a new vault a name that is not taken (S-17).
fn beside(call: &Correct, field: &Field, value: &str) -> Option<(&'static str, String)> {
    let (name, needed) = match (field.request, value) {
        (Request::ListPrompts, _) => return None,
        (Request::CreateVault, _) if field.name != "name" => ("name", call.case.name("vault")),
        (_, r#""video""#) => ("modelId", call.case.video_model().to_owned()),
        (_, r#""image""#) => ("modelId", call.case.image_model().to_owned()),
        _ if field.name == "promptType" => ("modelId", call.case.image_model().to_owned()),
        _ => return None,
    };
    Some((name, json!(needed).to_string()))
}
