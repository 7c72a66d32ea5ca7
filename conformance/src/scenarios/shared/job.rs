//! A fixture for generations: the request, the job, the wait for its end, and the outputs that it has
//! saved in a vault, counted as S-39 allows. It has no scenarios of its own.

use crate::case::status_path;
use crate::scenarios::prelude::*;

/// Models of the provider that is built into the reference server; those that follow the first two
/// accept a job, which then fails, and accept none.
pub const PLASMA: &str = "local/plasma";
pub const PLASMA_VIDEO: &str = "local/plasma-video";
pub const FAIL: &str = "local/fail";
pub const REFUSE: &str = "local/refuse";

/// Time limit of a job, a little less than that of a scenario.
const TIMEOUT: Duration = Duration::from_secs(55);

pub struct Job {
    case: Case,
    pub id: String,
    pub vault: Option<i64>,
    pub answer: ApiResponse,
}

/// A request with a model, a text that no other case uses, and these fields.
pub fn body(case: &Case, fields: Value) -> Value {
    merged(json!({ "modelId": case.image_model(), "prompt": case.name("A harbour") }), fields)
}

pub async fn body_for_a_vault(case: &Case, fields: Value) -> Result<Value> {
    let mut body = body(case, fields);
    body["vaultId"] = json!(case.vault().await?.id);
    Ok(body)
}

pub async fn send(case: &Case, fields: Value) -> Result<ApiResponse> {
    case.wire().post("/generations", body(case, fields)).await
}

pub async fn refused(case: &Case, field: &str, fields: Value) -> Result<ApiResponse> {
    let what: String = fields.to_string().chars().take(120).collect();
    let reply = send(case, fields).await?;
    reply.is_bad_request_naming(field, what)?;
    Ok(reply)
}

pub fn failing(fields: Value) -> Value {
    merged(fields, json!({ "modelId": FAIL }))
}

pub fn slow(seconds: f64) -> Value {
    json!({ "modelId": "local/slow", "parameters": { "seconds": seconds } })
}

/// A `clientJobId` that no other case uses, of plain letters, digits and `-`.
pub fn own_id(case: &Case) -> String {
    case.name("job").replace(' ', "-")
}

pub async fn status(wire: &Wire, id: &str) -> Result<ApiResponse> {
    wire.get(&status_path(id)).await
}

/// Skips the scenario if the provider refuses the input for this model (S-38). The provider that
/// is built into the reference server takes all inputs.
pub fn taken_by_model(case: &Case, answer: &ApiResponse, input: &str) -> Result {
    let (status, model) = (answer.status_code(), case.image_model());
    let taken = !matches!(status, 400 | 403..=412 | 414..=499 | 502) || model == PLASMA;
    let other = "name another one in PROMPTARIUM_IMAGE_MODEL";
    skip_unless(
        taken,
        &format!("the model {model} refuses this {input} (status {status}); {other}"),
    )
}

pub async fn within_a_jobs_time<T, F: Future<Output = Result<Option<T>>>>(
    case: &Case,
    what: &str,
    probe: impl FnMut() -> F,
) -> Result<T> {
    case.waits_for_jobs()?;
    case.until(what, TIMEOUT, probe).await
}

impl Job {
    pub async fn queue(case: &Case, fields: Value) -> Result<Self> {
        Self::submit(case, body_for_a_vault(case, fields).await?).await
    }

    /// The same with a field that not every model takes; skips if the provider refuses it.
    pub async fn queue_input(case: &Case, fields: Value) -> Result<Self> {
        let names = fields.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        let input = json_text(&names.collect::<Vec<_>>());
        let body = body_for_a_vault(case, fields).await?;
        let answer = case.wire().post("/generations", body.clone()).await?;
        taken_by_model(case, &answer, &input)?;
        Self::queued(case, &body, answer)
    }

    pub async fn finish_input(case: &Case, fields: Value) -> Result<Self> {
        case.waits_for_jobs()?;
        let job = Self::queue_input(case, fields).await?;
        job.wait_completed().await?;
        Ok(job)
    }

    pub async fn finish(case: &Case, fields: Value) -> Result<Self> {
        case.waits_for_jobs()?;
        let job = Self::queue(case, fields).await?;
        job.wait_completed().await?;
        Ok(job)
    }

    pub async fn submit(case: &Case, body: Value) -> Result<Self> {
        let answer = case.wire().post("/generations", body.clone()).await?;
        Self::queued(case, &body, answer)
    }

    pub fn queued(case: &Case, body: &Value, answer: ApiResponse) -> Result<Self> {
        let id = answer.status(202)?.string("/data/clientJobId")?.to_owned();
        Ok(Self { case: case.clone(), id, vault: body["vaultId"].as_i64(), answer })
    }

    pub async fn status(&self) -> Result<ApiResponse> {
        status(&self.case.wire(), &self.id).await
    }

    pub async fn wait_completed(&self) -> Result<ApiResponse> {
        let last = self.wait_ended().await?;
        let has_failed = state(&last).as_deref() == Some("failed");
        last.ensure(!has_failed, "the job to be completed", "it has failed")?;
        Ok(last)
    }

    pub async fn wait_ended(&self) -> Result<ApiResponse> {
        let ended = || async {
            let reply = self.status().await?;
            let state = state(reply.success()?);
            Ok(matches!(state.as_deref(), Some("completed" | "failed")).then_some(reply))
        };
        within_a_jobs_time(&self.case, &format!("the job {} to end", self.id), ended).await
    }

    /// Whether it completes soon. A model may fail with an input (S-38), in the server's own words.
    pub async fn completes(&self) -> bool {
        let completed = || async {
            let reply = self.status().await?;
            Ok(state(reply.success()?).filter(|state| state == "completed"))
        };
        self.case.until("the job to complete", LIVE, completed).await.is_ok()
    }

    pub async fn outputs(&self) -> Result<Outputs> {
        Outputs::in_vault(&self.own_vault()?).await
    }

    pub async fn is_saved(&self) -> Result<Option<()>> {
        Ok((self.outputs().await?.count() > 0).then_some(()))
    }

    pub fn own_vault(&self) -> Result<Vault> {
        let without = || Failure::error("a job for a vault", "a request without vaultId");
        Ok(self.case.vault_at(self.vault.ok_or_else(without)?))
    }
}

const LIVE: Duration = Duration::from_secs(10);

pub struct Outputs {
    pub listing: ApiResponse,
    pub prompts: Vec<Value>,
}

impl Outputs {
    pub async fn in_vault(vault: &Vault) -> Result<Self> {
        let listing = vault.listing().await?;
        let prompts = listing.array("/data")?;
        Ok(Self { listing, prompts })
    }

    pub fn images(&self) -> Vec<&Value> {
        self.prompts.iter().filter_map(|prompt| prompt["images"].as_array()).flatten().collect()
    }

    pub fn urls(&self) -> Vec<&str> {
        self.images().into_iter().filter_map(|image| image["url"].as_str()).collect()
    }

    /// The number of images, or of prompts where a server shows its images in another form.
    pub fn count(&self) -> usize {
        match self.images().len() {
            0 => self.prompts.len(),
            images => images,
        }
    }

    pub fn counts(&self, expected: usize) -> Result<&Self> {
        let count = self.count();
        self.listing.ensure(
            count == expected,
            format!("{expected} outputs in the vault"),
            count,
        )?;
        Ok(self)
    }

    pub fn any(self) -> Result<Self> {
        self.listing.ensure(self.count() > 0, "an output in the vault", "an empty vault")?;
        Ok(self)
    }

    pub fn one(&self) -> Result<&Value> {
        match &self.prompts[..] {
            [prompt] => Ok(prompt),
            prompts => Err(self.listing.failure("one prompt in the vault", prompts.len())),
        }
    }

    pub fn paths(&self) -> impl Iterator<Item = String> {
        self.prompts.iter().map(|prompt| format!("/prompts/{}", prompt["id"]))
    }
}

/// Fetches a file without a key, as a browser does. It may be behind a redirect, or not be public
/// (S-77).
pub async fn fetch(case: &Case, url: &str) -> Result<ApiResponse> {
    let address = case.target().config.base_url.join(url);
    let address = address.map_err(|_| Failure::failed("an image with an address", url))?;
    let ask = || async {
        let reply = case.storage(Method::GET, address.as_str()).send().await?;
        Ok(matches!(reply.status_code(), 200..=399 | 401 | 403).then_some(reply))
    };
    case.until(&format!("a file at {url}"), LIVE, ask).await
}
