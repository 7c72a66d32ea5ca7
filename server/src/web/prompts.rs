//! The list of prompts: search, filters, grid and list, and the choice of several.

use maud::{Markup, html};
use promptarium::PromptId;

use super::forms::{Choices, Entered, Field, Input};
use super::listing::{Listing, NO_VAULT, VIEWS};
use super::parts::{address, ago, counted, pager, prompt_address, shortened, titled, typed, words};
use super::pictures::thumbnail;
use super::visit::Visit;
use crate::api::export::prompt_json;
use crate::api::{Api, HandlerResult};
use crate::domain::{ImageRef, Place, PromptKind, PromptPage, PromptRecord, VaultRecord};
use crate::http::error::ApiError;

/// Vaults in the filter.
const VAULTS_MAX: usize = 40;
/// Prompts are counted up to this number.
pub(super) const COUNT_MAX: usize = 1_000;

pub(crate) async fn list(visit: Visit<'_>) -> HandlerResult {
    let listing = Listing::parse(&visit.sent)?;
    let vault = match listing.search.place {
        Place::Vault(id) => Some(visit.store().vault(&visit.caller, id).await?),
        _ => None,
    };
    let id = vault.as_ref().map(|vault| vault.id.to_string()).unwrap_or_default();
    // A text without a letter or digit is in no prompt.
    let page = match listing.is_search && listing.search.words.is_empty() {
        true => PromptPage { prompts: Vec::new(), more: false },
        false => visit.store().search_prompts(&visit.caller, listing.search.clone()).await?,
    };
    let count = count(&visit, &listing, &page).await?;
    let vaults = vault_choices(&visit, vault).await?;
    let content = html! {
        (filter(&visit, &listing, vaults))
        @if page.prompts.is_empty() { (empty(&visit, &listing)) }
        @else { (chosen_form(&visit, &listing, &page, &id)) }
        (pager(visit.api, listing.previous(), &count, listing.next(&page)))
    };
    let new = address("prompts/new", [("vaultId", &*id)]);
    let page = visit.page("prompts", "Prompts");
    page.with_actions(visit.main_button(&new, "New prompt")).show(&content)
}

/// How many prompts the list has, as far as that is known without reading all of them.
async fn count(
    visit: &Visit<'_>,
    listing: &Listing,
    page: &PromptPage,
) -> Result<String, ApiError> {
    if listing.after.is_empty() && !page.more {
        return Ok(counted(page.prompts.len(), "prompt", "prompts"));
    }
    if listing.is_search || listing.search.place != Place::Anywhere {
        return Ok(format!("Page {}", listing.after.len() + 1));
    }
    let kind = listing.search.kind;
    Ok(match visit.store().count_prompts(&visit.caller, kind, COUNT_MAX + 1).await? {
        count if count > COUNT_MAX => format!("more than {COUNT_MAX} prompts"),
        count => counted(count, "prompt", "prompts"),
    })
}

/// The newest vaults, and `chosen`.
pub(super) async fn vault_choices(
    visit: &Visit<'_>,
    chosen: Option<VaultRecord>,
) -> Result<Choices, ApiError> {
    let mut vaults = visit.store().newest_vaults(&visit.caller, VAULTS_MAX).await?;
    vaults.extend(chosen.filter(|chosen| vaults.iter().all(|other| other.id != chosen.id)));
    let choice = |vault: &VaultRecord| (vault.id.to_string(), shortened(&vault.name, 30));
    Ok(vaults.iter().map(choice).collect())
}

/// A field for a vault: `none`, the newest, and the one that the form has.
pub(super) async fn vault_field(
    visit: &Visit<'_>,
    label: &'static str,
    entered: &Entered,
    none: &str,
) -> Result<Field, ApiError> {
    let chosen = match entered.id("vaultId") {
        Some(id) => visit.store().vault(&visit.caller, id).await.ok(),
        None => None,
    };
    let mut all = vec![(String::new(), none.to_owned())];
    all.extend(vault_choices(visit, chosen).await?);
    Ok(Field::new("vaultId", label, Input::Select(all)))
}

/// What a form shows of a prompt. A copy goes into its vault, too.
pub(super) async fn values_of(visit: &Visit<'_>, id: PromptId) -> Result<Entered, ApiError> {
    let prompt = visit.store().prompt(&visit.caller, id).await?;
    let mut inputs = visit.store().prompt_inputs(&visit.caller, id).await?;
    let url = |image: &ImageRef| ImageRef::External(visit.api.assets.write(image).into());
    inputs.image_url = inputs.image_url.as_ref().map(url);
    let references = inputs.reference_media_urls.filter(|urls| !urls.is_empty());
    inputs.reference_media_urls = references.map(|urls| urls.iter().map(url).collect());
    let mut entered = Entered::of(prompt_json(&prompt, &inputs));
    entered.set("vaultId", prompt.vault_ids.first().map(ToString::to_string).unwrap_or_default());
    Ok(entered)
}

fn filter(visit: &Visit<'_>, listing: &Listing, vaults: Choices) -> Markup {
    let none = (NO_VAULT.to_owned(), "In no vault".to_owned());
    let vaults = [vec![none], vaults].concat();
    let kinds = words(PromptKind::ALL.iter().map(|(word, _)| *word));
    html! {
        form .toolbar role="search" action=(visit.at("prompts")) {
            input #q type="search" name="q" aria-label="Search in title, text and platform"
                placeholder="Search" dir="auto" value=(listing.entered.value("q"));
            @for (name, label, all) in [("vaultId", "All vaults", vaults), ("type", "All types", kinds)] {
                select name=(name) aria-label=(label) {
                    option value="" { (label) }
                    @for (value, text) in all {
                        @let is_chosen = value == listing.entered.value(name);
                        option value=(value) dir="auto" selected[is_chosen] { (text) }
                    }
                }
            }
            @if listing.is_list() { input type="hidden" name="view" value="list"; }
            button { "Search" }
            span .views {
                @for (view, name) in VIEWS {
                    @let is_current = (*view == "list") == listing.is_list();
                    a href=(visit.at(&listing.with("view", view)))
                        aria-current=[is_current.then_some("true")] { (name) }
                }
            }
        }
    }
}

fn empty(visit: &Visit<'_>, listing: &Listing) -> Markup {
    html! {
        div .empty {
            @if listing.is_filtered() {
                p { "No prompt matches. " (visit.link("prompts", "Show all prompts")) }
            } @else if !listing.after.is_empty() {
                p { "There are no more prompts. " (visit.link("prompts", "First page")) }
            } @else {
                p { "There is no prompt. Write the first one, or generate a picture." }
                p .buttons {
                    (visit.main_button("prompts/new", "New prompt"))
                    (visit.button("generate", "Generate a picture"))
                }
            }
        }
    }
}

/// The prompts in a form, so that several can be chosen. `vault` is the one that they are in.
fn chosen_form(visit: &Visit<'_>, listing: &Listing, page: &PromptPage, vault: &str) -> Markup {
    let back = listing.page(&[]);
    let back = back.split_once('?').map_or("", |(_, query)| query);
    html! {
        form method="post" action=(visit.at("prompts/chosen")) {
            input type="hidden" name="back" value=(back);
            input type="hidden" name="from" value=(vault);
            ul .(if listing.is_list() { "list" } else { "grid" }) {
                @for prompt in &page.prompts {
                    (entry(visit.api, prompt, ("id", prompt.id.get()), false))
                }
            }
            div .toolbar.chosen {
                label .choice hidden { input type="checkbox" data-all="id"; "All on this page" }
                span .soft { "With the chosen:" }
                button name="action" value="add" { "Add to vault" }
                @if !vault.is_empty() { button name="action" value="move" { "Move to vault" } }
                button .danger name="action" value="delete" { "Delete" }
            }
        }
    }
}

/// A prompt as a tile or row, with its picture or the beginning of its text, and a box to choose it,
/// which sends this field.
pub(super) fn entry(
    api: &Api,
    prompt: &PromptRecord,
    (name, value): (&str, i64),
    is_pinned: bool,
) -> Markup {
    let (id, page) = (prompt.id, prompt_address(api, prompt.id));
    let pictures = prompt.images.len();
    html! {
        li .tile {
            @match thumbnail(api, prompt) {
                Some(image) => a .cover href=(page) tabindex="-1" aria-hidden="true" { (image) },
                None => p .cover.text { (typed(&prompt.text, 60)) },
            }
            div {
                // Its name is the title beside it.
                input type="checkbox" name=(name) value=(value) aria-labelledby={ "p" (id) };
                a .title #{ "p" (id) } href=(page) { (titled(&prompt.title, 80)) }
            }
            p .soft {
                @if is_pinned { strong { "Pinned" } " · " }
                @if prompt.kind == PromptKind::Text || pictures == 0 { (prompt.kind.as_str()) }
                @else { (counted(pictures, "picture", "pictures")) }
                @if let Some(platform) = &prompt.platform { " · " (typed(platform, 30)) }
                " · " (ago(api, prompt.created_at)) " "
                // The whole text, which is not in the list.
                button .link type="button" data-copy="text" data-from=(page) aria-describedby={ "p" (id) } hidden {
                    "Copy"
                }
            }
        }
    }
}
