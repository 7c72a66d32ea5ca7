//! Queues a generation, and never twice.

use http::Method;
use jiff::SignedDuration;
use serde::Serialize;
use serde_json::{Map, Value};

#[cfg(feature = "durable")]
use super::Generations;
use super::status_request;
use super::wait::{Wait, Waiting};
use crate::call::{Call, Endpoint, Prepared};
use crate::error::{Error, date};
use crate::macros::{body, optional, urls};
use crate::model::{
    AssetUrl, GenerationJob, GenerationType, JobId, OutputHint, Timestamp, VaultId,
};
use crate::path;
#[cfg(feature = "durable")]
use crate::send::evidence::Evidence;
use crate::send::reply::RawResponse;
use crate::send::request::Request;

/// A generation to queue.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewGeneration {
    pub(super) model_id: String,
    pub(super) prompt: String,
    pub(super) client_job_id: JobId,
    #[serde(flatten)]
    pub(super) optional: Optional,
}

body! {
    pub(crate) Optional {
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

/// Fields of the generation; [`limits`](crate::limits) has the limits of each.
impl Call<GenerationJob, NewGeneration> {
    /// The id of the job: the one that was set, or a UUID. Store it before the call is sent, and the
    /// job can be found after a crash.
    pub const fn job_id(&self) -> &JobId {
        &self.builder.client_job_id
    }

    /// Your own id for the job. Letters, digits, `-` and `_` are accepted by every service.
    pub fn client_job_id(mut self, id: impl Into<JobId>) -> Self {
        self.builder.client_job_id = id.into();
        self
    }

    /// Makes a video in place of an image.
    pub fn video(self) -> Self {
        self.generation_type(GenerationType::Video)
    }

    optional! {
        /// The type of the output; an image by default.
        generation_type, set_generation_type => builder.optional.generation_type: GenerationType;
        /// What the output must not show. Models without negative prompts ignore it.
        negative_prompt, set_negative_prompt => builder.optional.negative_prompt: String;
        /// The image to start from: a public URL, or that of an upload.
        image_input, set_image_input => builder.optional.image_input: AssetUrl;
        /// The aspect ratio, such as `16:9`; `1:1` by default.
        aspect_ratio, set_aspect_ratio => builder.optional.aspect_ratio: String;
        /// All parameters of the model, as a JSON object, in place of those set before. Sending
        /// anything but an object fails with [`Error::is_input`].
        parameters, set_parameters => builder.optional.parameters: Value;
        /// The vault that takes the output; General by default.
        vault, set_vault => builder.optional.vault_id: VaultId;
        /// The endpoint of an editing model, which then edits [`image_input`](Self::image_input).
        image_edit_endpoint, set_image_edit_endpoint => builder.optional.image_edit_endpoint_id: String;
    }

    /// The number of outputs; one by default.
    pub const fn batch_count(mut self, outputs: u32) -> Self {
        self.builder.optional.batch_count = Some(outputs);
        self
    }

    urls! {
        /// Images to start from.
        image_inputs => builder.optional.image_inputs;
        /// Reference images.
        reference_image_urls => builder.optional.reference_image_urls;
    }

    /// One parameter of the model, beside those set before.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let parameters =
            self.builder.optional.parameters.get_or_insert_with(|| Value::Object(Map::new()));
        // Sending reports anything but an object.
        if let Value::Object(members) = parameters {
            members.insert(name.into(), value.into());
        }
        self
    }

    /// Queues the generation, waits until it has ended, and returns its output; see [`Wait`].
    pub fn and_wait(self) -> Wait<'static> {
        let job = self.job_id().into();
        let create = Call::of(self.context.clone(), self.builder.prepare());
        let mut context = self.context;
        // That of the request.
        context.options.timeout = None;
        Call::of(context, Waiting::new(job, Some(create)))
    }
}

#[cfg(feature = "durable")]
impl Generations {
    /// Whether the service has the job: asks for its status.
    pub(crate) fn find(&self, id: JobId, hint: OutputHint) -> Call<Evidence<GenerationJob>> {
        Call::new(self.client.context(), status_request(&id), move |reply| {
            reply.job_evidence()?.map(|()| job(reply, &id, hint.clone()))
        })
    }
}

impl Endpoint<GenerationJob> for NewGeneration {
    fn prepare(self) -> Prepared<GenerationJob> {
        let invalid = !matches!(self.optional.parameters, None | Some(Value::Object(_)));
        let problem = "the parameters of a generation are not a JSON object";
        let id = self.client_job_id.clone();
        let mut request = Request::new(Method::POST, path::GENERATIONS, path::GENERATIONS);
        (request.job, request.status) = (Some(id.clone()), Some(Box::new(status_request(&id))));
        request.invalid = invalid.then(|| problem.to_owned());
        let request = request.json(&self);
        let Optional { vault_id, batch_count, .. } = self.optional;
        let prompt = Some(self.prompt);
        let hint = OutputHint { vault_id, prompt, batch_count, ..OutputHint::default() };
        let hint = hint.sent_at(Timestamp::now());
        Prepared::new(request, move |reply| job(reply, &id, hint.clone()))
    }
}

/// Reads the job from the response to the request, or from a status that proves it.
fn job(reply: RawResponse, id: &JobId, mut hint: OutputHint) -> Result<GenerationJob, Error> {
    if reply.route.method == Method::POST
        && let Some((earliest, latest)) = queued_between(&reply)
    {
        (hint.earliest, hint.latest) = (Some(earliest), Some(latest));
    }
    let mut data = reply.job()?;
    let mut text = |name: &str| match data.remove(name) {
        Some(Value::String(text)) => Some(text.trim().to_owned()),
        _ => None,
    };
    Ok(GenerationJob {
        client_job_id: text("clientJobId")
            .filter(|id| !id.is_empty())
            .map_or_else(|| id.clone(), JobId::from),
        provider_request_id: text("providerRequestId"),
        status_url: text("statusUrl"),
        output_hint: Some(hint),
        extra: data.into(),
    })
}

/// When the service received the request, by its own clock: its `Date`, which is in whole seconds,
/// less the time that the exchange took.
fn queued_between(reply: &RawResponse) -> Option<(Timestamp, Timestamp)> {
    let date = Timestamp::try_from(date(&reply.headers)?).ok()?;
    let sent = date.checked_sub(SignedDuration::try_from(reply.elapsed).ok()?).ok()?;
    Some((sent, sent.checked_add(SignedDuration::from_secs(1)).ok()?))
}

/// Queues a generation: `POST /generations`; returned by
/// [`Generations::create`](super::Generations::create).
///
/// # Retries
///
/// A job costs money, so the request is sent a second time only if the first was certainly not
/// processed: there was no connection, HTTP/2 said so, or the service answered 425, 429, or another 4xx
/// except 408 with `Retry-After`. After any other failure but a refusal (4xx except 408), the call asks
/// for the status of the job, for as long as it waits for a response: the shortest of
/// [`idle_timeout`](crate::ClientBuilder::idle_timeout),
/// [`request_timeout`](crate::ClientBuilder::request_timeout) and [`timeout`](Call::timeout). It
/// succeeds if the status has a known state or the id of the job. A 404 does not prove that the service
/// has no job, so otherwise it fails with [`Error::is_outcome_unknown`], and [`Error::job_id`] names the
/// job. With [`idempotent`](Call::idempotent) the request is sent again after such a failure too: say so
/// only of a service that queues one job for each id.
pub type CreateGeneration = Call<GenerationJob, NewGeneration>;
