//! What our server makes of bodies where the specification is silent: `null`,
//! integers in other forms, U+0000, unknown fields, several faults at once.

use serde_json::{Value, json};

use super::super::job::{FAIL, body, idle, queue, send};
use super::TEXTS;
use crate::scenario::reference;
use crate::wire::Reply;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(in super::super) const ALL: &[Scenario] = &[
    reference! { "generations.body.null" ["ER-03", "ER-05", "GE-09"] null,
        "null is refused with 400 in every field, naming it (S-10)" },
    reference! { "generations.body.integer-forms" ["ER-03", "GE-19", "GE-21"] integer_forms,
        "Integers are digits alone: 1.0 and 1e0 are refused, naming the field (S-65)" },
    reference! { "generations.body.zero-character"
        ["ER-03", "GE-08", "GE-13", "GE-20"] zero_character,
        "U+0000 is refused in every text, naming the field (S-66)" },
    reference! { "generations.body.unknown-fields" ["GE-01"] [LocalProvider] unknown_fields,
        "Fields that a generation does not know are ignored (S-67)" },
    reference! { "generations.body.all-at-once" ["ER-03"] all_at_once,
        "The details of a refusal name every field at fault and no other (S-60)" },
    reference! { "generations.body.methods" ["GE-01", "GE-31"] methods,
        "Other methods are answered 405, and no body is no JSON object (S-59, S-67)" },
];

const OTHERS: [&str; 6] =
    ["generationType", "imageInputs", "batchCount", "parameters", "vaultId", "referenceImageUrls"];

/// It is refused with 400 and a message for this field.
fn names(reply: &Reply, field: &str, value: &str) -> Result<(), Failure> {
    let shown: String = value.chars().take(80).collect();
    reply.refused(format!("{field} {shown}"))?.string(&format!("/details/{field}")).map(drop)
}

async fn null(case: Case) -> Result<(), Failure> {
    for field in TEXTS.into_iter().chain(OTHERS) {
        names(&send(&case, json!({ field: null })).await?, field, "null")?;
    }
    for field in ["imageInputs", "referenceImageUrls"] {
        names(&send(&case, json!({ field: [null] })).await?, field, "[null]")?;
    }
    Ok(())
}

async fn integer_forms(case: Case) -> Result<(), Failure> {
    for field in ["batchCount", "vaultId"] {
        for value in ["1.0", "1e0", "10e-1", "99999999999999999999"] {
            let plain = body(&case, json!({ field: 7_777 })).to_string();
            let sent = plain.replace("7777", value);
            let call = case.wire().call(http::Method::POST, "/generations");
            names(&call.body("application/json", sent).send().await?, field, value)?;
        }
    }
    Ok(())
}

async fn zero_character(case: Case) -> Result<(), Failure> {
    for field in TEXTS {
        names(&send(&case, json!({ field: "a\0b" })).await?, field, "U+0000")?;
    }
    for value in [json!({ "a": "\0" }), json!({ "\0": 1 }), json!({ "a": [{ "b": "x\0" }] })] {
        let reply = send(&case, json!({ "parameters": value })).await?;
        names(&reply, "parameters", "U+0000")?;
    }
    Ok(())
}

async fn unknown_fields(case: Case) -> Result<(), Failure> {
    let fields = json!({
        "ModelId": 7,
        "client_job_id": 7,
        "seed": "x",
        "webhookUrl": 5,
        "": null,
        "nested": { "deep": [{}, [null]] },
    });
    queue(&case, idle(fields)).await.map(drop)
}

async fn all_at_once(case: Case) -> Result<(), Failure> {
    let fields: Vec<_> = TEXTS.into_iter().chain(OTHERS).collect();
    let mut all = json!({});
    for field in &fields {
        all[field] = json!(true);
    }
    let some = json!({ "modelId": FAIL, "batchCount": 5, "imageInput": "plainword" });
    for (sent, mut expected) in [(all, fields), (some, vec!["batchCount", "imageInput"])] {
        let reply = send(&case, sent).await?;
        let details = reply.status(400)?.at("/details")?;
        let mut named: Vec<_> =
            details.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        named.sort_unstable();
        expected.sort_unstable();
        reply.ensure(named == expected, format!("details of {expected:?}"), details)?;
    }
    Ok(())
}

async fn methods(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    wire.get("/generations").await?.accepted(405, "GET /generations")?;
    wire.post("/generations/x/status", json!({})).await?.accepted(405, "POST of a status")?;
    wire.delete("/generations/x/status").await?.accepted(405, "DELETE of a status")?;
    wire.get("/generations/x").await?.accepted(404, "GET of a generation")?;
    wire.post("/generations", Value::Null).await?.status(400)?.string("/details/body")?;
    wire.post_empty("/generations").await?.accepted(415, "no body")?;
    Ok(())
}
