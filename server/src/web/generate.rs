//! The form that requests pictures and videos.

use std::collections::BTreeSet;
use std::sync::Arc;

use maud::{Markup, html};
use promptarium::limits::{GENERATION_BATCH_COUNT, GENERATION_BATCH_COUNT_DEFAULT};
use promptarium::{PromptId, limits};
use serde_json::json;
use uuid::Uuid;

use super::forms::{Entered, Field, Input};
use super::layout::{Page, done};
use super::parts::job_page;
use super::prompts::{named_vault, vault_choices};
use crate::api::generations::new_job;
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{JobRecord, NewJob, OutputKind, PromptKind, SessionRecord as Session};
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
pub(super) const RATIOS: [&str; 7] = ["1:1", "3:2", "2:3", "4:3", "3:4", "16:9", "9:16"];
/// What the built-in provider paints with.
const LOCAL_MODELS: [&str; 2] = ["local/plasma", "local/plasma-video"];
/// Jobs that are looked through for models used before.
const JOBS_MAX: usize = 100;
/// Most models in a list.
const MODELS_MAX: usize = 30;

/// `GET /generate`: an empty form, or with what the job `job` or the prompt `prompt` has.
pub(crate) async fn show(api: &Api, session: &Session, request: Request<'_>) -> HandlerResult {
    let query = Entered::parse(request.parts.uri.query().unwrap_or_default().as_bytes());
    let caller = session.caller();
    let values = match (query.value("job"), query.value("prompt").parse()) {
        ("", Err(_)) => return page(api, session, &defaults(api, None)).await,
        ("", Ok(id)) => values_of_prompt(api, session, PromptId::new(id)).await?,
        (name, _) => values_of(api, &api.store.job(&caller, name).await?),
    };
    page(api, session, &Entered::owned(values)).await
}

/// The values of a new form: the model of the last job, or the first of this server.
pub(super) fn defaults<'a>(api: &Api, last_model: Option<&'a str>) -> Entered<'a> {
    let model = last_model.or_else(|| own_models(api).first().copied());
    Entered::new(&[("modelId", model.unwrap_or_default())])
}

fn own_models(api: &Api) -> &'static [&'static str] {
    if &*api.model_namespace == "local" { &LOCAL_MODELS } else { &[] }
}

/// A page with the form.
pub(super) async fn page(api: &Api, session: &Session, entered: &Entered<'_>) -> HandlerResult {
    let content = form(api, session, entered, true).await?;
    let page = Page::of(&api.site, session, "jobs", "Generate");
    Ok(page.response(entered.status(), &content))
}

async fn values_of_prompt(
    api: &Api,
    session: &Session,
    id: PromptId,
) -> Result<Vec<(&'static str, String)>, ApiError> {
    let prompt = api.store.prompt(&session.caller(), id).await?;
    let inputs = api.store.prompt_inputs(&session.caller(), id).await?;
    let kind = if prompt.kind == PromptKind::Video { OutputKind::Video } else { OutputKind::Image };
    let owned = |text: Option<Arc<str>>| text.as_deref().unwrap_or_default().to_owned();
    Ok(vec![
        ("prompt", prompt.text.to_string()),
        ("modelId", owned(inputs.model_id)),
        ("generationType", word(kind).to_owned()),
        ("aspectRatio", owned(inputs.aspect_ratio)),
        ("vaultId", prompt.vault_ids.first().map(ToString::to_string).unwrap_or_default()),
    ])
}

/// What the form shows of the request of a job.
pub(super) fn values_of(api: &Api, job: &JobRecord) -> Vec<(&'static str, String)> {
    let request = &job.request;
    let seed = request.parameters.as_ref().and_then(|all| all.get("seed")?.as_u64());
    let mut values = vec![
        ("prompt", request.prompt.to_string()),
        ("modelId", request.model_id.to_string()),
        ("generationType", word(request.kind).to_owned()),
        ("aspectRatio", request.aspect_ratio.to_string()),
        ("batchCount", request.batch_count.to_string()),
        ("negativePrompt", request.negative_prompt.as_deref().unwrap_or_default().to_owned()),
        ("vaultId", job.vault.to_string()),
    ];
    values.extend(seed.map(|seed| ("seed", seed.to_string())));
    let image = request.image_input.as_ref();
    values.extend(image.map(|image| ("imageInput", api.assets.write(image).into_owned())));
    values
}

const fn word(kind: OutputKind) -> &'static str {
    match kind {
        OutputKind::Image => "image",
        OutputKind::Video => "video",
    }
}

/// The models of this server, and those that the newest jobs used.
pub(super) async fn models(api: &Api, session: &Session) -> Result<Vec<String>, ApiError> {
    let jobs = api.store.jobs(&session.caller(), None, JOBS_MAX).await?;
    let used = jobs.iter().map(|job| job.request.model_id.to_string());
    let own = own_models(api).iter().map(|model| (*model).to_owned());
    let models: BTreeSet<_> = used.chain(own).collect();
    Ok(models.into_iter().take(MODELS_MAX).collect())
}

/// The form; some fields are behind a line that opens them unless `is_open`.
pub(super) async fn form(
    api: &Api,
    session: &Session,
    entered: &Entered<'_>,
    is_open: bool,
) -> Result<Markup, ApiError> {
    let chosen = named_vault(api, session, entered.value("vaultId")).await.unwrap_or_default();
    let mut vaults = vec![(String::new(), "General".to_owned())];
    vaults.extend(vault_choices(api, session, chosen).await?);
    let (models, ratios) = (models(api, session).await?, RATIOS.map(str::to_owned));
    let kinds = ["image", "video"].map(|word| (word.to_owned(), word.to_owned()));
    let default_ratio = limits::GENERATION_ASPECT_RATIO_DEFAULT;
    let ratio_help = format!("{default_ratio} if empty");
    let count_help = format!("{GENERATION_BATCH_COUNT_DEFAULT} if empty");
    let prompt = Field::new("prompt", "Prompt", Input::Text { rows: 3 }).required();
    let first = [
        Field::new("modelId", "Model", Input::Suggested(&models)).required(),
        Field::new("aspectRatio", "Aspect ratio", Input::Suggested(&ratios)).help(&ratio_help),
        Field::new("batchCount", "Number", Input::Number(GENERATION_BATCH_COUNT)).help(&count_help),
    ];
    let others = [
        Field::new("generationType", "Type", Input::Select(&kinds)),
        Field::new("vaultId", "Vault of the result", Input::Select(&vaults)),
        Field::new("seed", "Seed", Input::Number(0..=u32::MAX))
            .help("The same seed, the same picture"),
        Field::new("negativePrompt", "Negative prompt", Input::Text { rows: 2 })
            .help("What must not be in the picture"),
    ];
    let labels = [&prompt].into_iter().chain(&first).chain(&others);
    let labels = labels.map(Field::label).collect::<Vec<_>>();
    let is_open = is_open || others.iter().any(|field| !entered.value(field.name).is_empty());
    Ok(html! {
        (entered.summary(&labels))
        form .fields.generate method="post" action=(api.site.page("generate")) {
            input type="hidden" name="clientJobId" value=(Uuid::new_v4());
            @if !entered.value("imageInput").is_empty() {
                input type="hidden" name="imageInput" value=(entered.value("imageInput"));
            }
            (entered.field(&prompt))
            @for field in &first { (entered.field(field)) }
            details .wide open[is_open] {
                summary { "More options" }
                div .fields { @for field in &others { (entered.field(field)) } }
            }
            div .buttons { button .main { "Generate" } }
        }
    })
}

/// `POST /generate`. Sent again, the form leads to the same job: its name is in the form.
pub(crate) async fn create(
    api: &Api,
    session: &Session,
    mut request: Request<'_>,
) -> HandlerResult {
    let body = request.form().await?;
    let submitted = async {
        let mut form = form_fields(&body, FIELDS);
        if let Some(seed) = form.optional("seed", integer(0..=u32::MAX)) {
            form.set("parameters", json!({ "seed": seed }).to_string());
        }
        let (new, _) = new_job(form, &api.assets)?;
        match submit(api, session, new.clone()).await {
            // The form was changed after going back to it, so it is another request.
            Err(ApiError::Submission(SubmissionError::Store(StoreError::JobConflict))) => {
                let client_job_id = Uuid::new_v4().to_string().into();
                submit(api, session, NewJob { client_job_id, ..new }).await
            }
            outcome => outcome,
        }
    };
    match submitted.await {
        Ok(page) => done(&api.site, &page, "queued"),
        Err(error) => page(api, session, &Entered::refused(&body, error, request.parts)?).await,
    }
}

/// Submits a job; returns its page.
pub(super) async fn submit(api: &Api, session: &Session, new: NewJob) -> Result<String, ApiError> {
    let page = job_page(&new.client_job_id);
    api.submitter.submit(&session.caller(), new, ()).await?;
    Ok(page)
}
