//! Fields of the body that are missing, of a wrong type or no value of theirs.

pub(super) mod choices;

use serde_json::{Value, json};

use super::job::{body, queue, send};
use crate::scenario::core;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "generations.body.no-model" ["GE-07", "ER-04"] no_model,
        "A generation without modelId is refused with 400" },
    core! { "generations.body.no-prompt" ["GE-08", "ER-04"] no_prompt,
        "A generation without prompt is refused with 400" },
    core! { "generations.body.texts"
        ["ER-05", "GE-07", "GE-08", "GE-11", "GE-13", "GE-15", "GE-17", "GE-24"] texts,
        "A text of a wrong type is refused with 400" },
    core! { "generations.body.lists" ["ER-05", "GE-16", "GE-23"] lists,
        "A list of a wrong type is refused with 400" },
    core! { "generations.body.integers" ["ER-05", "GE-19", "GE-21"] integers,
        "An integer of a wrong type is refused with 400" },
    core! { "generations.body.parameters-refused" ["ER-05", "GE-20"] parameters_refused,
        "parameters that are no object are refused with 400" },
    core! { "generations.body.parameters" ["GE-20"] parameters,
        "parameters that are an object are accepted" },
    core! { "generations.body.types" ["GE-01", "GE-09"] types,
        "A generationType of image or video is accepted, and none is needed" },
    core! { "generations.body.default-ratio" ["GE-17"] default_ratio,
        "An aspectRatio of 1:1 is accepted, as is none, since it is the default" },
    core! { "generations.body.other-types" ["GE-10"] other_types,
        "Any other generationType is refused with 400" },
];

/// Fields whose values are texts.
const TEXTS: [&str; 7] = [
    "modelId",
    "prompt",
    "clientJobId",
    "negativePrompt",
    "imageInput",
    "aspectRatio",
    "imageEditEndpointId",
];

/// Each of the values in each of the fields is refused.
async fn refused(case: &Case, fields: &[&str], values: &[Value]) -> Result<(), Failure> {
    for field in fields {
        for value in values {
            let reply = send(case, json!({ *field: value })).await?;
            reply.refused(format!("{field} {value}"))?;
        }
    }
    Ok(())
}

/// A required field that is `null` is missing or of a wrong type, and refused as
/// either.
async fn without(case: &Case, field: &str) -> Result<(), Failure> {
    let mut whole = body(case, json!({}));
    whole[field] = Value::Null;
    let reply = case.wire().post("/generations", whole.clone()).await?;
    reply.refused(format!("{field} null"))?;
    if let Some(fields) = whole.as_object_mut() {
        fields.remove(field);
    }
    let reply = case.wire().post("/generations", whole).await?;
    reply.refused(format!("no {field}"))?;
    Ok(())
}

async fn no_model(case: Case) -> Result<(), Failure> {
    without(&case, "modelId").await
}

async fn no_prompt(case: Case) -> Result<(), Failure> {
    without(&case, "prompt").await
}

async fn texts(case: Case) -> Result<(), Failure> {
    refused(&case, &TEXTS, &[json!(5), json!(true), json!(["a"]), json!({ "a": "b" })]).await
}

async fn lists(case: Case) -> Result<(), Failure> {
    let url = "https://example.com/a.png";
    let values =
        [json!(url), json!(5), json!(true), json!({ "0": url }), json!([5]), json!([[url]])];
    refused(&case, &["imageInputs", "referenceImageUrls"], &values).await
}

async fn integers(case: Case) -> Result<(), Failure> {
    let values = [json!("word"), json!("1"), json!(true), json!([1]), json!({}), json!(1.5)];
    refused(&case, &["batchCount", "vaultId"], &values).await
}

async fn parameters_refused(case: Case) -> Result<(), Failure> {
    let values = [json!("{}"), json!(5), json!(true), json!([]), json!([{}])];
    refused(&case, &["parameters"], &values).await
}

async fn parameters(case: Case) -> Result<(), Failure> {
    let reply = queue(&case, json!({ "parameters": {} })).await?.answer;
    reply.accepted(202, "an empty object of parameters")?;
    Ok(())
}

async fn types(case: Case) -> Result<(), Failure> {
    queue(&case, json!({})).await?;
    queue(&case, json!({ "generationType": "image" })).await?;
    let video = json!({ "generationType": "video", "modelId": case.video_model() });
    queue(&case, video).await?;
    Ok(())
}

async fn default_ratio(case: Case) -> Result<(), Failure> {
    for fields in [json!({}), json!({ "aspectRatio": "1:1" })] {
        queue(&case, fields).await?;
    }
    Ok(())
}

async fn other_types(case: Case) -> Result<(), Failure> {
    let values = ["audio", "text", "Image", "VIDEO", "images", ""].map(|word| json!(word));
    refused(&case, &["generationType"], &values).await?;
    refused(&case, &["generationType"], &[json!(1), json!(true), json!(["image"]), json!({})]).await
}
