//! Generation jobs: the list, one job, and another attempt at a failed one.

use std::sync::Arc;

use futures::future::join_all;
use http::StatusCode;
use maud::{Markup, html};
use uuid::Uuid;

use super::forms::Entered;
use super::generate;
use super::layout::{JOBS, Page, done, fragment};
use super::parts::{address, ago, counted, job_page, prompt_address, typed};
use super::pictures::picture;
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{JobRecord, JobState, NewJob, PromptRecord, SessionRecord as Session};
use crate::generate::request_digest;
use crate::generate::submit::SubmissionError;
use crate::http::error::ApiError;
use crate::http::validate::{FieldErrors, form_fields, text};
use crate::store::StoreError;

/// Jobs in a page: so few, and their texts so short, that none is left out for its size.
const PAGE_JOBS: usize = 10;

/// `GET /jobs`.
pub(crate) async fn list(api: &Api, session: &Session, request: Request<'_>) -> HandlerResult {
    let query = request.parts.uri.query().unwrap_or_default();
    let mut form = form_fields(query.as_bytes(), &["before"]);
    let before = form.optional("before", text(promptarium::limits::CLIENT_JOB_ID_CHARS));
    form.finish()?;
    let mut jobs = api.store.jobs(&session.caller(), before.as_deref(), PAGE_JOBS + 1).await?;
    let more = jobs.len() > PAGE_JOBS;
    jobs.truncate(PAGE_JOBS);
    let jobs = join_all(jobs.into_iter().map(|job| with_result(api, session, job))).await;

    let empty = html! {
        p { "There is no job. Generate a picture, and it will be here." }
        p { a .button.main href=(api.site.page("generate")) { "Generate a picture" } }
    };
    let content = html! {
        @if jobs.is_empty() { div .empty { (empty) } }
        @else { ul .list { @for job in &jobs { li { (entry(api, job)) } } } }
        nav .pager aria-label="Pages" {
            @if before.is_some() { a href=(api.site.page("jobs")) { "Newest jobs" } }
            @if let Some((last, _)) = jobs.last().filter(|_| more) {
                @let older = address("jobs", &[("before", Some(&last.key.client_job_id))]);
                a rel="next" href=(api.site.page(&older)) { "Older jobs" }
            }
        }
    };
    let mut page = Page::of(&api.site, session, "jobs", "Jobs").after(request.parts);
    page.script = Some(JOBS);
    page.actions = Some(html! { a .button href=(api.site.page("generate")) { "Generate" } });
    page.show(&content)
}

/// `GET /jobs/{clientJobId}`.
pub(crate) async fn show(api: &Api, session: &Session, request: Request<'_>) -> HandlerResult {
    let job = find(api, session, &request).await?;
    let details = &job.0.request;
    let seed = details.parameters.as_ref().and_then(|all| all.get("seed"));
    let content = html! {
        (entry(api, &job))
        @if details.prompt.chars().count() > PROMPT_CHARS {
            h2 { "Prompt" }
            pre tabindex="0" dir="auto" role="region" aria-label="Text of the prompt" { (details.prompt) }
        }
        p .soft {
            (counted(details.batch_count as usize, "picture", "pictures")) " asked for"
            @if let Some(seed) = seed { " · seed " (typed(&seed.to_string(), 40)) }
            @if let Some(negative) = &details.negative_prompt { " · without " (typed(negative, 400)) }
        }
        p { a href=(api.site.page("jobs")) { "All jobs" } }
    };
    let mut page = Page::of(&api.site, session, "jobs", "Job").after(request.parts);
    page.script = Some(JOBS);
    page.show(&content)
}

/// `GET /jobs/{clientJobId}/state`: the part of a page that changes, for its script.
pub(crate) async fn state(api: &Api, session: &Session, request: Request<'_>) -> HandlerResult {
    let job = find(api, session, &request).await?;
    Ok(fragment(StatusCode::OK, entry(api, &job)))
}

/// `POST /jobs/{clientJobId}/retry`. Sent again, the form leads to the same new job.
pub(crate) async fn retry(api: &Api, session: &Session, mut request: Request<'_>) -> HandlerResult {
    let body = request.form().await?;
    let (job, _) = find(api, session, &request).await?;
    if !matches!(job.state, JobState::Failed(..)) {
        return Err(FieldErrors::of("job", "has not failed").into());
    }
    let mut form = form_fields(&body, &["clientJobId"]);
    let name = form.optional("clientJobId", text(promptarium::limits::CLIENT_JOB_ID_CHARS));
    form.finish()?;
    let name = name.unwrap_or_else(|| Uuid::new_v4().to_string().into());
    let new = |vault| NewJob {
        client_job_id: name.clone(),
        digest: request_digest(&job.request, vault),
        request: job.request.clone(),
        vault,
    };
    let outcome = match generate::submit(api, session, new(Some(job.vault))).await {
        // It was deleted since.
        Err(ApiError::Submission(SubmissionError::Store(StoreError::UnknownVault))) => {
            generate::submit(api, session, new(None)).await
        }
        outcome => outcome,
    };
    match outcome {
        Ok(page) => done(&api.site, &page, "queued"),
        Err(error) => {
            let entered = Entered::owned(generate::values_of(api, &job));
            generate::page(api, session, &entered.with(error, request.parts)?).await
        }
    }
}

/// A job, and the prompt that has its result.
type Job = (JobRecord, Option<Arc<PromptRecord>>);

async fn find(api: &Api, session: &Session, request: &Request<'_>) -> Result<Job, ApiError> {
    let name = request.params.text(0).ok_or(ApiError::NotFound)?;
    let job = api.store.job(&session.caller(), &name).await?;
    Ok(with_result(api, session, job).await)
}

async fn with_result(api: &Api, session: &Session, job: JobRecord) -> Job {
    let prompt = match job.state {
        // It may have been deleted since.
        JobState::Completed(_, id) => api.store.prompt(&session.caller(), id).await.ok(),
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
fn entry(api: &Api, (job, prompt): &Job) -> Markup {
    let name = &job.key.client_job_id;
    let own = api.site.page(&job_page(name));
    let state = match &job.state {
        JobState::Submitting | JobState::Queued(_) => "Queued",
        JobState::InProgress(_) => "In progress",
        JobState::Completed(..) => "Completed",
        JobState::Failed(..) => "Failed",
    };
    let is_running = is_running(job);
    html! {
        div .job data-poll=[is_running.then(|| format!("{own}/state"))] data-state=(state) {
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
                    a .button href=(api.site.page(&address("generate", &[("job", Some(name))]))) {
                        "Again with changes"
                    }
                }
            }
        }
    }
}
