//! The first page: numbers, and what to do next.

use maud::{Markup, Render, html};

use super::jobs::is_running;
use super::layout::Page;
use crate::api::{Api, HandlerResult, Request, openapi};
use crate::domain::{PromptQuery, SessionRecord};

/// Jobs among which the running ones are counted: the store lists no more at once, and older ones
/// have rarely not ended.
const JOBS_MAX: usize = 100;
/// Vaults are counted up to this number.
const VAULTS_MAX: usize = 100;

/// `GET /`.
pub(crate) async fn show(api: &Api, session: &SessionRecord, _: Request<'_>) -> HandlerResult {
    let caller = session.caller();
    let vaults = api.store.newest_vaults(&caller, VAULTS_MAX + 1).await?;
    let query = PromptQuery { vault: None, kind: None, after: None, limit: 1 };
    let is_empty = api.store.list_prompts(&caller, query).await?.prompts.is_empty();
    let jobs = api.store.jobs(&caller, None, JOBS_MAX).await?;
    let keys = api.store.api_keys(&caller).await?;
    let sessions = api.store.sessions(&caller).await?;

    let running = jobs.iter().filter(|job| is_running(job)).count();
    let valid = keys.iter().filter(|key| key.revoked_at.is_none()).count();
    let link = |to: &str, text: &str| html! { a href=(api.site.page(to)) { (text) } };
    let content = html! {
        dl .numbers {
            (number(&link("vaults", "Vaults"), html! {
                @if vaults.len() > VAULTS_MAX { "more than " (VAULTS_MAX) } @else { (vaults.len()) }
            }))
            (number(&link("jobs", "Running jobs"), html! {
                (running)
                @if jobs.len() == JOBS_MAX { span .soft { " of the newest " (JOBS_MAX) } }
            }))
            (number(&link("keys", "Valid keys"), valid))
            (number(&link("sessions", "Sessions"), sessions.len()))
        }
        h2 { "What to do next" }
        ul {
            @if is_empty {
                li {
                    "You have no prompts. " (link("keys", "Create a key"))
                    ", and with it a prompt through the API at " code { (api.base_url) } "."
                }
            } @else {
                li { (link("prompts", "Look at your prompts")) ", and queue a picture for one." }
                li { (link("keys", "Create a key")) " for each program that uses the API." }
            }
            @if running > 0 { li { (link("jobs", "Watch the running jobs")) "." } }
            li { "Read " (link(openapi::PATH.trim_start_matches('/'), "the description of the API")) "." }
        }
    };
    Page::of(&api.site, session, "", "Overview").show(&content)
}

fn number(name: &Markup, value: impl Render) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}
