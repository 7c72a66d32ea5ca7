//! Queues a generation, and never twice.

use http::Method;
use http::header::DATE;
use jiff::SignedDuration;
use serde::Serialize;
use serde_json::{Map, Value};

use super::status_request;
use super::wait::Wait;
use crate::call::{Call, Context};
use crate::error::Error;
use crate::macros::{body, optional, sendable, url_list};
use crate::model::{
    AssetUrl, ExtraFields, GenerationJob, GenerationType, JobId, OutputHint, Timestamp, VaultId,
};
use crate::path;
#[cfg(feature = "durable")]
use crate::send::evidence::Evidence;
use crate::send::reply::Reply;
use crate::send::request::Request;

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

/// Fields of the generation; [`limits`](crate::limits) has the limits of each.
impl CreateGeneration {
    /// The id of the job: the one that was set, or a UUID. Store it before the call is sent, and the
    /// job can be found after a crash.
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
        /// What the output must not show. Models without negative prompts ignore it.
        negative_prompt, set_negative_prompt => body.optional.negative_prompt: String;
        /// The image to start from: a public URL, or that of an upload.
        image_input, set_image_input => body.optional.image_input: AssetUrl;
        /// The aspect ratio, such as `16:9`; `1:1` by default.
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

    /// The number of outputs; one by default.
    pub const fn batch_count(mut self, outputs: u32) -> Self {
        self.body.optional.batch_count = Some(outputs);
        self
    }

    url_list! {
        /// Images to start from.
        image_inputs => body.optional.image_inputs
    }

    url_list! {
        /// Reference images.
        reference_image_urls => body.optional.reference_image_urls
    }

    /// One parameter of the model, beside those set before.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let parameters =
            self.body.optional.parameters.get_or_insert_with(|| Value::Object(Map::new()));
        // Sending reports anything but an object.
        if let Value::Object(members) = parameters {
            members.insert(name.into(), value.into());
        }
        self
    }

    /// Queues the generation, waits until it has ended, and returns its output; see [`Wait`].
    pub fn and_wait(self) -> Wait<'static> {
        Wait::new(self.context.clone(), self.job_id().into(), Some(self.into_call()))
    }

    /// What is sent.
    #[cfg(feature = "durable")]
    pub(crate) fn body(&self) -> &impl Serialize {
        &self.body
    }

    /// Whether the service has the job, since about this time: asks for its status.
    #[cfg(feature = "durable")]
    pub(crate) fn find(self, sent_at: Timestamp) -> Call<Evidence<GenerationJob>> {
        let (id, hint) = (self.body.client_job_id.clone(), self.body.output_hint(sent_at));
        Call::new(self.context, status_request(&id), move |reply| {
            reply.job_evidence()?.map(|()| job(reply, &id, hint.clone()))
        })
    }

    fn into_call(self) -> Call<GenerationJob> {
        let Self { context, body } = self;
        let invalid = !matches!(body.optional.parameters, None | Some(Value::Object(_)));
        let problem = "the parameters of a generation are not a JSON object";
        let id = body.client_job_id.clone();
        let request = Request::new(Method::POST, path::GENERATIONS, path::GENERATIONS)
            .json(&body)
            .job(id.clone())
            .status(status_request(&id))
            .invalid_if(invalid.then(|| problem.to_owned()));
        let hint = body.output_hint(Timestamp::now());
        Call::new(context, request, move |reply| job(reply, &id, hint.clone()))
    }
}

impl NewGeneration {
    fn output_hint(&self, sent_at: Timestamp) -> OutputHint {
        OutputHint {
            vault_id: self.optional.vault_id,
            prompt: Some(self.prompt.clone()),
            batch_count: self.optional.batch_count,
            earliest: sent_at.checked_sub(CLOCK_SKEW).ok(),
            latest: sent_at.checked_add(CLOCK_SKEW).ok(),
            extra: ExtraFields::new(),
        }
    }
}

/// The clocks of client and service may differ by this much, if the service does not tell its
/// time.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(5);

/// Reads the job from the response to the request, or from a status that shows that the service
/// has it.
fn job(reply: Reply, id: &JobId, mut hint: OutputHint) -> Result<GenerationJob, Error> {
    if reply.route.method == Method::POST
        && let Some((earliest, latest)) = queued_between(&reply)
    {
        (hint.earliest, hint.latest) = (Some(earliest), Some(latest));
    }
    // The service has the job, whatever else it says.
    let mut data = match reply.data()? {
        Value::Object(data) => data,
        _ => Map::new(),
    };
    let mut text = |name: &str| match data.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    Ok(GenerationJob {
        client_job_id: text("clientJobId")
            .filter(|id| !id.is_empty())
            .map_or_else(|| id.clone(), JobId::from),
        provider_request_id: text("providerRequestId"),
        status_url: text("statusUrl"),
        output_hint: hint,
        extra: data.into(),
    })
}

/// When the service received the request, by its own clock: its `Date`, which is in whole seconds,
/// less the time that the exchange took.
fn queued_between(reply: &Reply) -> Option<(Timestamp, Timestamp)> {
    let date = httpdate::parse_http_date(reply.headers.get(DATE)?.to_str().ok()?).ok()?;
    let date = Timestamp::try_from(date).ok()?;
    let sent = date.checked_sub(SignedDuration::try_from(reply.elapsed).ok()?).ok()?;
    Some((sent, sent.checked_add(SignedDuration::from_secs(1)).ok()?))
}

/// Queues a generation: `POST /generations`; returned by
/// [`Generations::create`](super::Generations::create).
///
/// Nothing is sent until the call is awaited.
///
/// # Retries
///
/// A job costs money, so the request is sent a second time only if the first was certainly not
/// processed: there was no connection, HTTP/2 said so, or the service answered 425, 429, or another 4xx
/// except 408 with `Retry-After`. After any other failure but a refusal (4xx except 408), the call asks
/// for the status of the job, for as long as it waits for a response: the shortest of
/// [`idle_timeout`](crate::ClientBuilder::idle_timeout),
/// [`request_timeout`](crate::ClientBuilder::request_timeout) and [`timeout`](Self::timeout). It
/// succeeds if the status has a known state or the id of the job. A 404 does not prove that the service
/// has no job, so otherwise it fails with [`Error::is_outcome_unknown`], and [`Error::job_id`] names the
/// job. With [`idempotent`](Self::idempotent) the request is sent again after such a failure too: say so
/// only of a service that queues one job for each id.
#[derive(Debug, Clone)]
#[must_use = "a call is sent only when it is awaited, or by `send`"]
pub struct CreateGeneration {
    pub(super) context: Context,
    pub(super) body: NewGeneration,
}

sendable!(CreateGeneration -> GenerationJob, CreateGeneration::into_call);
