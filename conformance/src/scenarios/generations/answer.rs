//! The answer that a generation is queued, and the names of the job in it.

use std::collections::BTreeSet;

use serde_json::json;
use url::Url;

use super::job::{body, completed, own_id, queue, send};
use super::saved::Saved;
use crate::scenario::core;
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "generations.answer.status" ["GE-01"] accepted,
        "A generation is answered 202" },
    core! { "generations.answer.members" ["GE-02"] members,
        "The answer has success, clientJobId, providerRequestId and statusUrl" },
    core! { "generations.answer.success" ["GE-03"] success,
        "success is true" },
    core! { "generations.answer.provider-request-id" ["GE-04"] provider_request_id,
        "providerRequestId is a string" },
    core! { "generations.answer.status-url" ["GE-05"] status_url,
        "statusUrl is the address of the job's status" },
    core! { "generations.answer.no-media" ["GE-06"] no_media,
        "The answer does not contain the media that the vault has later" },
    core! { "generations.answer.given-id" ["GE-11"] given_id,
        "The answer gives the caller's clientJobId back unchanged" },
    core! { "generations.answer.made-id" ["GE-12"] made_id,
        "Without a clientJobId the answer has a UUID, another one each time" },
];

async fn accepted(case: Case) -> Result<(), Failure> {
    queue(&case, json!({})).await.map(drop)
}

async fn members(case: Case) -> Result<(), Failure> {
    let job = queue(&case, json!({})).await?;
    for member in ["success", "clientJobId", "providerRequestId", "statusUrl"] {
        job.answer.at(&format!("/data/{member}"))?;
    }
    Ok(())
}

async fn success(case: Case) -> Result<(), Failure> {
    queue(&case, json!({})).await?.answer.equals("/data/success", true).map(drop)
}

async fn provider_request_id(case: Case) -> Result<(), Failure> {
    queue(&case, json!({})).await?.answer.string("/data/providerRequestId").map(drop)
}

async fn status_url(case: Case) -> Result<(), Failure> {
    for fields in [json!({}), json!({ "clientJobId": own_id(&case) })] {
        let job = queue(&case, fields).await?;
        let expected = format!("{}/generations/{}/status", case.target().base_url(), job.id);
        let url = job.answer.string("/data/statusUrl")?;
        // An address may be written in several ways, such as with its port.
        let same = url.parse::<Url>().ok() == expected.parse().ok();
        job.answer.ensure(same, format!("the address {expected}"), url)?;
    }
    Ok(())
}

async fn no_media(case: Case) -> Result<(), Failure> {
    let job = queue(&case, json!({})).await?;
    let members = job.answer.at("/data")?.as_object().into_iter().flatten();
    for (name, value) in members {
        let inline = value.as_str().is_some_and(|text| text.starts_with("data:"));
        job.answer.ensure(!inline, "no media in the answer", format!("media as {name}"))?;
    }
    completed(&case, &case.wire(), &job.id).await?;
    let answer = String::from_utf8_lossy(job.answer.body());
    for url in Saved::in_vault(&case.wire(), job.vault).await?.urls() {
        let there = answer.contains(url);
        job.answer.ensure(!there, "an answer without the output's address", url)?;
    }
    Ok(())
}

async fn given_id(case: Case) -> Result<(), Failure> {
    for id in [own_id(&case), format!("{}_Ab-9_", own_id(&case).to_uppercase())] {
        let job = queue(&case, json!({ "clientJobId": id })).await?;
        job.answer.equals("/data/clientJobId", id)?;
    }
    Ok(())
}

async fn made_id(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    let fields = body(&case, json!({ "vaultId": vault }));
    let mut ids = BTreeSet::new();
    // The same body again: a new id is new, and does not follow from the request.
    for _ in 0..2 {
        let answer = send(&case, fields.clone()).await?;
        let id = answer.status(202)?.string("/data/clientJobId")?.to_owned();
        answer.ensure(is_uuid(&id), "a UUID as clientJobId", &id)?;
        ids.insert(id);
    }
    check::ensure(ids.len() == 2, "two jobs to have two ids", "one id")
}

fn is_uuid(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').collect();
    let lengths: Vec<_> = parts.iter().map(|part| part.len()).collect();
    let hex = parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()));
    lengths == [8, 4, 4, 4, 12] && hex
}
