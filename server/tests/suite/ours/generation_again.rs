//! The same clientJobId a second time, in our server (S-36): with the same body it is the same
//! job; with another one it is refused, and the job stays as it is.

use crate::prelude::*;
use promptarium_conformance::scenarios::shared::job::body_for_a_vault;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "generations.again.same-body" ["S-36"] same_body,
        "The same id with an equal body, however it is written, is the same job" },
    scenario! { "generations.again.after-the-end" ["S-33", "S-36"] after_the_end,
        "A job that has ended, well or not, stays as it is and is not begun again" },
    scenario! { "generations.again.two-accounts" ["S-36"] [OtherAccount] two_accounts,
        "Two accounts may use the same id, each for a job of its own" },
    scenario! { "generations.again.any-text" ["S-36", "S-66"] any_text,
        "An id is any text; statusUrl has it as one segment, and other spellings are other jobs" },
    scenario! { "generations.again.other-body" ["S-36"] other_body,
        "The same id with another body is 400 naming clientJobId, and leaves the job as it is" },
    scenario! { "races.job.same-id" ["S-36"] at_once,
        "Of generations at once under one clientJobId those with one of the bodies are one job" },
];

async fn own_request(case: &Case, mut fields: Value) -> Result<Value> {
    fields["clientJobId"] = json!(own_id(case));
    body_for_a_vault(case, fields).await
}

async fn same_body(case: Case) -> Result {
    let body = own_request(&case, json!({ "batchCount": 2 })).await?;
    let first = Job::submit(&case, body.clone()).await?;
    let second = Job::submit(&case, body).await?;
    second.answer.equals("/data", first.answer.at("/data")?.clone())?;
    first.wait_completed().await?;
    // Another job gives it time to save more.
    Job::finish(&case, json!({})).await?;
    first.outputs().await?.counts(2)?.one()?;
    let (id, name) = (own_id(&case), case.name("A harbour"));
    let parameters = r#""parameters":{"a":1,"b":{"c":[],"d":null}}"#;
    let moved = r#""parameters" : {"b":{"d":null,"c":[ ]}, "a":1}"#;
    let texts = format!(r#""prompt":"{name}","clientJobId":"{id}""#);
    let forms = [
        format!(r#"{{"modelId":"{FAIL}",{texts},{parameters}}}"#),
        format!(r#"{{ {moved}, "clientJobId":"{id}", "prompt" : "{name}", "modelId": "{FAIL}" }}"#),
        // Another spelling of the same text, and an unknown field.
        format!(r#"{{"unknown":1,"modelId":"\u006cocal\/fail",{texts},{parameters}}}"#),
    ];
    let mut requests = Vec::new();
    for form in forms {
        let reply = case.wire().post_written("/generations", form).await?;
        requests.push(reply.status(202)?.at("/data/providerRequestId")?.clone());
    }
    let same = requests.iter().all(|request| *request == requests[0]);
    check::ensure(same, "one job for all spellings of the body", json_text(&requests))
}

async fn at_once(case: Case) -> Result {
    let case = case.under_contention();
    let request = own_request(&case, json!({})).await?;
    let jobs = try_join_all((0..32).map(|_| Job::submit(&case, request.clone()))).await?;
    for job in &jobs {
        job.answer.equals("/data", jobs[0].answer.at("/data")?.clone())?;
    }
    jobs[0].wait_completed().await?;
    jobs[0].outputs().await?.one()?;
    let request = own_request(&case, json!({})).await?;
    let texts = [case.name("one"), case.name("two")];
    let with = |at: usize| merged(request.clone(), json!({ "prompt": texts[at % 2] }));
    let replies = race::all((0..32).map(|at| send(&case, with(at)))).await?;
    let taken = usize::from(replies[0].status_code() != 202);
    for (at, reply) in replies.iter().enumerate() {
        reply.status(if at % 2 == taken { 202 } else { 400 })?;
    }
    let job = Job::queued(&case, &request, replies[taken].clone())?;
    job.wait_completed().await?;
    job.outputs().await?.one().map(drop)
}

async fn after_the_end(case: Case) -> Result {
    for (fields, outputs) in [(json!({}), 1), (failing(json!({})), 0)] {
        let body = own_request(&case, fields).await?;
        let first = Job::submit(&case, body.clone()).await?;
        let last = first.wait_ended().await?;
        let again = Job::submit(&case, body).await?;
        again.answer.equals("/data", first.answer.at("/data")?.clone())?;
        // Another job that begins and ends gives the first one time to change.
        Job::finish(&case, json!({})).await?;
        first.status().await?.status(200)?.equals("/data", last.data(200)?.clone())?;
        first.outputs().await?.counts(outputs)?;
    }
    Ok(())
}

async fn two_accounts(case: Case) -> Result {
    let id = own_id(&case);
    let mut requests = Vec::new();
    for (wire, name) in [(case.wire(), "mine"), (case.other(), "yours")] {
        let fields = failing(json!({ "clientJobId": id, "prompt": case.name(name) }));
        let reply = wire.post("/generations", body(&case, fields)).await?;
        reply.status(202)?.equals("/data/clientJobId", id.clone())?;
        let request = reply.string("/data/providerRequestId")?;
        let shown = status(&wire, &id).await?;
        shown.status(200)?.equals("/data/providerRequestId", request)?;
        requests.push(request.to_owned());
    }
    check::distinct("providerRequestIds", requests)
}

async fn any_text(case: Case) -> Result {
    let long = "l".repeat(150);
    let odd =
        ["/", "?", "%", "%2F", " ", "#", "..", "a/../b", "\\", "\"", "+", "&=;", "漢é😀", &long];
    let case = &case;
    let tries = odd.map(|odd| async move {
        let id = format!("{}{odd}", own_id(case));
        let job = Job::queue(case, failing(json!({ "clientJobId": id }))).await?;
        job.answer.equals("/data/clientJobId", id.clone())?;
        let url = job.answer.string("/data/statusUrl")?;
        let path = url.strip_prefix(case.target().base_url()).unwrap_or_default();
        let parts = path.split(['/', '?', '#']).count();
        job.answer.ensure(parts == 4, "a statusUrl with the id as one segment", url)?;
        let reply = case.wire().get(path).await?;
        reply.has_status(200, format!("statusUrl of {}", json_text(&id)))?;
        reply.equals("/data/clientJobId", id).map(drop)
    });
    try_join_all(tries).await?;
    let base = own_id(case);
    let mut requests = Vec::new();
    // The last two look alike: one letter, and a letter with a combining mark.
    for end in ["a", "A", " a", "a ", "\u{e9}", "e\u{301}"] {
        let fields = failing(json!({ "clientJobId": format!("{base}{end}") }));
        let job = Job::queue(case, fields).await?;
        requests.push(job.answer.string("/data/providerRequestId")?.to_owned());
    }
    check::distinct("providerRequestIds", requests)
}

/// Two values that differ for each field but the id.
async fn differences(case: &Case) -> Result<Vec<(Value, Value)>> {
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

async fn other_body(case: Case) -> Result {
    for (one, two) in differences(&case).await? {
        let plain = body(&case, failing(json!({ "clientJobId": own_id(&case) })));
        let with = |fields: &Value| merged(plain.clone(), fields.clone());
        let what = format!("{one}, then {two}");
        send(&case, with(&one)).await?.has_status(202, what)?;
        refused(&case, "clientJobId", with(&two)).await?;
    }
    let (id, name) = (own_id(&case), case.name("first"));
    let request = body(&case, failing(json!({ "clientJobId": id, "prompt": name })));
    let job = Job::submit(&case, request.clone()).await?;
    let before = job.status().await?;
    refused(&case, "clientJobId", failing(json!({ "clientJobId": id, "prompt": "x" }))).await?;
    let after = job.status().await?;
    same_fields(after.status(200)?, &before, ["providerRequestId", "createdAt", "vaultId"])?;
    let again = Job::submit(&case, request).await?;
    again.answer.equals("/data", job.answer.at("/data")?.clone()).map(drop)
}
