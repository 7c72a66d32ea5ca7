//! The first page: a box to generate from, the newest pictures, and numbers.

use maud::{Render, html};

use super::generate;
use super::jobs::is_running;
use super::parts::prompt_address;
use super::pictures::thumbnail;
use super::prompts::COUNT_MAX;
use super::visit::Visit;
use crate::api::HandlerResult;
use crate::domain::{JobState, PromptKind, PromptQuery};

/// Jobs among which the running ones are counted: the store lists no more at once, and older ones
/// have rarely not ended.
const JOBS_MAX: usize = 100;
/// Vaults are counted up to this number.
const VAULTS_MAX: usize = 100;
/// Newest prompts with a picture.
const PICTURES: usize = 8;

pub(crate) async fn show(visit: Visit<'_>) -> HandlerResult {
    let (api, store, caller) = (visit.api, visit.store(), &visit.caller);
    let vaults = store.newest_vaults(caller, VAULTS_MAX + 1).await?.len();
    let prompts = store.count_prompts(caller, None, COUNT_MAX + 1).await?;
    let kind = Some(PromptKind::Image);
    let query = PromptQuery { vault: None, kind, after: None, limit: PICTURES };
    let newest = store.list_prompts(caller, query).await?.prompts;
    let pictures = newest.iter().filter_map(|prompt| Some((prompt.id, thumbnail(api, prompt)?)));
    let pictures: Vec<_> = pictures.collect();
    let jobs = store.jobs(caller, None, JOBS_MAX).await?;
    let keys = store.api_keys(caller).await?;

    let running = jobs.iter().filter(|job| is_running(job)).count();
    let valid = keys.iter().filter(|key| key.revoked_at.is_none()).count();
    let last = jobs.iter().find(|job| !matches!(job.state, JobState::Failed(..)));
    let last = last.map(|job| &*job.request.model_id);
    let form = generate::form(&visit, generate::defaults(&visit, last)).await?;
    let at_most = |count: usize, most: usize| {
        if count > most { format!("{most}+") } else { count.to_string() }
    };
    let number = |page, text, value: &dyn Render| {
        html! { div { dt { (visit.link(page, text)) } dd { (value) } } }
    };
    let content = html! {
        section .card aria-labelledby="generate" {
            h2 #generate { "Generate" }
            (form)
        }
        @if prompts == 0 {
            p .empty {
                "You have no prompts. Generate a picture above, "
                (visit.link("prompts/new", "write a prompt")) ", or "
                (visit.link("keys", "create a key")) " for the API at " code { (api.base_url) } "."
            }
        }
        @if !pictures.is_empty() {
            h2 { "Recent pictures" }
            ul .grid {
                @for (id, picture) in &pictures {
                    li .tile { a .title.cover href=(prompt_address(api, *id)) { (picture) } }
                }
            }
            p { (visit.link("prompts?type=image", "All pictures")) }
        }
        h2 { "Your library" }
        dl .numbers {
            (number("prompts", "Prompts", &at_most(prompts, COUNT_MAX)))
            (number("vaults", "Vaults", &at_most(vaults, VAULTS_MAX)))
            (number("jobs", "Running jobs", &html! {
                (running)
                @if jobs.len() == JOBS_MAX { span .soft { " of the newest " (JOBS_MAX) } }
            }))
            (number("keys", "Valid keys", &valid))
        }
    };
    let page = visit.page("", "Overview");
    page.with_actions(visit.main_button("prompts/new", "New prompt")).show(&content)
}
