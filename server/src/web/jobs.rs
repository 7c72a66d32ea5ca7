//! Generation jobs: the list, and one job.

use std::sync::Arc;

use promptarium::limits::CLIENT_JOB_ID_CHARS;
use uuid::Uuid;

use super::prelude::*;

/// Jobs in a page: so few, and their texts so short, that none is left out for its size.
const PAGE_JOBS: usize = 10;
const PROMPT_CHARS: usize = 80;

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
                p { "No jobs yet. Pictures that you generate appear here." }
                p { (visit.button("generate", "Generate a picture")) }
            }
        }
        ul .list { @for job in &jobs { li { (entry(&visit, job)) } } }
        @if before.is_some() { p { (visit.link("jobs", "Newest jobs")) } }
        (pager(visit.api, None, "", older))
    };
    let page = visit.page("jobs", "Jobs");
    page.with_actions(visit.button("generate", "Generate")).show(&content)
}

pub(crate) async fn show(visit: Visit<'_>) -> HandlerResult {
    let name = visit.request.params.text(0).ok_or(ApiError::NotFound)?;
    let job = with_result(&visit, visit.store().job(&visit.caller, &name).await?).await;
    let details = &job.0.request;
    let received = job.1.as_ref().map(|prompt| prompt.images.len() as u32);
    let content = html! {
        (entry(&visit, &job))
        @if details.prompt.chars().count() > PROMPT_CHARS {
            h2 { "Prompt" }
            (full_text(&details.prompt))
        }
        p .soft {
            "Requested: " (counted(details.batch_count, "picture"))
            @if let Some(received) = received.filter(|count| *count < details.batch_count) {
                " · received: " (received) ", the provider returned no other usable picture"
            }
            (chosen_settings(details))
        }
        p { (visit.link("jobs", "All jobs")) }
    };
    visit.page("jobs", "Job").show(&content)
}

/// A job, and the prompt that has its result.
type Job = (JobRecord, Option<Arc<PromptRecord>>);

async fn with_result(visit: &Visit<'_>, job: JobRecord) -> Job {
    let prompt = match job.state {
        // It may have been deleted since.
        JobState::Completed(_, id) => visit.store().prompt(&visit.caller, id).await.ok(),
        _ => None,
    };
    (job, prompt)
}

/// A job as its page and the list show it. The script replaces it while the job runs.
fn entry(visit: &Visit<'_>, (job, prompt): &Job) -> Markup {
    let name = &job.key.client_job_id;
    let own = visit.at(&job_page(name));
    let state = match &job.state {
        JobState::Submitting | JobState::Queued(_) => "Queued",
        JobState::InProgress(_) => "In progress",
        JobState::Completed(..) => "Completed",
        JobState::Failed(..) => "Failed",
    };
    let is_running = !matches!(job.state, JobState::Completed(..) | JobState::Failed(..));
    html! {
        div .job data-poll=[is_running.then_some(&own)] data-state=(state) {
            a .title href=(own) { (typed(&job.request.prompt, PROMPT_CHARS)) }
            p {
                @match &job.state {
                    JobState::Completed(_, id) => {
                        span .good { (state) ": " }
                        (visit.link(&format!("prompts/{id}"), &format!("prompt {id}")))
                    }
                    JobState::Failed(_, reason) => {
                        span .bad { (state) ": " } (typed(reason, 120))
                    }
                    _ => {
                        progress aria-label="Progress" {} " " (state) " · " a href=(own) { "Refresh" }
                        @if let Some(text) = &job.waits_for { br; "Waiting for " (typed(text, 200)) }
                    }
                }
            }
            div .pictures {
                @match prompt {
                    Some(prompt) => @for image in &*prompt.images {
                        (small_picture(visit.api, &prompt.title, image))
                    },
                    None => div .cover {},
                }
            }
            p .soft {
                code { (typed(&job.request.model_id, 40)) } " · "
                (typed(&job.request.aspect_ratio, 10)) " · " (visit.ago(job.created_at))
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
