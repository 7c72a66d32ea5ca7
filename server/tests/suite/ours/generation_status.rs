//! The status of a job: its members and their order in our server (S-33, S-34, S-40), and who
//! may read it.

use std::sync::{Mutex, PoisonError};

use crate::prelude::*;
use promptarium_conformance::scenarios::shared::job::within_a_jobs_time;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "generations.status.members" ["S-34"] members,
        "A status has ten members, of their types, which repeat the answer and the request" },
    scenario! { "generations.status.order" ["S-33"] order,
        "A job is queued, then in_progress, then completed, and never goes back" },
    scenario! { "generations.status.together" ["S-34", "S-39"] together,
        "Output, promptId and the state completed appear together and stay" },
    scenario! { reads "generations.status.unknown-404" ["S-35"] unknown_404,
        "The status of an unknown job is 404, whatever its id looks like" },
    scenario! { "generations.failed.state" ["S-40"] failed_state,
        "A job that fails is accepted, then failed with the provider's message; it saves nothing" },
    scenario! { "generations.scope.status-read-only" ["S-50"] [ReadOnlyKey] status_read_only,
        "A key without prompts:write reads the status of the account's jobs" },
    scenario! { "generations.isolation.status-404" ["S-35"] [OtherAccount] foreign_status,
        "Another account's job is 404 in the words for a job that is not there" },
];

const STATES: [&str; 3] = ["queued", "in_progress", "completed"];

const MEMBERS: &str = "clientJobId createdAt error generationType promptId providerRequestId \
                       status updatedAt vaultId waitsFor";

/// The status has its members; which are null follows from its state.
fn well_formed(reply: &ApiResponse) -> Result {
    let data = reply.data(200)?;
    reply.has_only("/data", &MEMBERS.split(' ').collect::<Vec<_>>())?;
    reply.integer("/data/vaultId")?;
    reply.string("/data/clientJobId")?;
    reply.string("/data/providerRequestId")?;
    let changed = reply.timestamp("/data/updatedAt")?;
    let in_order = reply.timestamp("/data/createdAt")? <= changed;
    reply.ensure(in_order, "updatedAt not before createdAt", changed)?;
    let state = reply.string("/data/status")?;
    let known = STATES.contains(&state) || state == "failed";
    reply.ensure(known, format!("one of {} or failed", json_text(&STATES)), state)?;
    let has_text = |member: &str| data[member].as_str().is_some_and(|text| !text.is_empty());
    for (member, has_value, when) in [
        ("promptId", data["promptId"].is_i64(), "completed"),
        ("error", has_text("error"), "failed"),
        ("waitsFor", has_text("waitsFor"), "queued in_progress"),
    ] {
        let value = &data[member];
        let right = if when.contains(state) { has_value } else { value.is_null() };
        reply.ensure(right, format!("{member} only when {when}, in the state {state}"), value)?;
    }
    Ok(())
}

async fn members(case: Case) -> Result {
    for fields in [slow(0.3), failing(json!({}))] {
        let job = Job::queue(&case, fields).await?;
        well_formed(&job.status().await?)?;
        well_formed(&job.wait_ended().await?)?;
    }
    let video = json!({ "generationType": "video", "modelId": PLASMA_VIDEO });
    for (kind, mut fields) in
        [("image", json!({})), ("image", json!({ "generationType": "image" })), ("video", video)]
    {
        let id = own_id(&case);
        fields["clientJobId"] = json!(id);
        let job = Job::queue(&case, failing(fields)).await?;
        let reply = job.status().await?;
        reply.status(200)?.equals("/data/clientJobId", id)?;
        same_fields(&reply, &job.answer, ["providerRequestId"])?;
        reply.equals("/data/vaultId", job.vault)?.equals("/data/generationType", kind)?;
    }
    Ok(())
}

/// A server may show a short job in its last state only, so longer ones are tried too.
async fn order(case: Case) -> Result {
    let mut last = Vec::new();
    for seconds in [1.5, 4.0, 10.0] {
        last = states(&case, seconds).await?;
        if last.len() == 3 {
            break;
        }
    }
    check::equal("the states in their order", &last, &STATES.map(str::to_owned).to_vec())
}

/// The states of a job that takes so long; they begin and end as they should, and none comes back.
async fn states(case: &Case, seconds: f64) -> Result<Vec<String>> {
    let job = &Job::queue(case, slow(seconds)).await?;
    let seen = &Mutex::new(Vec::<String>::new());
    let ask = || async move {
        let reply = job.status().await?;
        let state = reply.string("/data/status")?.to_owned();
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.last() != Some(&state) {
            seen.push(state.clone());
        }
        let places: Vec<_> = seen.iter().map(|s| STATES.iter().position(|t| t == s)).collect();
        let right = places.is_sorted() && !places.contains(&None) && places[0] == Some(0);
        let expected = format!("states in the order {}", json_text(&STATES));
        reply.ensure(right, expected, json_text(&*seen))?;
        Ok((state == "completed").then(|| seen.clone()))
    };
    within_a_jobs_time(case, "the job to be completed", ask).await
}

/// Whichever of the two is read first, the other agrees when it is read next.
async fn together(case: Case) -> Result {
    let job = &Job::queue(&case, slow(0.5)).await?;
    let ask = || async move {
        let saved = job.outputs().await?.count();
        let reply = job.status().await?;
        let state = reply.at("/data/status")?;
        let is_completed = *state == "completed";
        reply.ensure(saved == 0 || is_completed, "completed, as the output is there", state)?;
        if is_completed {
            reply.equals("/data/promptId", job.outputs().await?.one()?["id"].clone())?;
        }
        Ok(is_completed.then_some(()))
    };
    within_a_jobs_time(&case, "the job to be completed", ask).await?;
    let before = job.wait_completed().await?;
    let path = format!("/prompts/{}", before.integer("/data/promptId")?);
    case.wire().delete(&path).await?.status(200)?;
    job.status().await?.status(200)?.equals("/data", before.at("/data")?.clone()).map(drop)
}

async fn unknown_404(case: Case) -> Result {
    let long = "x".repeat(2000);
    for id in [&own_id(&case), "0", "a b", "ä/ö", "%", "%2F", "?#", "\u{1f600}", "a\0b", &long] {
        let reply = status(&case.wire(), id).await?;
        reply.has_status(404, format!("the status of {}", json_text(&id)))?;
        reply.equals("/details", json!({}))?;
    }
    Ok(())
}

async fn failed_state(case: Case) -> Result {
    let job = Job::queue(&case, failing(json!({ "batchCount": 4 }))).await?;
    let last = job.wait_ended().await?;
    last.status(200)?.equals("/data/status", "failed")?.equals("/error", json!(null))?;
    last.equals("/data/promptId", json!(null))?;
    let message = last.string("/data/error")?;
    last.ensure(message.contains(FAIL), "the provider's message", message)?;
    // Another job gives it time to save something after all.
    Job::finish(&case, json!({})).await?;
    job.outputs().await?.counts(0).map(drop)
}

async fn status_read_only(case: Case) -> Result {
    let job = Job::queue(&case, failing(json!({}))).await?;
    let reply = status(&case.read_only(), &job.id).await?;
    reply.status(200)?.equals("/data/clientJobId", job.id).map(drop)
}

async fn foreign_status(case: Case) -> Result {
    let job = Job::queue(&case, json!({ "clientJobId": own_id(&case) })).await?;
    let foreign = status(&case.other(), &job.id).await?;
    let unknown = status(&case.other(), &own_id(&case)).await?;
    let words = unknown.status(404)?.string("/error")?;
    foreign.status(404)?.equals("/error", words)?.equals("/details", json!({})).map(drop)
}
