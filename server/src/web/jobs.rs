//! Generation jobs: the list, one job, and another attempt at a failed one.

use std::sync::Arc;

use futures::future::join_all;
use maud::{Markup, html};
use promptarium::limits::CLIENT_JOB_ID_CHARS;
use uuid::Uuid;

use super::forms::Entered;
use super::generate;
use super::parts::{address, ago, counted, full_text, job_page, pager, prompt_address, typed};
use super::pictures::picture;
use super::visit::Visit;
use crate::api::HandlerResult;
use crate::domain::{JobRecord, JobState, NewJob, PromptRecord};
use crate::generate::request_digest;
use crate::http::error::ApiError;
use crate::http::validate::{FieldErrors, form_fields, text};

/// Jobs in a page: so few, and their texts so short, that none is left out for its size.
const PAGE_JOBS: usize = 10;

pub(crate) async fn list(visit: Visit<'_>) -> HandlerResult {
    let mut form = form_fields(&visit.sent, &["before"]);
    let before = form.optional("before", text(CLIENT_JOB_ID_CHARS));
    form.finish()?;
    let mut jobs = visit.store().jobs(&visit.caller, before.as_deref(), PAGE_JOBS + 1).await?;
    let more = jobs.len() > PAGE_JOBS;
    jobs.truncate(PAGE_JOBS);
    let last = jobs.last().filter(|_| more);
    let older = last.map(|last| address("jobs", [("before", &*last.key.client_job_id)]));
    let jobs = join_all(jobs.into_iter().map(|job| with_result(&visit, job))).await;
    let content = html! {
        @if jobs.is_empty() {
            div .empty {
                p { "There is no job. Generate a picture, and it will be here." }
                p { (visit.main_button("generate", "Generate a picture")) }
            }
        } @else {
            ul .list { @for job in &jobs { li { (entry(&visit, job)) } } }
        }
        @if before.is_some() { p { (visit.link("jobs", "Newest jobs")) } }
        (pager(visit.api, None, "", older))
    };
    let page = visit.page("jobs", "Jobs");
    page.with_actions(visit.button("generate", "Generate")).show(&content)
}

pub(crate) async fn show(visit: Visit<'_>) -> HandlerResult {
    let job = find(&visit).await?;
    let details = &job.0.request;
    let seed = details.parameters.as_ref().and_then(|all| all.get("seed"));
    let content = html! {
        (entry(&visit, &job))
        @if details.prompt.chars().count() > PROMPT_CHARS {
            h2 { "Prompt" }
            (full_text(&details.prompt))
        }
        p .soft {
            (counted(details.batch_count as usize, "picture", "pictures")) " asked for"
            @if let Some(seed) = seed { " · seed " (typed(&seed.to_string(), 40)) }
            @if let Some(negative) = &details.negative_prompt { " · without " (typed(negative, 400)) }
        }
        p { (visit.link("jobs", "All jobs")) }
    };
    visit.page("jobs", "Job").show(&content)
}

/// `POST /jobs/{clientJobId}/retry`. Sent again, the form leads to the same new job. If the job
/// cannot be submitted, for example because its vault was deleted, its values are in the form.
pub(crate) async fn retry(mut visit: Visit<'_>) -> HandlerResult {
    let (job, _) = find(&visit).await?;
    if !matches!(job.state, JobState::Failed(..)) {
        return Err(FieldErrors::of("job", "has not failed").into());
    }
    let mut form = form_fields(&visit.sent, &["clientJobId"]);
    let name = form.optional("clientJobId", text(CLIENT_JOB_ID_CHARS));
    form.finish()?;
    let (request, vault) = (job.request.clone(), Some(job.vault));
    let again = NewJob {
        client_job_id: name.unwrap_or_else(|| Uuid::new_v4().to_string().into()),
        digest: request_digest(&request, vault),
        request,
        vault,
    };
    visit.entered = generate::values_of(&visit, &job);
    let form = |entered| generate::page(&visit, entered);
    visit.form(Entered::default(), generate::submit(&visit, again), form).await
}

/// A job, and the prompt that has its result.
type Job = (JobRecord, Option<Arc<PromptRecord>>);

async fn find(visit: &Visit<'_>) -> Result<Job, ApiError> {
    let name = visit.request.params.text(0).ok_or(ApiError::NotFound)?;
    let job = visit.store().job(&visit.caller, &name).await?;
    Ok(with_result(visit, job).await)
}

async fn with_result(visit: &Visit<'_>, job: JobRecord) -> Job {
    let prompt = match job.state {
        // It may have been deleted since.
        JobState::Completed(_, id) => visit.store().prompt(&visit.caller, id).await.ok(),
        _ => None,
    };
    (job, prompt)
}

/// Whether a job has not ended.
pub(super) const fn is_running(job: &JobRecord) -> bool {
    matches!(job.state, JobState::Submitting | JobState::Queued(_) | JobState::InProgress(_))
}

/// Characters of the request's text in an entry.
const PROMPT_CHARS: usize = 80;

/// A job as its page and the list show it. The script replaces it while the job runs.
fn entry(visit: &Visit<'_>, (job, prompt): &Job) -> Markup {
    let (api, name) = (visit.api, &job.key.client_job_id);
    let own = visit.at(&job_page(name));
    let state = match &job.state {
        JobState::Submitting | JobState::Queued(_) => "Queued",
        JobState::InProgress(_) => "In progress",
        JobState::Completed(..) => "Completed",
        JobState::Failed(..) => "Failed",
    };
    let is_running = is_running(job);
    html! {
        div .job data-poll=[is_running.then_some(&own)] data-state=(state) {
            a .title href=(own) { (typed(&job.request.prompt, PROMPT_CHARS)) }
            p {
                @match &job.state {
                    JobState::Completed(_, id) => {
                        span .good { (state) ": " }
                        a href=(prompt_address(api, *id)) { "prompt " (id) }
                    }
                    JobState::Failed(_, reason) => {
                        span .bad { (state) ": " } (typed(reason, 120))
                    }
                    _ => { progress aria-label="Progress" {} " " (state) " · " a href=(own) { "Refresh" } }
                }
            }
            div .pictures {
                @match prompt {
                    Some(prompt) => @for image in &*prompt.images {
                        (picture(api, &prompt.title, image))
                    },
                    None => div .cover {},
                }
            }
            p .soft {
                code { (typed(&job.request.model_id, 40)) } " · "
                (typed(&job.request.aspect_ratio, 10)) " · " (ago(api, job.created_at))
            }
            @if !is_running {
                div .buttons {
                    @if let JobState::Failed(..) = job.state {
                        form method="post" action={ (own) "/retry" } {
                            input type="hidden" name="clientJobId" value=(Uuid::new_v4());
                            button { "Try again" }
                        }
                    }
                    (visit.button(&address("generate", [("job", &**name)]), "Again with changes"))
                }
            }
        }
    }
}
