//! A generation as a scenario holds it: its request, the job, and the wait for its end. It has
//! no scenarios of its own.

use std::time::Duration;

use super::outputs::Outputs;
use crate::case::{state, status_path};
use crate::fixture::{Vault, merged};
use crate::scenarios::prelude::*;

/// Models of the provider that is built into the reference server.
pub(super) const PLASMA: &str = "local/plasma";
pub(super) const PLASMA_VIDEO: &str = "local/plasma-video";
/// Accepts a job that then fails; nothing is saved.
pub(super) const FAIL: &str = "local/fail";
/// Accepts no job.
pub(super) const REFUSE: &str = "local/refuse";

/// How long a job may take: a little less than a scenario may.
const TIMEOUT: Duration = Duration::from_secs(55);

/// A generation that was queued.
pub(in crate::scenarios) struct Job {
    case: Case,
    /// Its `clientJobId`.
    pub(super) id: String,
    /// The vault that the request named.
    pub(super) vault: Option<i64>,
    /// The response that it is queued.
    pub(in crate::scenarios) answer: ApiResponse,
}

/// A request with these fields beside a model and a text no other case uses.
pub(super) fn body(case: &Case, fields: Value) -> Value {
    merged(json!({ "modelId": case.image_model(), "prompt": case.name("A harbour") }), fields)
}

/// The same for a new vault.
pub(super) async fn body_for_a_vault(case: &Case, fields: Value) -> Result<Value> {
    let mut body = body(case, fields);
    body["vaultId"] = json!(case.vault().await?.id);
    Ok(body)
}

/// Asks for a generation with these fields beside a good model and text.
pub(in crate::scenarios) async fn send(case: &Case, fields: Value) -> Result<ApiResponse> {
    case.wire().post("/generations", body(case, fields)).await
}

/// A generation with these fields is 400, and details name the field.
pub(super) async fn refused(case: &Case, field: &str, fields: Value) -> Result<ApiResponse> {
    let what: String = fields.to_string().chars().take(120).collect();
    let reply = send(case, fields).await?;
    reply.is_bad_request_naming(field, what)?;
    Ok(reply)
}

/// Fields for the model that fails, so that nothing is saved.
pub(super) fn failing(mut fields: Value) -> Value {
    fields["modelId"] = json!(FAIL);
    fields
}

/// Fields for a job of the built-in provider that takes so many seconds.
pub(super) fn slow(seconds: f64) -> Value {
    json!({ "modelId": "local/slow", "parameters": { "seconds": seconds } })
}

/// A `clientJobId` that no other case uses, of plain letters, digits and `-`.
pub(super) fn own_id(case: &Case) -> String {
    case.name("job").replace(' ', "-")
}

/// The status of a job as it is now.
pub(super) async fn status(wire: &Wire, id: &str) -> Result<ApiResponse> {
    wire.get(&status_path(id)).await
}

/// Skips the scenario if the provider refuses the input for this model (S-38). The provider that
/// is built into the reference server takes all inputs.
pub(in crate::scenarios) fn taken_by_model(
    case: &Case,
    answer: &ApiResponse,
    input: &str,
) -> Result {
    let (status, model) = (answer.status_code(), case.image_model());
    if !matches!(status, 400 | 403..=499 | 502) || model == PLASMA {
        return Ok(());
    }
    Err(Failure::skipped(format!(
        "the model {model} refuses this {input} (status {status}); name another one in \
         PROMPTARIUM_IMAGE_MODEL"
    )))
}

/// Waits for `probe` as long as a job may take.
pub(super) async fn within_a_jobs_time<T, F>(
    case: &Case,
    what: &str,
    probe: impl FnMut() -> F,
) -> Result<T>
where
    F: Future<Output = Result<Option<T>>>,
{
    case.waits_for_jobs()?;
    case.until(what, TIMEOUT, probe).await
}

impl Job {
    /// Queues a generation with these fields for a new vault.
    pub(in crate::scenarios) async fn queue(case: &Case, fields: Value) -> Result<Self> {
        Self::submit(case, body_for_a_vault(case, fields).await?).await
    }

    /// The same with a field that not every model takes: what its provider refuses is skipped.
    pub(super) async fn queue_input(case: &Case, fields: Value) -> Result<Self> {
        let names: Vec<_> =
            fields.as_object().into_iter().flatten().map(|(name, _)| name).collect();
        let input = json!(names).to_string();
        let body = body_for_a_vault(case, fields).await?;
        let answer = case.wire().post("/generations", body.clone()).await?;
        taken_by_model(case, &answer, &input)?;
        Self::queued(case, &body, answer)
    }

    /// Queues a generation with these fields and waits until it is completed.
    pub(super) async fn finish(case: &Case, fields: Value) -> Result<Self> {
        case.waits_for_jobs()?;
        let job = Self::queue(case, fields).await?;
        job.wait_completed().await?;
        Ok(job)
    }

    /// Queues exactly this request.
    pub(super) async fn submit(case: &Case, body: Value) -> Result<Self> {
        let answer = case.wire().post("/generations", body.clone()).await?;
        Self::queued(case, &body, answer)
    }

    fn queued(case: &Case, body: &Value, answer: ApiResponse) -> Result<Self> {
        let id = answer.status(202)?.string("/data/clientJobId")?.to_owned();
        Ok(Self { case: case.clone(), id, vault: body["vaultId"].as_i64(), answer })
    }

    /// Its status as it is now, whatever that is.
    pub(in crate::scenarios) async fn status(&self) -> Result<ApiResponse> {
        status(&self.case.wire(), &self.id).await
    }

    /// Waits until it is `completed`; the status that says so.
    pub(super) async fn wait_completed(&self) -> Result<ApiResponse> {
        let completed = || async {
            let reply = self.status().await?;
            reply.status_in(200..=299)?;
            match state(&reply).as_deref() {
                Some("completed") => Ok(Some(reply)),
                Some("failed") => Err(reply.failure("the job to be completed", "it has failed")),
                _ => Ok(None),
            }
        };
        let what = format!("the job {} to be completed", self.id);
        within_a_jobs_time(&self.case, &what, completed).await
    }

    /// Waits until it has ended, well or not; its last status.
    pub(super) async fn wait_ended(&self) -> Result<ApiResponse> {
        let ended = || async {
            let reply = self.status().await?;
            reply.status(200)?;
            let ended = matches!(state(&reply).as_deref(), Some("completed" | "failed"));
            Ok(ended.then_some(reply))
        };
        within_a_jobs_time(&self.case, &format!("the job {} to end", self.id), ended).await
    }

    /// What is in its vault now.
    pub(super) async fn outputs(&self) -> Result<Outputs> {
        Outputs::in_vault(&self.own_vault()?).await
    }

    /// The vault that the request named.
    pub(super) fn own_vault(&self) -> Result<Vault> {
        let without = || Failure::error("a job for a vault", "a request without vaultId");
        Ok(self.case.vault_at(self.vault.ok_or_else(without)?))
    }
}
