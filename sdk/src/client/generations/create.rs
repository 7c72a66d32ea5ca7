//! Queues a generation, and never twice: after an ambiguous failure the service is asked whether
//! it has the job before the request is sent again.

use std::borrow::Cow;

use http::{Method, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};

use super::wait::Wait;
use crate::client::Error;
use crate::client::call::{Context, Endpoint};
use crate::client::error::Problem;
use crate::client::methods::{body, optional, sendable, url_list};
use crate::client::reply::Reply;
use crate::client::request::Request;
use crate::client::retry;
use crate::client::timeout::until;
use crate::model::{
    AssetUrl, GenerationJob, GenerationType, JobId, OutputHint, Timestamp, VaultId,
};
use crate::path;

/// Queues a generation: `POST /generations`; returned by
/// [`Generations::create`](super::Generations::create).
///
/// Nothing is sent until the call is awaited.
///
/// # Retries
///
/// A job costs money, so the request is never blindly repeated. After a failure that leaves open
/// whether the job was queued (connection lost, timeout, 502, 503, 504), the call asks for the
/// status of the job. If the service has the job, the call succeeds; if it answers 404, the request
/// is sent again; otherwise the call fails with [`Error::is_outcome_unknown`], and
/// [`Error::job_id`] names the job.
#[derive(Debug, Clone)]
#[must_use = "a call is sent only when it is awaited, or by `send`"]
pub struct CreateGeneration {
    pub(super) context: Context,
    pub(super) body: NewGeneration,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewGeneration {
    pub(super) model_id: String,
    pub(super) prompt: String,
    pub(super) client_job_id: JobId,
    #[serde(flatten)]
    pub(super) optional: Optional,
}

body! {
    Optional {
        generation_type: GenerationType,
        negative_prompt: String,
        image_input: AssetUrl,
        image_inputs: Vec<AssetUrl>,
        aspect_ratio: String,
        batch_count: u32,
        parameters: Value,
        vault_id: VaultId,
        reference_image_urls: Vec<AssetUrl>,
        image_edit_endpoint_id: String,
    }
}

/// Fields of the generation.
impl CreateGeneration {
    /// The id of the job: the one that was set, or a UUID made with the call.
    ///
    /// Store it before the call is sent, and the job can be found after a crash.
    ///
    /// ```
    /// # let client = promptarium::Client::new("https://prompts.example/api/v1", "k")?;
    /// let call = client.generations().create("local/plasma", "A harbour at dusk");
    /// assert_eq!(call.job_id().as_str().len(), 36);
    /// # Ok::<(), promptarium::Error>(())
    /// ```
    #[must_use]
    pub const fn job_id(&self) -> &JobId {
        &self.body.client_job_id
    }

    /// Your own id for the job. Letters, digits, `-` and `_` are accepted by every service.
    pub fn client_job_id(mut self, id: impl Into<JobId>) -> Self {
        self.body.client_job_id = id.into();
        self
    }

    /// Makes a video in place of an image.
    pub fn video(self) -> Self {
        self.generation_type(GenerationType::Video)
    }

    optional! {
        /// The type of the output; an image by default.
        generation_type, set_generation_type => body.optional.generation_type: GenerationType;
        /// What the output must not show, in at most
        /// [`GENERATION_NEGATIVE_PROMPT_CHARS_MAX`](crate::limits::GENERATION_NEGATIVE_PROMPT_CHARS_MAX)
        /// characters. Models without negative prompts ignore it.
        negative_prompt, set_negative_prompt => body.optional.negative_prompt: String;
        /// The image to start from: a public URL, or that of an upload.
        image_input, set_image_input => body.optional.image_input: AssetUrl;
        /// The aspect ratio, such as `16:9`; by default
        /// [`GENERATION_ASPECT_RATIO_DEFAULT`](crate::limits::GENERATION_ASPECT_RATIO_DEFAULT).
        aspect_ratio, set_aspect_ratio => body.optional.aspect_ratio: String;
        /// All parameters of the model, as a JSON object, in place of those set before. Sending
        /// anything but an object fails with [`Error::is_input`].
        parameters, set_parameters => body.optional.parameters: Value;
        /// The vault that takes the output; General by default.
        vault, set_vault => body.optional.vault_id: VaultId;
        /// The endpoint of an editing model, which then edits
        /// [`image_input`](Self::image_input).
        image_edit_endpoint, set_image_edit_endpoint => body.optional.image_edit_endpoint_id: String;
    }

    /// The number of outputs: [`GENERATION_BATCH_COUNT`](crate::limits::GENERATION_BATCH_COUNT),
    /// by default one.
    pub const fn batch_count(mut self, outputs: u32) -> Self {
        self.body.optional.batch_count = Some(outputs);
        self
    }

    url_list! {
        /// Images to start from: at most
        /// [`GENERATION_IMAGE_INPUTS_MAX`](crate::limits::GENERATION_IMAGE_INPUTS_MAX).
        image_inputs => body.optional.image_inputs
    }

    url_list! {
        /// Reference images: at most
        /// [`GENERATION_REFERENCE_IMAGE_URLS_MAX`](crate::limits::GENERATION_REFERENCE_IMAGE_URLS_MAX).
        reference_image_urls => body.optional.reference_image_urls
    }

    /// One parameter of the model, beside those set before.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let parameters =
            self.body.optional.parameters.get_or_insert_with(|| Value::Object(Map::new()));
        // Anything but an object stays as it is; sending reports it.
        if let Value::Object(members) = parameters {
            members.insert(name.into(), value.into());
        }
        self
    }

    /// Queues the generation, waits until it has ended, and returns its output; see [`Wait`].
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let finished =
    ///     client.generations().create("local/plasma", "A harbour at dusk").and_wait().await?;
    /// for image in finished.images() {
    ///     println!("{}", image.url);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn and_wait(self) -> Wait<'static> {
        let (client, id) = (self.context.client.clone(), self.job_id().clone());
        Wait::new(client, id.into(), Some(Box::new(self)))
    }

    fn output(&self, since: Option<Timestamp>) -> OutputHint {
        OutputHint {
            vault_id: self.body.optional.vault_id,
            prompt: Some(self.body.prompt.clone()),
            batch_count: self.body.optional.batch_count,
            sent_at: since,
            ..OutputHint::default()
        }
    }
}

impl Endpoint for CreateGeneration {
    type Output = GenerationJob;

    fn context(&self) -> &Context {
        &self.context
    }

    fn request(&self) -> Cow<'_, Request> {
        let invalid = !matches!(self.body.optional.parameters, None | Some(Value::Object(_)));
        let invalid =
            invalid.then(|| "the parameters of a generation are not a JSON object".to_owned());
        let request = Request::new(Method::POST, path::GENERATIONS, path::GENERATIONS);
        let request = request.job(self.body.client_job_id.clone()).json(&self.body);
        Cow::Owned(request.invalid_if(invalid))
    }

    fn read(&self, reply: Reply) -> Result<GenerationJob, Error> {
        // The job was queued, but it is not certain that it has this id.
        let since = reply.since;
        let mut data = match reply.accepted()?.data().map_err(Error::outcome_unknown)? {
            Value::Object(data) => data,
            _ => Map::new(),
        };
        let mut text = |name: &str| match data.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        Ok(GenerationJob {
            client_job_id: text("clientJobId")
                .map_or_else(|| self.body.client_job_id.clone(), JobId::from),
            provider_request_id: text("providerRequestId"),
            status_url: text("statusUrl"),
            output_hint: self.output(since),
            extra: data.into(),
        })
    }

    async fn exchange(&self) -> Result<Reply, Error> {
        let Context { client, options } = &self.context;
        let limit = options.limits(&client.0).call;
        let (since, end) = (Some(Timestamp::now()), Instant::now().checked_add(limit));
        match until(end, self.queue_once()).await {
            Ok(outcome) => outcome.map(|mut reply| {
                reply.since = since;
                reply
            }),
            Err(_) => {
                let job = Some(self.body.client_job_id.clone());
                let error = Error::call_timed_out(client.base_url(), limit).after_attempts(1, job);
                Err(error.outcome_unknown())
            }
        }
    }
}

sendable!(CreateGeneration -> GenerationJob);

impl CreateGeneration {
    /// Sends the request until it is known whether the service has the job.
    async fn queue_once(&self) -> Result<Reply, Error> {
        let Context { client, options } = &self.context;
        let (request, policy) = (self.request(), options.policy(&client.0));
        let mut backoff = policy.backoff();
        let mut number = 1;
        loop {
            let (error, id_refused) = match client.send(&request, options).await {
                Ok(reply) if retry::is_ambiguous(reply.status) => (reply.refused(), false),
                // An earlier attempt may have been carried out.
                Ok(reply) if number > 1 && refuses_job_id(&reply) => (reply.refused(), true),
                Ok(reply) => return Ok(reply),
                Err(error) if error.leaves_outcome_open() => (error, false),
                Err(error) => return Err(error),
            };
            let retry_after = error.retry_after();
            if policy.max_attempts <= 1 || policy.is_too_long(retry_after) {
                return Err(error.outcome_unknown());
            }
            sleep(backoff.delay(retry_after)).await;
            let mut status = client.generation_status(&self.body.client_job_id);
            status.context = self.context.clone();
            match status.exchange().await.and_then(Reply::accepted) {
                Ok(reply) => return Ok(reply),
                Err(unknown)
                    if is_absent(&unknown)
                        && !id_refused
                        && number < policy.max_attempts
                        && client.0.budget.spend() => {}
                Err(_) => return Err(error.outcome_unknown()),
            }
            number += 1;
        }
    }
}

fn is_absent(error: &Error) -> bool {
    error.is_not_found() || error.status() == Some(StatusCode::GONE)
}

/// Whether the service refuses the id of the job, because it has it already or never takes one
/// twice.
fn refuses_job_id(reply: &Reply) -> bool {
    match reply.status {
        StatusCode::CONFLICT => true,
        StatusCode::BAD_REQUEST => {
            serde_json::from_slice(&reply.body).is_ok_and(|problem: Problem| {
                problem.field_errors().any(|(field, _)| field == "clientJobId")
            })
        }
        _ => false,
    }
}
