//! The form that requests pictures and videos, and the first page, which has it.

use http::Method;
use promptarium::limits::{
    CLIENT_JOB_ID_CHARS, GENERATION_ASPECT_RATIO_DEFAULT, GENERATION_BATCH_COUNT,
};
use uuid::Uuid;

use super::prelude::*;
use super::prompts::{self, COUNT_MAX, vault_field};
use crate::api::generations::{FIELDS, new_job};
use crate::generate::request_digest;
use crate::generate::submit::SubmissionError;

/// Fields with choices and a place for another text.
pub(super) const CHOICES: [&str; 2] = ["modelId", "aspectRatio"];
const RATIOS: [&str; 7] = ["1:1", "3:2", "2:3", "4:3", "3:4", "16:9", "9:16"];
/// What the built-in provider paints with.
const LOCAL_MODELS: [&str; 2] = ["local/plasma", "local/plasma-video"];
/// Jobs that are looked through for models used before.
const JOBS_MAX: usize = 30;
const VAULTS_MAX: usize = 100;
const PICTURES: usize = 8;

/// The form, empty or with what the job `job` or the prompt `prompt` has. A POST for the job in the
/// path requests the same again. Sent again, both lead to the same job: its name is in the form.
pub(crate) async fn show(mut visit: Visit<'_>) -> HandlerResult {
    let store = visit.store();
    let again = match visit.request.params.text(0) {
        Some(name) => Some(store.job(&visit.caller, &name).await?),
        None => None,
    };
    if let Some(job) = &again {
        // If it cannot be submitted, for example because its vault was deleted.
        visit.entered = values_of(&visit, job);
    }
    let submitted = async {
        let new = match &again {
            Some(job) => return submit(&visit, same_job(&visit, job)?).await,
            None => job_of_form(&visit)?,
        };
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
        _ if visit.request.parts.method == Method::POST => Entered::default(),
        ("", None) => Entered::default(),
        ("", Some(id)) => {
            let mut values = prompts::values_of(&visit, id).await?;
            values.set("generationType", values.value("promptType").to_owned());
            values
        }
        (name, _) => values_of(&visit, &store.job(&visit.caller, name).await?),
    };
    let page = async |entered: Entered| {
        let status = entered.status();
        let content = form(&visit, entered).await?;
        Ok(visit.page("jobs", "Generate").response(status, &content))
    };
    visit.form(values, submitted, page).await
}

fn job_of_form(visit: &Visit<'_>) -> Result<NewJob, FieldErrors> {
    let mut seed = form_fields(&visit.sent, &["seed"]);
    let given = seed.optional("seed", integer(0..=u32::MAX));
    let sent = without_replaced(&visit.sent, &CHOICES);
    let mut form = form_fields(&sent, FIELDS);
    // A form has no others, for which memory would have to be reserved.
    form.optional("parameters", |_| Ok(()));
    if let Err(FieldErrors(errors)) = seed.finish() {
        errors.into_iter().for_each(|(name, error)| form.reject(name, error));
    }
    if let Some(seed) = given {
        form.set("parameters", json!({ "seed": seed }).to_string());
    }
    Ok(form.read(|form| new_job(form, &visit.api.assets))?.0)
}

fn same_job(visit: &Visit<'_>, job: &JobRecord) -> Result<NewJob, FieldErrors> {
    if !matches!(job.state, JobState::Failed(..)) {
        return Err(FieldErrors::of("job", "has not failed"));
    }
    let mut form = form_fields(&visit.sent, &["clientJobId"]);
    let name = form.optional("clientJobId", text(CLIENT_JOB_ID_CHARS));
    form.finish()?;
    let (request, vault) = (job.request.clone(), Some(job.vault));
    let client_job_id = name.unwrap_or_else(|| Uuid::new_v4().to_string().into());
    Ok(NewJob { client_job_id, digest: request_digest(&request, vault), request, vault })
}

async fn submit(visit: &Visit<'_>, new: NewJob) -> Result<String, ApiError> {
    let page = done_address(&job_page(&new.client_job_id), "queued");
    visit.api.submitter.submit(&visit.caller, new, ()).await?;
    Ok(page)
}

/// What the form shows of the request of a job.
fn values_of(visit: &Visit<'_>, job: &JobRecord) -> Entered {
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

/// The models of the newest jobs, those of pictures first, and those of this server.
async fn models(visit: &Visit<'_>) -> Result<Vec<String>, ApiError> {
    let mut jobs = visit.store().jobs(&visit.caller, None, JOBS_MAX).await?;
    jobs.retain(|job| !matches!(job.state, JobState::Failed(..)));
    jobs.sort_by_key(|job| job.request.kind != OutputKind::Image);
    let is_local = &*visit.api.model_namespace == "local";
    let own = LOCAL_MODELS.into_iter().filter(|_| is_local);
    let mut models = Vec::new();
    for model in jobs.iter().map(|job| &*job.request.model_id).chain(own) {
        if models.iter().all(|known| known != model) {
            models.push(model.to_owned());
        }
    }
    Ok(models)
}

pub(super) async fn model(visit: &Visit<'_>) -> Result<Field, ApiError> {
    Ok(Field::new("modelId", "Model", Input::Choice(models(visit).await?)))
}

pub(super) fn ratio() -> Field {
    Field::new("aspectRatio", "Aspect ratio", Input::Choice(RATIOS.map(str::to_owned).into()))
}

/// The form, with some fields behind a line that opens them. A new one has the model of the last job,
/// or the first of this server.
pub(super) async fn form(visit: &Visit<'_>, mut entered: Entered) -> Result<Markup, ApiError> {
    // A refused form becomes another request.
    entered.set("clientJobId", Uuid::new_v4().to_string());
    let models = models(visit).await?;
    if entered.problem.is_none() && entered.value("modelId").is_empty() {
        entered.set("modelId", models.first().cloned().unwrap_or_default());
    }
    let fields = vec![
        Field::hidden("clientJobId"),
        Field::hidden("imageInput"),
        Field::new("prompt", "Prompt", Input::Text(3)).required(),
        Field::new("modelId", "Model", Input::Choice(models)).required(),
        ratio().help(format!("{GENERATION_ASPECT_RATIO_DEFAULT} if empty")),
        Field::new("batchCount", "Number", Input::Select(words(GENERATION_BATCH_COUNT))),
    ];
    let more = vec![
        Field::new("generationType", "Type", Input::Select(words(["image", "video"]))),
        vault_field(visit, "Save to vault", &entered, "General").await?,
        Field::new("seed", "Seed", Input::Line)
            .help("A number. The same seed gives the same picture."),
        Field::new("negativePrompt", "Negative prompt", Input::Text(2))
            .help("What the picture must not show"),
    ];
    let form = Form { action: Some("generate"), more, ..Form::new("Generate", fields) };
    Ok(html! { div .generate { (entered.form(&visit.api.site, &form)) } })
}

/// The first page: a box to generate from, the newest pictures, and numbers.
pub(crate) async fn home(visit: Visit<'_>) -> HandlerResult {
    let (api, store, caller) = (visit.api, visit.store(), &visit.caller);
    let vaults = store.newest_vaults(caller, VAULTS_MAX + 1).await?.len();
    let prompts = store.count_prompts(caller, None, COUNT_MAX + 1).await?;
    let kind = Some(PromptKind::Image);
    let query = PromptQuery { vault: None, kind, after: None, limit: PICTURES };
    let newest = store.list_prompts(caller, query).await?.prompts;
    let pictures = newest.iter().filter_map(|prompt| Some((prompt.id, thumbnail(api, prompt)?)));
    let pictures: Vec<_> = pictures.collect();
    let number = |page, text, count: usize, most| {
        let count = if count > most { format!("{most}+") } else { count.to_string() };
        html! { div { dt { (visit.link(page, text)) } dd { (count) } } }
    };
    let content = html! {
        section .card aria-labelledby="generate" {
            h2 #generate { "Generate" }
            (form(&visit, Entered::default()).await?)
        }
        @if prompts == 0 {
            p .empty {
                "No prompts yet. Generate a picture above, "
                (visit.link("prompts/new", "write a prompt")) ", or "
                (visit.link("keys", "create a key")) " for the API at " code { (api.base_url) } "."
            }
        }
        @if !pictures.is_empty() {
            h2 { "Recent pictures" }
            ul .grid {
                @for (id, picture) in &pictures {
                    li .tile { a .title.cover href=(visit.at(&format!("prompts/{id}"))) { (picture) } }
                }
            }
            p { (visit.link("prompts?type=image", "All pictures")) }
        }
        h2 { "Your library" }
        dl .numbers {
            (number("prompts", "Prompts", prompts, COUNT_MAX))
            (number("vaults", "Vaults", vaults, VAULTS_MAX))
        }
    };
    let page = visit.page("", "Overview");
    page.with_actions(visit.button("prompts/new", "New prompt")).show(&content)
}
