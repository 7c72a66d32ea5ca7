//! Queueing a generation and waiting for it. It has no scenarios of its own.

use std::time::Duration;

use serde_json::{Value, json};

use crate::case::{state, status_path};
use crate::wire::{Reply, Wire};
use crate::{Case, Failure, make};

/// Models of the provider that is built into the reference server.
pub(super) const PLASMA: &str = "local/plasma";
pub(super) const PLASMA_VIDEO: &str = "local/plasma-video";
/// Takes 3 seconds, or `parameters.seconds`.
pub(super) const SLOW: &str = "local/slow";
/// Takes an order and fails; nothing is saved.
pub(super) const FAIL: &str = "local/fail";
/// Takes no order.
pub(super) const REFUSE: &str = "local/refuse";

/// How long a job may take: a little less than a scenario may.
const TIMEOUT: Duration = Duration::from_secs(55);

/// A generation that was queued for a vault of its own.
pub(super) struct Job {
    /// Its `clientJobId`.
    pub(super) id: String,
    /// The vault, which was empty.
    pub(super) vault: i64,
    /// The answer that it is queued.
    pub(super) answer: Reply,
}

/// A body with these fields beside a model and a text no other case uses.
pub(super) fn body(case: &Case, fields: Value) -> Value {
    let mut body = json!({ "modelId": case.image_model(), "prompt": case.name("A harbour") });
    if let (Value::Object(body), Value::Object(fields)) = (&mut body, fields) {
        body.extend(fields);
    }
    body
}

/// Asks for a generation with these fields beside a good model and text.
pub(super) async fn send(case: &Case, fields: Value) -> Result<Reply, Failure> {
    case.wire().post("/generations", body(case, fields)).await
}

/// Queues a generation with these fields for a new vault.
pub(super) async fn queue(case: &Case, fields: Value) -> Result<Job, Failure> {
    let vault = make::vault(case, &case.wire()).await?;
    let mut fields = body(case, fields);
    fields["vaultId"] = json!(vault);
    let answer = send(case, fields).await?;
    let id = answer.status(202)?.string("/data/clientJobId")?.to_owned();
    Ok(Job { id, vault, answer })
}

/// The same with a field that not every model takes: what its provider refuses is skipped
/// (S-38). The provider that is built into the reference server takes all of them.
pub(super) async fn queue_input(case: &Case, fields: Value) -> Result<Job, Failure> {
    let vault = make::vault(case, &case.wire()).await?;
    let names: Vec<_> =
        fields.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    let mut fields = body(case, fields);
    fields["vaultId"] = json!(vault);
    let answer = send(case, fields).await?;
    taken_by_model(case, &answer, &names.join(" and "))?;
    let id = answer.status(202)?.string("/data/clientJobId")?.to_owned();
    Ok(Job { id, vault, answer })
}

/// Skips the scenario if the provider refuses the input for this model (S-38).
pub(in crate::scenarios) fn taken_by_model(
    case: &Case,
    answer: &Reply,
    input: &str,
) -> Result<(), Failure> {
    let (status, model) = (answer.status_code(), case.image_model());
    if !matches!(status, 400 | 403..=499 | 502) || model == PLASMA {
        return Ok(());
    }
    Err(Failure::blocked(format!(
        "the model {model} refuses this {input} (status {status}); name another one in \
         PROMPTARIUM_IMAGE_MODEL"
    )))
}

/// A body of the model that fails, so that nothing comes of it.
pub(super) fn idle(mut fields: Value) -> Value {
    fields["modelId"] = json!(FAIL);
    fields
}

/// A job that takes so many seconds.
pub(super) fn slow(seconds: f64) -> Value {
    json!({ "modelId": SLOW, "parameters": { "seconds": seconds } })
}

/// A `clientJobId` that no other case uses, of plain letters, digits and `-`.
pub(super) fn own_id(case: &Case) -> String {
    case.name("job").replace(' ', "-")
}

/// The status as it is now.
pub(super) async fn status(wire: &Wire, id: &str) -> Result<Reply, Failure> {
    wire.get(&status_path(id)).await
}

/// Waits until the job is `completed`; the status that says so.
pub(super) async fn completed(case: &Case, wire: &Wire, id: &str) -> Result<Reply, Failure> {
    case.waits_for_jobs()?;
    let ask = || async move {
        let reply = status(wire, id).await?;
        reply.status_in(200..=299)?;
        match state(&reply).as_deref() {
            Some("completed") => Ok(Some(reply)),
            Some("failed") => Err(reply.failure("the job to be completed", "it has failed")),
            _ => Ok(None),
        }
    };
    case.until(&format!("the job {id} to be completed"), TIMEOUT, ask).await
}

/// Waits until the job has ended, well or not; its last status.
pub(super) async fn ended(case: &Case, wire: &Wire, id: &str) -> Result<Reply, Failure> {
    case.waits_for_jobs()?;
    let ask = || async move {
        let reply = status(wire, id).await?;
        reply.status(200)?;
        let ended = matches!(state(&reply).as_deref(), Some("completed" | "failed"));
        Ok(ended.then_some(reply))
    };
    case.until(&format!("the job {id} to end"), TIMEOUT, ask).await
}

/// Queues a generation with these fields and waits until it is completed.
pub(super) async fn finished(case: &Case, fields: Value) -> Result<Job, Failure> {
    case.waits_for_jobs()?;
    let job = queue(case, fields).await?;
    completed(case, &case.wire(), &job.id).await?;
    Ok(job)
}

/// Waits for `probe` as long as a job may take.
pub(super) async fn within_a_jobs_time<T, F>(
    case: &Case,
    what: &str,
    probe: impl FnMut() -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<Option<T>, Failure>>,
{
    case.waits_for_jobs()?;
    case.until(what, TIMEOUT, probe).await
}
