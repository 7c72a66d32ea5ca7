//! Generation jobs.

use maud::{Markup, html};

use super::layout::{JOBS, Page};
use super::parts::{address, ago, list as list_of, prompt_address, typed};
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{JobRecord, JobState, SessionRecord};
use crate::http::validate::{form_fields, text};

/// Jobs in a page: so few, and their texts so short, that none is left out for its size.
const PAGE_JOBS: usize = 10;

/// `GET /jobs`.
pub(crate) async fn list(
    api: &Api,
    session: &SessionRecord,
    request: Request<'_>,
) -> HandlerResult {
    let query = request.parts.uri.query().unwrap_or_default();
    let mut form = form_fields(query.as_bytes(), &["before"]);
    let before = form.optional("before", text(promptarium::limits::CLIENT_JOB_ID_CHARS));
    form.finish()?;
    let mut jobs = api.store.jobs(&session.caller(), before.as_deref(), PAGE_JOBS + 1).await?;
    let more = jobs.len() > PAGE_JOBS;
    jobs.truncate(PAGE_JOBS);

    let empty = html! {
        p { "There is no job. Choose a prompt and queue a picture of it." }
        p { a href=(api.site.page("prompts")) { "Show prompts" } }
    };
    let content = html! {
        (list_of(&jobs, &empty, |job| entry(api, job)))
        @if before.is_some() { p { a href=(api.site.page("jobs")) { "Newest jobs" } } }
        @if let Some(last) = jobs.last().filter(|_| more) {
            @let older = address("jobs", &[("before", Some(&last.key.client_job_id))]);
            p { a rel="next" href=(api.site.page(&older)) { "Older jobs" } }
        }
    };
    let page = Page::of(&api.site, session, "jobs", "Jobs").after(request.parts);
    Page { script: Some(JOBS), ..page }.show(&content)
}

/// Whether a job has not ended.
pub(super) const fn is_running(job: &JobRecord) -> bool {
    matches!(job.state, JobState::Submitting | JobState::Queued(_) | JobState::InProgress(_))
}

fn entry(api: &Api, job: &JobRecord) -> Markup {
    html! {
        li {
            strong { (typed(&job.request.prompt, 80)) }
            p {
                @match &job.state {
                    JobState::Submitting | JobState::Queued(_) => {
                        progress value="0" aria-label="Progress" {} " Queued"
                    }
                    JobState::InProgress(_) => { progress aria-label="Progress" {} " In progress" }
                    JobState::Completed(_, prompt) => {
                        span .good { "Completed: " }
                        a href=(prompt_address(api, *prompt)) { "prompt " (prompt) }
                    }
                    JobState::Failed(_, reason) => {
                        span .bad { "Failed: " } (typed(reason, 160))
                    }
                }
            }
            p .soft {
                code { (typed(&job.request.model_id, 40)) } " · "
                (typed(&job.request.aspect_ratio, 10)) " · " (ago(api, job.created_at)) " · "
                code { (typed(&job.key.client_job_id, 36)) }
            }
        }
    }
}
