//! The same clientJobId with another body, in our server (S-36): refused, and
//! the job that is there stays as it is.

use serde_json::{Value, json};

use super::super::job::{Job, PLASMA, REFUSE, body, failing, own_id, refused, send, status};
use crate::fixture::merged;
use crate::scenario::reference;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(in super::super) const ALL: &[Scenario] = &[
    reference! { "generations.again.other-body" ["GE-11", "ER-03"] [LocalProvider] other_body,
        "The same id with another body is 400 naming clientJobId, whichever field differs (S-36)" },
    reference! { "generations.again.conflict-harmless"
        ["GE-11", "GE-31"] [LocalProvider] conflict_harmless,
        "A refused repetition leaves the job as it is (S-36)" },
    reference! { "generations.again.refused-leaves-no-job"
        ["GE-11", "GE-31"] [LocalProvider] refused_leaves_no_job,
        "An id for which the provider accepted no job is free for another body (S-36, S-38)" },
];

/// Two values that differ for each field but the id.
async fn differences(case: &Case) -> Result<Vec<(Value, Value)>, Failure> {
    let [one, two] = case.vaults().await?.map(|vault| vault.id);
    let url = |n: u8| format!("https://example.com/{n}.png");
    Ok(vec![
        (json!({}), json!({ "modelId": PLASMA })),
        (json!({ "prompt": "one" }), json!({ "prompt": "one " })),
        (json!({ "generationType": "image" }), json!({ "generationType": "video" })),
        (json!({ "negativePrompt": "one" }), json!({ "negativePrompt": "two" })),
        (json!({}), json!({ "negativePrompt": "" })),
        (json!({ "imageInput": url(1) }), json!({ "imageInput": url(2) })),
        (json!({ "imageInputs": [url(1), url(2)] }), json!({ "imageInputs": [url(2), url(1)] })),
        (json!({ "aspectRatio": "1:1" }), json!({ "aspectRatio": "2:2" })),
        (json!({ "batchCount": 1 }), json!({ "batchCount": 2 })),
        (json!({ "parameters": { "a": 1 } }), json!({ "parameters": { "a": "1" } })),
        (json!({ "parameters": { "a": [1, 2] } }), json!({ "parameters": { "a": [2, 1] } })),
        (json!({ "vaultId": one }), json!({ "vaultId": two })),
        (json!({}), json!({ "vaultId": one })),
        (json!({ "referenceImageUrls": [url(1)] }), json!({ "referenceImageUrls": [url(2)] })),
        (json!({ "imageInputs": [url(1)] }), json!({ "referenceImageUrls": [url(1)] })),
        (json!({}), json!({ "imageEditEndpointId": PLASMA })),
    ])
}

async fn other_body(case: Case) -> Result<(), Failure> {
    for (one, two) in differences(&case).await? {
        let plain = body(&case, failing(json!({ "clientJobId": own_id(&case) })));
        let with = |fields: &Value| merged(plain.clone(), fields.clone());
        let what = format!("{one}, then {two}");
        send(&case, with(&one)).await?.has_status(202, what)?;
        refused(&case, "clientJobId", with(&two)).await?;
    }
    Ok(())
}

async fn conflict_harmless(case: Case) -> Result<(), Failure> {
    let (id, name) = (own_id(&case), case.name("first"));
    let request = body(&case, failing(json!({ "clientJobId": id, "prompt": name })));
    let job = Job::submit(&case, request.clone()).await?;
    let before = job.status().await?;
    refused(&case, "clientJobId", failing(json!({ "clientJobId": id, "prompt": "x" }))).await?;
    let after = job.status().await?;
    for member in ["providerRequestId", "createdAt", "vaultId"] {
        let place = format!("/data/{member}");
        after.status(200)?.equals(&place, before.at(&place)?.clone())?;
    }
    let again = Job::submit(&case, request).await?;
    again.answer.equals("/data", job.answer.at("/data")?.clone()).map(drop)
}

async fn refused_leaves_no_job(case: Case) -> Result<(), Failure> {
    let id = own_id(&case);
    send(&case, json!({ "clientJobId": id, "modelId": REFUSE })).await?.status(502)?;
    status(&case.wire(), &id).await?.has_status(404, "the status of a job that was refused")?;
    let other = failing(json!({ "clientJobId": id, "prompt": "another body" }));
    send(&case, other).await?.has_status(202, "another body under the same id").map(drop)
}
