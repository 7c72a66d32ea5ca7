//! The first page: a box to generate from, the newest pictures, and numbers.

use super::generate;
use super::pictures::thumbnail;
use super::prelude::*;
use super::prompts::COUNT_MAX;
use crate::domain::{PromptKind, PromptQuery};

const VAULTS_MAX: usize = 100;
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
    let number = |page, text, count: usize, most| {
        let count = if count > most { format!("{most}+") } else { count.to_string() };
        html! { div { dt { (visit.link(page, text)) } dd { (count) } } }
    };
    let content = html! {
        section .card aria-labelledby="generate" {
            h2 #generate { "Generate" }
            (generate::form(&visit, Entered::default()).await?)
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
