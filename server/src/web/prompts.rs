//! The list of prompts: search, filters, pages, grid and list.

use std::sync::Arc;

use promptarium::limits::PROMPT_SEARCH_CHARS_MAX;

use super::chosen;
use super::nearest::{self, Near};
use super::prelude::*;
use crate::api::export::prompt_json;
use crate::search::{self, FoundPrompts, PromptSearch, Words};
use crate::store::Place;

/// Fields of the query that choose prompts; a link to another page keeps them.
const FILTERS: [&str; 4] = ["q", "vaultId", "type", "view"];
const VIEWS: [(&str, &str); 2] = [("grid", "Grid"), ("list", "List")];
const NO_VAULT: &str = "none";
/// Pages that the link to the previous page remembers.
const PAGES_MAX: usize = 200;
const VAULTS_MAX: usize = 30;
/// Prompts are counted up to this number.
pub(super) const COUNT_MAX: usize = 1_000;

struct Listing {
    search: PromptSearch,
    /// After which prompts this page and those before it begin, without the first page.
    after: Vec<i64>,
    entered: Entered,
}

impl Listing {
    fn parse(visit: &Visit<'_>) -> Result<Self, FieldErrors> {
        let mut form = form_fields(&visit.sent, &["q", "vaultId", "type"]);
        let q = form.optional("q", text(0..=PROMPT_SEARCH_CHARS_MAX));
        let place = form.optional("vaultId", |field| match field.raw() {
            NO_VAULT => Ok(Place::NoVault),
            _ => id(field).map(Place::Vault),
        });
        let kind = form.optional("type", one_of(PromptKind::ALL));
        form.finish()?;
        // A text of spaces searches for nothing.
        let words = q.and_then(|text| Words::parse(&text)).map(Arc::new);
        let after = visit.entered.value("after").split('.').filter_map(|id| id.parse().ok());
        let (place, limit, after) = (place.unwrap_or_default(), PAGE, after.collect::<Vec<i64>>());
        let last = after.last().copied().map(PromptId::new);
        let search = PromptSearch { words, place, kind, after: last, limit };
        Ok(Self { search, after, entered: visit.entered.clone() })
    }

    fn is_list(&self) -> bool {
        self.entered.value("view") == "list"
    }

    /// The same list with another value of one field, from its first page on unless it is `after`.
    fn with(&self, field: &str, value: &str) -> String {
        let filters = FILTERS.into_iter().filter(|name| *name != field);
        let filters = filters.map(|name| (name, self.entered.value(name)));
        address("prompts", filters.chain([(field, value)]))
    }

    /// The page of the same list that begins after the last one of these prompts.
    fn page(&self, after: &[i64]) -> String {
        let after = &after[after.len().saturating_sub(PAGES_MAX)..];
        self.with("after", &after.iter().map(i64::to_string).collect::<Vec<_>>().join("."))
    }

    /// The page of the same list that begins after this prompt.
    fn older(&self, next: PromptId) -> String {
        self.page(&[&*self.after, &[next.get()]].concat())
    }

    /// How far a search came that stopped early, with a link to go on, and links to other pages.
    fn pager(&self, api: &Api, page: &FoundPrompts, count: &str) -> Markup {
        let previous = self.after.split_last().map(|(_, before)| self.page(before));
        let next = page.next.filter(|_| page.stopped_after.is_none());
        html! {
            @if let (Some(read), Some(next)) = (page.stopped_after, page.next) {
                p .soft {
                    @if self.after.is_empty() { "The newest " } @else { "A further " }
                    (counted(read, "prompt")) " were searched. "
                    a href=(api.site.page(&self.older(next))) { "Search older prompts" }
                }
            }
            (pager(api, previous, count, next.map(|next| self.older(next))))
        }
    }
}

pub(crate) async fn list(visit: Visit<'_>) -> HandlerResult {
    let listing = Listing::parse(&visit)?;
    let vault = listing.entered.value("vaultId");
    let vaults = vault_choices(&visit, vault).await?;
    let is_own = matches!(listing.search.place, Place::Vault(_));
    if is_own && !vaults.iter().any(|(id, _)| id == vault) {
        return Err(ApiError::NotFound);
    }
    let page = search::search(visit.api, &visit.caller, &listing.search).await?;
    let count = count(&visit, &listing, &page).await?;
    let near = match page.prompts.is_empty() && listing.after.is_empty() {
        true => nearest::titles(&visit, &listing.search, listing.entered.value("q")).await?,
        false => Vec::new(),
    };
    let from = if is_own { vault } else { "" };
    let entries = page.prompts.iter().map(|prompt| entry(&visit, prompt, false));
    let class = if listing.is_list() { "list" } else { "grid" };
    let content = html! {
        (filter(&visit, &listing, &vaults))
        @if page.prompts.is_empty() { (empty(&visit, &listing, &near)) }
        @else { (chosen::form(&visit, entries, class, from, &listing.page(&[]), &vaults)) }
        (listing.pager(visit.api, &page, &count))
    };
    let new = address("prompts/new", [("vaultId", from)]);
    let page = visit.page("prompts", "Prompts");
    page.with_actions(visit.button(&new, "New prompt")).show(&content)
}

/// How many prompts the list has, as far as that is known without reading all of them.
async fn count(
    visit: &Visit<'_>,
    listing: &Listing,
    page: &FoundPrompts,
) -> Result<String, ApiError> {
    let PromptSearch { words, place, kind, .. } = &listing.search;
    let is_counted = words.is_none() && *place == Place::Anywhere;
    Ok(match listing.after.len() {
        0 if page.next.is_none() || page.stopped_after.is_some() => {
            counted(page.prompts.len(), "prompt")
        }
        before if !is_counted => format!("Page {}", before + 1),
        _ => match visit.store().count_prompts(&visit.caller, *kind, COUNT_MAX + 1).await? {
            count if count > COUNT_MAX => format!("more than {COUNT_MAX} prompts"),
            count => counted(count, "prompt"),
        },
    })
}

/// The newest vaults, and the one with this id, if there is one.
pub(super) async fn vault_choices(visit: &Visit<'_>, chosen: &str) -> Result<Choices, ApiError> {
    let (store, caller) = (visit.store(), &visit.caller);
    let mut vaults = store.newest_vaults(caller, VAULTS_MAX).await?;
    let chosen = chosen.parse().ok().map(VaultId::new);
    if let Some(id) = chosen.filter(|id| vaults.iter().all(|other| other.id != *id)) {
        match store.vault(caller, id).await {
            Err(StoreError::NotFound) => {}
            vault => vaults.push(vault?),
        }
    }
    Ok(vaults.iter().map(|vault| (vault.id.to_string(), shortened(&vault.name, 20))).collect())
}

/// A field for a vault: `none`, the newest, and the one that the form has.
pub(super) async fn vault_field(
    visit: &Visit<'_>,
    label: &'static str,
    entered: &Entered,
    none: &str,
) -> Result<Field, ApiError> {
    let vaults = vault_choices(visit, entered.value("vaultId")).await?;
    let all = [vec![(String::new(), none.to_owned())], vaults].concat();
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

fn filter(visit: &Visit<'_>, listing: &Listing, vaults: &[(String, String)]) -> Markup {
    let none = [(NO_VAULT.to_owned(), "In no vault".to_owned())];
    let kinds = words(PromptKind::ALL.iter().map(|(word, _)| *word));
    html! {
        form .toolbar role="search" action=(visit.at("prompts")) {
            input #q type="search" name="q" aria-label="Search in title, text and platform"
                placeholder="Search" dir="auto" value=(listing.entered.value("q"));
            @for (name, label, all) in
                [("vaultId", "All vaults", [&none, vaults].concat()), ("type", "All types", kinds)] {
                select name=(name) aria-label=(label) {
                    option value="" { (label) }
                    (options(&all, listing.entered.value(name)))
                }
            }
            @if listing.is_list() { input type="hidden" name="view" value="list"; }
            button { "Search" }
            span .views {
                @for (view, name) in VIEWS {
                    @let is_current = (view == "list") == listing.is_list();
                    a href=(visit.at(&listing.with("view", view)))
                        aria-current=[is_current.then_some("true")] { (name) }
                }
            }
        }
    }
}

fn empty(visit: &Visit<'_>, Listing { search, after, .. }: &Listing, near: &[Near]) -> Markup {
    html! {
        div .empty {
            @if search.words.is_some() || search.kind.is_some() || search.place != Place::Anywhere {
                p { "No prompts match. " (visit.link("prompts", "Show all prompts")) }
                @if !near.is_empty() {
                    p { "Similar titles:" }
                    ul {
                        @for (id, title) in near {
                            li { a href=(visit.at(&format!("prompts/{id}"))) { (titled(title, 80)) } }
                        }
                    }
                }
            } @else if !after.is_empty() {
                p { "There are no more prompts. " (visit.link("prompts", "First page")) }
            } @else {
                p { "No prompts yet. Write one, or generate a picture." }
                p .buttons {
                    (visit.button("prompts/new", "New prompt"))
                    (visit.button("generate", "Generate a picture"))
                }
            }
        }
    }
}

/// A prompt as a tile or row, with its picture or the beginning of its text, and a box to choose it.
pub(super) fn entry(visit: &Visit<'_>, prompt: &PromptRecord, is_pinned: bool) -> Markup {
    let (id, page) = (prompt.id, visit.at(&format!("prompts/{}", prompt.id)));
    let pictures = prompt.images.len();
    html! {
        li .tile {
            @match thumbnail(visit.api, prompt) {
                Some(image) => a .cover href=(page) tabindex="-1" aria-hidden="true" { (image) },
                None => p .cover.text { (typed(&prompt.text, 60)) },
            }
            div {
                // Its name is the title beside it.
                input type="checkbox" name="id" value=(id) aria-labelledby={ "p" (id) };
                a .title #{ "p" (id) } href=(page) { (titled(&prompt.title, 80)) }
            }
            p .soft {
                @if is_pinned { strong { "Pinned" } " · " }
                @if prompt.kind == PromptKind::Text || pictures == 0 { (prompt.kind.as_str()) }
                @else { (counted(pictures, "picture")) }
                @if let Some(platform) = &prompt.platform { " · " (typed(platform, 30)) }
                " · " (visit.ago(prompt.created_at)) " "
                // The whole text, which is not in the list.
                span data-copy="Copy" data-from=(page) data-of={ "p" (id) } {}
            }
        }
    }
}
