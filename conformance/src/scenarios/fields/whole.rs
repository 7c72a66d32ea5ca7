//! What holds for the body of each request as a whole.

use super::request::Request;
use crate::scenarios::errors::names_exactly;
use crate::wire::ApiResponse;
use crate::{Case, Failure, Profile, Scenario};

/// Two scenarios for each request with a body.
pub(super) fn all() -> impl Iterator<Item = Scenario> {
    let bodies = Request::ALL.iter().copied().filter(|request| request.has_body());
    bodies.flat_map(|request| {
        let (id, name) = request.names();
        let source = concat!(file!(), ":", line!());
        let all_at_once = Scenario::generated(
            Profile::Reference,
            format!("fields.{id}.all-at-once"),
            format!("{name}: a refusal names every field at fault at once and no other (S-60)"),
            vec!["ER-03"],
            source,
            move |case| all_at_once(case, request),
        );
        let unknown = Scenario::generated(
            Profile::Reference,
            format!("fields.{id}.unknown-ignored"),
            format!("{name}: fields that it does not know are ignored (S-67)"),
            vec![request.rule(), "EN-02"],
            source,
            move |case| unknown_ignored(case, request),
        );
        [all_at_once, unknown]
    })
}

/// A type that no field has, and nothing at all.
async fn all_at_once(case: Case, request: Request) -> Result<(), Failure> {
    let call = request.correct(&case).await?;
    let all: Vec<_> = request.fields().map(|field| field.name).collect();
    // `parameters` is the one object.
    let wrong =
        |name: &&'static str| (*name, if *name == "parameters" { "7" } else { r#"{"a":1}"# });
    names(&call.send(all.iter().map(wrong)).await?, &all)?;
    let required = request.required();
    if !required.is_empty() {
        names(&call.send([].into_iter()).await?, &required)?;
    }
    Ok(())
}

/// A 400 whose details and whose error name these fields, the details no other.
fn names(reply: &ApiResponse, fields: &[&str]) -> Result<(), Failure> {
    names_exactly(reply, fields)?;
    let error = reply.string("/error")?;
    let unnamed = fields.iter().find(|field| !error.contains(**field));
    reply.ensure(unnamed.is_none(), format!("an error that names {fields:?}"), error).map(drop)
}

async fn unknown_ignored(case: Case, request: Request) -> Result<(), Failure> {
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
        reply.equals("/data/status", "active")?.equals("/data/images", serde_json::json!([]))?;
        reply.equals("/data/vaultIds", serde_json::json!([]))?;
    }
    Ok(())
}
