//! `/generations`: ordering pictures and videos, and asking how far they are.

use std::sync::Arc;

use http::StatusCode;
use promptarium::{JobId, limits, path};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::prompts::image_url;
use super::view::generation::{JobView, Queued};
use super::{Api, AuthedRequest, view};
use crate::blobs::asset_url::Assets;
use crate::domain::{GenerationRequest, NewJob, OutputKind};
use crate::generate::digest::digest;
use crate::http::error::ApiError;
use crate::http::response::{self, Response};
use crate::http::validate::{
    Form, RawField, id, integer, json_fields, list as list_of, non_empty_string, object, one_of,
    string, text,
};

/// The body fields of an order.
pub const FIELDS: &[&str] = &[
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

/// What can be made.
pub const KINDS: &[(&str, OutputKind)] =
    &[("image", OutputKind::Image), ("video", OutputKind::Video)];

/// `POST /generations` (GE-01 to GE-27).
pub async fn create(api: &Api, mut request: AuthedRequest<'_>) -> Result<Response, ApiError> {
    let body = request.json().await?;
    let new = new_job(&body, &api.assets)?;
    let (job, ticket) = api.intake.take_on(&request.caller, new).await?;

    let name = &*job.client_job_id;
    let status_url = format!("{}{}", api.base_url, path::generation_status(&JobId::from(name)));
    let queued = Queued {
        success: true,
        client_job_id: name,
        provider_request_id: &ticket.request_id,
        status_url: &status_url,
    };
    let size = view::SMALL_BYTES + name.len() + status_url.len();
    Ok(response::data(StatusCode::ACCEPTED, &queued, size)?)
}

/// `GET /generations/{clientJobId}/status` (GE-28, GE-31, GE-32).
pub async fn status(api: &Api, request: AuthedRequest<'_>) -> Result<Response, ApiError> {
    let job = api.store.job(&request.caller, &request.job()?).await?;
    Ok(response::data(StatusCode::OK, &JobView::new(&job), 2 * view::SMALL_BYTES)?)
}

/// Everything that is wrong with the body is told at once.
fn new_job(body: &[u8], assets: &Assets) -> Result<NewJob, ApiError> {
    let mut form = json_fields(body, FIELDS)?;
    let model_id = form.required("modelId", non_empty_string);
    let prompt = form.required("prompt", text(1..=limits::GENERATION_PROMPT_CHARS_MAX));
    let client_job_id = form.optional("clientJobId", non_empty_string);
    let vault = form.optional("vaultId", id);
    let options = options(&mut form, assets);
    let (Some(model_id), Some(prompt)) = (model_id, prompt) else {
        return Err(form.errors().into());
    };
    form.finish()?;

    let (model_id, prompt) = ((*model_id).into(), (*prompt).into());
    let order = GenerationRequest { model_id, prompt, ..options };
    Ok(NewJob {
        client_job_id: client_job_id.unwrap_or_else(|| Arc::from(Uuid::new_v4().to_string())),
        digest: digest(&order, vault),
        order: Arc::new(order),
        vault,
    })
}

/// The fields that may be left out, with their defaults (GE-09, GE-17, GE-19).
fn options(form: &mut Form<RawField<'_>>, assets: &Assets) -> GenerationRequest {
    let owned = |text: Option<Arc<str>>| text.map(|text| Box::from(&*text));
    let url = image_url(assets);
    let urls = |most| list_of(0..=most, move |entry| url(entry).map(|url| Box::<str>::from(&*url)));
    let aspect_ratio = owned(form.optional("aspectRatio", string));
    let batch_count = form.optional("batchCount", integer(limits::GENERATION_BATCH_COUNT));
    let negative = text(0..=limits::GENERATION_NEGATIVE_PROMPT_CHARS_MAX);
    let parameters: Option<Map<String, Value>> = form.optional("parameters", object);
    let references = urls(limits::GENERATION_REFERENCE_IMAGE_URLS_MAX);
    GenerationRequest {
        kind: form.optional("generationType", one_of(KINDS)).unwrap_or_default(),
        negative_prompt: owned(form.optional("negativePrompt", negative)),
        image_input: owned(form.optional("imageInput", url)),
        image_inputs: form
            .optional("imageInputs", urls(limits::GENERATION_IMAGE_INPUTS_MAX))
            .unwrap_or_default(),
        aspect_ratio: aspect_ratio
            .unwrap_or_else(|| limits::GENERATION_ASPECT_RATIO_DEFAULT.into()),
        batch_count: batch_count.unwrap_or(limits::GENERATION_BATCH_COUNT_DEFAULT),
        parameters,
        reference_image_urls: form.optional("referenceImageUrls", references).unwrap_or_default(),
        image_edit_endpoint_id: owned(form.optional("imageEditEndpointId", non_empty_string)),
        ..GenerationRequest::default()
    }
}
