//! The first page: a box to generate from, the newest pictures, and numbers.

use maud::{Markup, Render, html};

use super::generate;
use super::jobs::is_running;
use super::layout::Page;
use super::pictures::thumbnail;
use super::prompts::{COUNT_MAX, gallery};
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{JobState, PromptKind, PromptQuery, SessionRecord as Session};

/// Jobs among which the running ones are counted: the store lists no more at once, and older ones
/// have rarely not ended.
const JOBS_MAX: usize = 100;
/// Vaults are counted up to this number.
const VAULTS_MAX: usize = 100;
/// Newest prompts with a picture.
const PICTURES: usize = 8;

/// `GET /`.
pub(crate) async fn show(api: &Api, session: &Session, request: Request<'_>) -> HandlerResult {
    let caller = session.caller();
    let vaults = api.store.newest_vaults(&caller, VAULTS_MAX + 1).await?.len();
    let prompts = api.store.count_prompts(&caller, None, COUNT_MAX + 1).await?;
    let kind = Some(PromptKind::Image);
    let query = PromptQuery { vault: None, kind, after: None, limit: PICTURES };
    let pictures = api.store.list_prompts(&caller, query).await?.prompts;
    let jobs = api.store.jobs(&caller, None, JOBS_MAX).await?;
    let keys = api.store.api_keys(&caller).await?;

    let running = jobs.iter().filter(|job| is_running(job)).count();
    let valid = keys.iter().filter(|key| key.revoked_at.is_none()).count();
    let link = |to: &str, text: &str| html! { a href=(api.site.page(to)) { (text) } };
    let last = jobs.iter().find(|job| !matches!(job.state, JobState::Failed(..)));
    let last = last.map(|job| &*job.request.model_id);
    let box_form = generate::form(api, session, &generate::defaults(api, last), false).await?;
    let content = html! {
        section .card aria-labelledby="generate" {
            h2 #generate { "Generate" }
            (box_form)
        }
        @if prompts == 0 {
            p .empty {
                "You have no prompts. Generate a picture above, " (link("prompts/new", "write a prompt"))
                ", or " (link("keys", "create a key")) " for the API at " code { (api.base_url) } "."
            }
        }
        @if pictures.iter().any(|prompt| thumbnail(api, prompt).is_some()) {
            h2 { "Recent pictures" }
            (gallery(api, &pictures))
            p { (link("prompts?type=image", "All pictures")) }
        }
        h2 { "Your library" }
        dl .numbers {
            (number(&link("prompts", "Prompts"), at_most(prompts, COUNT_MAX)))
            (number(&link("vaults", "Vaults"), at_most(vaults, VAULTS_MAX)))
            (number(&link("jobs", "Running jobs"), html! {
                (running)
                @if jobs.len() == JOBS_MAX { span .soft { " of the newest " (JOBS_MAX) } }
            }))
            (number(&link("keys", "Valid keys"), valid))
        }
    };
    let mut page = Page::of(&api.site, session, "", "Overview").after(request.parts);
    page.actions =
        Some(html! { a .button.main href=(api.site.page("prompts/new")) { "New prompt" } });
    page.show(&content)
}

fn at_most(count: usize, most: usize) -> String {
    if count > most { format!("{most}+") } else { count.to_string() }
}

fn number(name: &Markup, value: impl Render) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}
