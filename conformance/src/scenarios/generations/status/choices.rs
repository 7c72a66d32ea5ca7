//! What our server says in a status, and in which order.

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::super::job::{
    PLASMA_VIDEO, ended, finished, idle, own_id, queue, slow, status, within_a_jobs_time,
};
use super::super::saved::Saved;
use crate::scenario::reference;
use crate::wire::Reply;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(in super::super) const ALL: &[Scenario] = &[
    reference! { "generations.status.members" ["GE-31"] [LocalProvider] members,
        "A status has its nine members and no other, of their types in every state (S-34)" },
    reference! { "generations.status.of-the-job" ["GE-09", "GE-31"] [LocalProvider] of_the_job,
        "A status repeats what the answer and the body said (S-34)" },
    reference! { "generations.status.order" ["GE-26", "GE-27", "GE-28"] [LocalProvider] order,
        "A job is queued, then in_progress, then completed, and goes never back (S-33)" },
    reference! { "generations.status.final" ["GE-28", "GE-31"] [LocalProvider] stays,
        "A job that has ended stays as it is (S-33)" },
    reference! { "generations.status.together" ["GE-29", "GE-32"] [LocalProvider] together,
        "Output, promptId and the state completed appear together (S-39)" },
    reference! { "generations.status.prompt-deleted" ["GE-31"] [LocalProvider] prompt_deleted,
        "A job whose output was deleted stays completed and names it (S-34)" },
    reference! { "generations.status.unknown-404" ["GE-31"] unknown_404,
        "The status of an unknown job is 404, whatever its id looks like (S-35)" },
];

const MEMBERS: [&str; 9] = [
    "clientJobId",
    "createdAt",
    "error",
    "generationType",
    "promptId",
    "providerRequestId",
    "status",
    "updatedAt",
    "vaultId",
];

/// The status has its members; which are null follows from its state.
fn well_formed(reply: &Reply) -> Result<(), Failure> {
    let data = reply.data(200)?;
    let mut names: Vec<_> =
        data.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    reply.ensure(names == MEMBERS, format!("the members {MEMBERS:?}"), format!("{names:?}"))?;
    reply.integer("/data/vaultId")?;
    reply.string("/data/clientJobId")?;
    reply.string("/data/providerRequestId")?;
    let (made, changed) =
        (reply.timestamp("/data/createdAt")?, reply.timestamp("/data/updatedAt")?);
    reply.ensure(made <= changed, "updatedAt not before createdAt", changed)?;
    let state = reply.string("/data/status")?;
    let known = ["queued", "in_progress", "completed", "failed"].contains(&state);
    reply.ensure(known, "a state that is known", state)?;
    let prompt = data["promptId"].is_i64();
    reply.ensure(prompt == (state == "completed"), "promptId once completed", &data["promptId"])?;
    let error = data["error"].as_str().is_some_and(|text| !text.is_empty());
    reply.ensure(error == (state == "failed"), "error once failed", &data["error"])?;
    for (member, is_there) in [("promptId", prompt), ("error", error)] {
        let right = is_there || data[member].is_null();
        reply.ensure(right, format!("{member} to be null in the state {state}"), &data[member])?;
    }
    Ok(())
}

async fn members(case: Case) -> Result<(), Failure> {
    for fields in [slow(0.3), idle(json!({}))] {
        let job = queue(&case, fields).await?;
        well_formed(&status(&case.wire(), &job.id).await?)?;
        well_formed(&ended(&case, &case.wire(), &job.id).await?)?;
    }
    Ok(())
}

async fn of_the_job(case: Case) -> Result<(), Failure> {
    let video = json!({ "generationType": "video", "modelId": PLASMA_VIDEO });
    for (kind, mut fields) in
        [("image", json!({})), ("image", json!({ "generationType": "image" })), ("video", video)]
    {
        let id = own_id(&case);
        fields["clientJobId"] = json!(id);
        let job = queue(&case, idle(fields)).await?;
        let reply = status(&case.wire(), &job.id).await?;
        let request = job.answer.at("/data/providerRequestId")?.clone();
        reply.status(200)?.equals("/data/clientJobId", id)?;
        reply.equals("/data/providerRequestId", request)?;
        reply.equals("/data/vaultId", job.vault)?.equals("/data/generationType", kind)?;
    }
    Ok(())
}

/// A busy server may miss that a job is at work, and the longer that takes the
/// less likely that is.
async fn order(case: Case) -> Result<(), Failure> {
    let mut last = Vec::new();
    for seconds in [1.5, 4.0, 10.0] {
        last = states(&case, seconds).await?;
        if last.len() == 3 {
            break;
        }
    }
    check::equal("the states in their order", &last, &STATES.map(str::to_owned).to_vec())
}

const STATES: [&str; 3] = ["queued", "in_progress", "completed"];

/// The states of a job that takes so long; they begin and end as they should, and
/// none comes back.
async fn states(case: &Case, seconds: f64) -> Result<Vec<String>, Failure> {
    let (job, wire) = (queue(case, slow(seconds)).await?, &case.wire());
    let seen = &Mutex::new(Vec::<String>::new());
    let id = &job.id;
    let ask = || async move {
        let reply = status(wire, id).await?;
        let state = reply.string("/data/status")?.to_owned();
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.last() != Some(&state) {
            seen.push(state.clone());
        }
        let places: Vec<_> = seen.iter().map(|s| STATES.iter().position(|t| t == s)).collect();
        let right = places.is_sorted() && !places.contains(&None) && places[0] == Some(0);
        reply.ensure(right, format!("states in the order {STATES:?}"), format!("{seen:?}"))?;
        Ok((state == "completed").then(|| seen.clone()))
    };
    within_a_jobs_time(case, "the job to be completed", ask).await
}

async fn stays(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    for fields in [json!({}), idle(json!({}))] {
        let job = queue(&case, fields).await?;
        let last = ended(&case, &wire, &job.id).await?;
        // Another job that begins and ends gives the first one time to change.
        finished(&case, json!({})).await?;
        let later = status(&wire, &job.id).await?;
        later.status(200)?.equals("/data", last.at("/data")?.clone())?;
    }
    Ok(())
}

/// Whichever of the two is read first, the other agrees when it is read next.
async fn together(case: Case) -> Result<(), Failure> {
    let (job, wire) = (queue(&case, slow(0.5)).await?, &case.wire());
    let (id, vault) = (&job.id, job.vault);
    let look = || async move {
        let saved = Saved::in_vault(wire, vault).await?;
        let reply = status(wire, id).await?;
        let is_completed = *reply.at("/data/status")? == "completed";
        reply.ensure(
            saved.count() == 0 || is_completed,
            "completed, as the output is there",
            id,
        )?;
        if !is_completed {
            return Ok(None);
        }
        let saved = Saved::in_vault(wire, vault).await?;
        reply.equals("/data/promptId", saved.one()?["id"].clone())?;
        Ok(Some(()))
    };
    within_a_jobs_time(&case, "the job to be completed", look).await
}

async fn prompt_deleted(case: Case) -> Result<(), Failure> {
    let job = finished(&case, json!({})).await?;
    let before = status(&case.wire(), &job.id).await?;
    let path = format!("/prompts/{}", before.integer("/data/promptId")?);
    case.wire().delete(&path).await?.status(200)?;
    let after = status(&case.wire(), &job.id).await?;
    let expected: Value = before.at("/data")?.clone();
    after.status(200)?.equals("/data", expected).map(drop)
}

async fn unknown_404(case: Case) -> Result<(), Failure> {
    let long = "x".repeat(2000);
    for id in [&own_id(&case), "0", "a b", "ä/ö", "%", "%2F", "?#", "\u{1f600}", "a\0b", &long] {
        let reply = status(&case.wire(), id).await?;
        reply.accepted(404, format!("the status of {id:?}"))?.equals("/details", json!({}))?;
    }
    Ok(())
}
