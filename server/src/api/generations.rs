//! `/generations`: requesting images and videos, and their status.

use std::sync::Arc;

use http::StatusCode;
use promptarium::{JobId, limits, path};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::prompts::image_url;
use super::view::Time;
use super::{Api, HandlerResult, Request};
use crate::blobs::urls::Assets;
use crate::domain::{Caller, GenerationRequest, JobRecord, JobState, NewJob, OutputKind};
use crate::generate::request_digest;
use crate::http::body::JSON;
use crate::http::error::ApiError;
use crate::http::response;
use crate::http::validate::{
    Checked, Field, Form, extent, id, integer, json_fields, list as list_of, object, one_of, text,
};

pub(crate) const FIELDS: &[&str] = &[
    "modelId",
    "prompt",
    "generationType",
    "clientJobId",
    "negativePrompt",
    "imageInput",
    "imageInputs",
    "aspectRatio",
    "batchCount",
    "parameters",
    "vaultId",
    "referenceImageUrls",
    "imageEditEndpointId",
];

/// The status of a generation (S-34).
pub(super) fn job_view(job: &JobRecord) -> Value {
    let (status, prompt_id, error) = match &job.state {
        // The store does not return submitting jobs to callers.
        JobState::Submitting | JobState::Queued(_) => ("queued", None, None),
        JobState::InProgress(_) => ("in_progress", None, None),
        JobState::Completed(_, prompt) => ("completed", Some(*prompt), None),
        JobState::Failed(_, reason) => ("failed", None, Some(&**reason)),
    };
    let is_ended = prompt_id.is_some() || error.is_some();
    let waits_for = (!is_ended).then(|| job.waits_for.as_deref().unwrap_or("the provider"));
    json!({
        "clientJobId": &*job.key.client_job_id,
        "providerRequestId": job.state.ticket().map(|ticket| &*ticket.request_id),
        "status": status,
        "waitsFor": waits_for,
        "generationType": job.request.kind,
        "vaultId": job.vault,
        "promptId": prompt_id,
        "error": error,
        "createdAt": Time(job.created_at),
        "updatedAt": Time(job.updated_at),
    })
}

/// `POST /generations` (GE-01 to GE-27).
pub(crate) async fn create(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let body = request.body(JSON).await?;
    let form = json_fields(&body, FIELDS)?;
    let (new, parameter_values) = form.read(|form| new_job(form, &api.assets))?;
    // What one value may take: an object with one entry is two.
    let bytes = body.len() + parameter_values * 384;
    let reservation = request.memory.reserve(bytes)?;
    drop(body);
    let (job, ticket) = api.submitter.submit(caller, new, reservation).await?;

    let name = &*job.client_job_id;
    let status_url = format!("{}{}", api.base_url, path::generation_status(&JobId::from(name)));
    let queued = json!({
        "success": true,
        "clientJobId": name,
        "providerRequestId": &*ticket.request_id,
        "statusUrl": status_url,
    });
    Ok(response::data(StatusCode::ACCEPTED, &queued))
}

/// `GET /generations/{clientJobId}/status` (GE-28, GE-31, GE-32).
pub(crate) async fn status(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let name = request.params.text(0).ok_or(ApiError::NotFound)?;
    let job = api.store.job(caller, &name).await?;
    Ok(response::data(StatusCode::OK, &job_view(&job)))
}

/// The fields of a job, with their defaults (GE-09, GE-17, GE-19), and how many values the
/// parameters have. A required field that is missing is empty, and an error of the form.
pub(crate) fn new_job(form: &mut Form<'_>, assets: &Assets) -> Option<(NewJob, usize)> {
    let owned = |text: Option<Arc<str>>| text.map(|text| Box::from(&*text));
    let model = || text(limits::GENERATION_MODEL_ID_CHARS);
    let prompt = text(1..=limits::GENERATION_PROMPT_CHARS_MAX);
    let negative = text(0..=limits::GENERATION_NEGATIVE_PROMPT_CHARS_MAX);
    let ratio = text(0..=limits::GENERATION_ASPECT_RATIO_CHARS_MAX);
    let batch_count = form.optional("batchCount", integer(limits::GENERATION_BATCH_COUNT));
    let url = image_url(assets);
    let urls = |most| list_of(0..=most, url);
    let inputs = urls(limits::GENERATION_IMAGE_INPUTS_MAX);
    let references = urls(limits::GENERATION_REFERENCE_IMAGE_URLS_MAX);
    let (parameters, parameter_values) = form.optional("parameters", parameters).unzip();
    let request = GenerationRequest {
        model_id: owned(form.required("modelId", model())).unwrap_or_default(),
        prompt: owned(form.required("prompt", prompt)).unwrap_or_default(),
        kind: form.optional("generationType", one_of(OutputKind::ALL)).unwrap_or_default(),
        negative_prompt: owned(form.optional("negativePrompt", negative)),
        image_input: form.optional("imageInput", url),
        image_inputs: form.optional("imageInputs", inputs).unwrap_or_default(),
        aspect_ratio: owned(form.optional("aspectRatio", ratio))
            .unwrap_or_else(|| limits::GENERATION_ASPECT_RATIO_DEFAULT.into()),
        batch_count: batch_count.unwrap_or(limits::GENERATION_BATCH_COUNT_DEFAULT),
        parameters,
        reference_image_urls: form.optional("referenceImageUrls", references).unwrap_or_default(),
        image_edit_endpoint_id: owned(form.optional("imageEditEndpointId", model())),
    };
    let client_job_id = form.optional("clientJobId", client_job_id);
    let vault = form.optional("vaultId", id);
    let job = NewJob {
        client_job_id: client_job_id.unwrap_or_else(|| Arc::from(Uuid::new_v4().to_string())),
        digest: request_digest(&request, vault),
        request: Arc::new(request),
        vault,
    };
    Some((job, parameter_values.unwrap_or(0)))
}

/// The name of a job, a segment of `statusUrl`: URL libraries remove `.` and `..` in any spelling.
fn client_job_id(given: &Field<'_>) -> Checked<Arc<str>> {
    let id = text(limits::CLIENT_JOB_ID_CHARS)(given)?;
    match &*id {
        "." | ".." => Err("must not be . or .., which no URL can hold as a segment".to_owned()),
        _ => Ok(id),
    }
}

/// An object of any keys, of bounded size and depth, since the JSON reader refuses 128 levels, some
/// of them around the stored request. Two bytes of JSON can take hundreds in memory, so the number
/// of values is bounded too, and returned.
fn parameters(given: &Field<'_>) -> Checked<(Map<String, Value>, usize)> {
    const BYTES_MAX: usize = limits::GENERATION_PARAMETERS_BYTES_MAX;
    const DEPTH_MAX: usize = limits::GENERATION_PARAMETERS_DEPTH_MAX;
    const VALUES_MAX: usize = limits::GENERATION_PARAMETERS_VALUES_MAX;
    let bytes = given.raw().len();
    if bytes > BYTES_MAX {
        return Err(format!("must be at most {BYTES_MAX} bytes of JSON, but has {bytes}"));
    }
    let (depth, values) = extent(given.raw());
    if depth > DEPTH_MAX {
        return Err(format!("must be nested at most {DEPTH_MAX} levels deep, but has {depth}"));
    }
    if values > VALUES_MAX {
        return Err(format!("must have at most {VALUES_MAX} values, but has {values}"));
    }
    Ok((object(given)?, values))
}
