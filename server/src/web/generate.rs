//! The form that requests pictures and videos.

use std::collections::BTreeSet;

use maud::Markup;
use promptarium::limits::{
    GENERATION_ASPECT_RATIO_DEFAULT, GENERATION_BATCH_COUNT, GENERATION_BATCH_COUNT_DEFAULT,
};
use serde_json::json;
use uuid::Uuid;

use super::forms::{Entered, Field, Form, Input};
use super::layout::done_address;
use super::parts::{job_page, words};
use super::prompts::{self, vault_field};
use super::visit::Visit;
use crate::api::HandlerResult;
use crate::api::generations::new_job;
use crate::domain::{JobRecord, NewJob};
use crate::generate::submit::SubmissionError;
use crate::http::error::ApiError;
use crate::http::validate::{form_fields, integer};
use crate::store::StoreError;

const FIELDS: &[&str] = &[
    "prompt",
    "modelId",
    "generationType",
    "aspectRatio",
    "batchCount",
    "negativePrompt",
    "seed",
    "vaultId",
    "imageInput",
    "clientJobId",
];

/// Suggested aspect ratios.
const RATIOS: [&str; 7] = ["1:1", "3:2", "2:3", "4:3", "3:4", "16:9", "9:16"];
/// What the built-in provider paints with.
const LOCAL_MODELS: [&str; 2] = ["local/plasma", "local/plasma-video"];
/// Jobs that are looked through for models used before.
const JOBS_MAX: usize = 100;
/// Most models in a list.
const MODELS_MAX: usize = 30;

/// The form, empty or with what the job `job` or the prompt `prompt` has. Sent again, it leads to the
/// same job: its name is in the form.
pub(crate) async fn show(visit: Visit<'_>) -> HandlerResult {
    let submitted = async {
        let mut form = form_fields(&visit.sent, FIELDS);
        if let Some(seed) = form.optional("seed", integer(0..=u32::MAX)) {
            form.set("parameters", json!({ "seed": seed }).to_string());
        }
        let (new, _) = form.read(|form| new_job(form, &visit.api.assets))?;
        match submit(&visit, new.clone()).await {
            // The form was changed after going back to it, so it is another request.
            Err(ApiError::Submission(SubmissionError::Store(StoreError::JobConflict))) => {
                let client_job_id = Uuid::new_v4().to_string().into();
                submit(&visit, NewJob { client_job_id, ..new }).await
            }
            outcome => outcome,
        }
    };
    let query = &visit.entered;
    let values = match (query.value("job"), query.id("prompt")) {
        _ if visit.is_sent() => Entered::default(),
        ("", None) => defaults(&visit, None),
        ("", Some(id)) => {
            let mut values = prompts::values_of(&visit, id).await?;
            values.set("generationType", values.value("promptType").to_owned());
            values
        }
        (name, _) => values_of(&visit, &visit.store().job(&visit.caller, name).await?),
    };
    visit.form(values, submitted, |entered| page(&visit, entered)).await
}

/// Submits a job; returns its page.
pub(super) async fn submit(visit: &Visit<'_>, new: NewJob) -> Result<String, ApiError> {
    let page = done_address(&job_page(&new.client_job_id), "queued");
    visit.api.submitter.submit(&visit.caller, new, ()).await?;
    Ok(page)
}

/// The values of a new form: the model of the last job, or the first of this server.
pub(super) fn defaults(visit: &Visit<'_>, last_model: Option<&str>) -> Entered {
    Entered::of(json!({ "modelId": last_model.or_else(|| own_models(visit).first().copied()) }))
}

fn own_models(visit: &Visit<'_>) -> &'static [&'static str] {
    if &*visit.api.model_namespace == "local" { &LOCAL_MODELS } else { &[] }
}

/// A page with the form.
pub(super) async fn page(visit: &Visit<'_>, entered: Entered) -> HandlerResult {
    let status = entered.status();
    let content = form(visit, entered).await?;
    Ok(visit.page("jobs", "Generate").response(status, &content))
}

/// What the form shows of the request of a job.
pub(super) fn values_of(visit: &Visit<'_>, job: &JobRecord) -> Entered {
    let mut values = Entered::of(&*job.request);
    values.set("generationType", values.value("kind").to_owned());
    values.set("vaultId", job.vault.to_string());
    let image = job.request.image_input.as_ref().map(|image| visit.api.assets.write(image));
    values.set("imageInput", image.unwrap_or_default());
    if let Some(seed) = job.request.parameters.as_ref().and_then(|all| all.get("seed")?.as_u64()) {
        values.set("seed", seed.to_string());
    }
    values
}

/// A field for a model. It suggests those of this server, and those that the newest jobs used.
pub(super) async fn model(visit: &Visit<'_>) -> Result<Field, ApiError> {
    let jobs = visit.store().jobs(&visit.caller, None, JOBS_MAX).await?;
    let used = jobs.iter().map(|job| job.request.model_id.to_string());
    let own = own_models(visit).iter().map(|model| (*model).to_owned());
    let models: BTreeSet<_> = used.chain(own).collect();
    let models = models.into_iter().take(MODELS_MAX).collect();
    Ok(Field::new("modelId", "Model", Input::Suggested(models)))
}

pub(super) fn ratio() -> Field {
    Field::new("aspectRatio", "Aspect ratio", Input::Suggested(RATIOS.map(str::to_owned).into()))
}

/// The form, with some fields behind a line that opens them.
pub(super) async fn form(visit: &Visit<'_>, mut entered: Entered) -> Result<Markup, ApiError> {
    // A refused form becomes another request.
    entered.set("clientJobId", Uuid::new_v4().to_string());
    let number = Input::Number(GENERATION_BATCH_COUNT);
    let fields = vec![
        Field::hidden("clientJobId"),
        Field::hidden("imageInput"),
        Field::new("prompt", "Prompt", Input::Text(3)).required(),
        model(visit).await?.required(),
        ratio().help(format!("{GENERATION_ASPECT_RATIO_DEFAULT} if empty")),
        Field::new("batchCount", "Number", number)
            .help(format!("{GENERATION_BATCH_COUNT_DEFAULT} if empty")),
    ];
    let more = vec![
        Field::new("generationType", "Type", Input::Select(words(["image", "video"]))),
        vault_field(visit, "Vault of the result", &entered, "General").await?,
        Field::new("seed", "Seed", Input::Number(0..=u32::MAX))
            .help("The same seed, the same picture"),
        Field::new("negativePrompt", "Negative prompt", Input::Text(2))
            .help("What must not be in the picture"),
    ];
    let action = Some("generate");
    let form = Form { action, more, ..Form::new("Generate", fields) };
    Ok(maud::html! { div .generate { (entered.form(&visit.api.site, &form)) } })
}
