//! The list of prompts: search, filters, grid and list, and the choice of several.

use maud::{Markup, PreEscaped, html};
use promptarium::{PromptId, VaultId};

use super::layout::Page;
use super::listing::{Listing, NO_VAULT, VIEWS};
use super::parts::{address, ago, counted, pager, prompt_address, shortened, titled, typed};
use super::pictures::thumbnail;
use crate::api::prompts::KINDS;
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{
    Place, PromptKind, PromptPage, PromptRecord, SessionRecord as Session, VaultRecord,
};
use crate::http::error::ApiError;

/// Vaults in the filter.
const VAULTS_MAX: usize = 40;
/// Prompts are counted up to this number.
pub(super) const COUNT_MAX: usize = 1_000;

/// `GET /prompts`.
pub(crate) async fn list(api: &Api, session: &Session, request: Request<'_>) -> HandlerResult {
    let caller = session.caller();
    let query = request.parts.uri.query().unwrap_or_default();
    let listing = Listing::parse(query.as_bytes())?;
    let vault = match listing.search.place {
        Place::Vault(id) => Some(api.store.vault(&caller, id).await?),
        _ => None,
    };
    // A text without a letter or digit is in no prompt.
    let page = match listing.is_search && listing.search.words.is_empty() {
        true => PromptPage { prompts: Vec::new(), more: false },
        false => api.store.search_prompts(&caller, listing.search.clone()).await?,
    };
    let count = count(api, session, &listing, vault.as_ref(), &page).await?;
    let vaults = vault_choices(api, session, vault).await?;
    let content = html! {
        (filter(api, &listing, &vaults))
        @if page.prompts.is_empty() { (empty(api, &listing)) }
        @else { (choices(api, &listing, &page)) }
        (pager(listing.previous(api).as_deref(), &count, listing.next(api, &page).as_deref()))
    };
    let mut shown = Page::of(&api.site, session, "prompts", "Prompts").after(request.parts);
    let new = address("prompts/new", &[("vaultId", vault_of(&listing).as_deref())]);
    shown.actions = Some(html! { a .button.main href=(api.site.page(&new)) { "New prompt" } });
    shown.show(&content)
}

fn vault_of(listing: &Listing) -> Option<String> {
    match listing.search.place {
        Place::Vault(id) => Some(id.to_string()),
        _ => None,
    }
}

/// How many prompts the list has, as far as that is known without reading all of them.
async fn count(
    api: &Api,
    session: &Session,
    listing: &Listing,
    vault: Option<&VaultRecord>,
    page: &PromptPage,
) -> Result<String, ApiError> {
    let number = |count| counted(count, "prompt", "prompts");
    let (shown, kind) = (page.prompts.len(), listing.search.kind);
    if listing.search.after.is_none() && !page.more {
        return Ok(number(shown));
    }
    Ok(match (vault, listing.search.place) {
        _ if listing.is_search => format!("Page {}", listing.trail.len() + 1),
        (Some(vault), _) if kind.is_none() => {
            number(usize::try_from(vault.prompt_count).unwrap_or(usize::MAX))
        }
        (None, Place::Anywhere) => {
            match api.store.count_prompts(&session.caller(), kind, COUNT_MAX + 1).await? {
                count if count > COUNT_MAX => format!("more than {COUNT_MAX} prompts"),
                count => number(count),
            }
        }
        _ => format!("Page {}", listing.trail.len() + 1),
    })
}

/// The newest vaults, and `chosen`.
pub(super) async fn vault_choices(
    api: &Api,
    session: &Session,
    chosen: Option<VaultRecord>,
) -> Result<Vec<(String, String)>, ApiError> {
    let mut vaults = api.store.newest_vaults(&session.caller(), VAULTS_MAX).await?;
    vaults.extend(chosen.filter(|chosen| vaults.iter().all(|other| other.id != chosen.id)));
    let choice = |vault: &VaultRecord| (vault.id.to_string(), shortened(&vault.name, 30));
    Ok(vaults.iter().map(choice).collect())
}

fn filter(api: &Api, listing: &Listing, vaults: &[(String, String)]) -> Markup {
    let select = |name: &str, label: &str, all: &[(String, String)]| {
        html! {
            select name=(name) aria-label=(label) {
                option value="" { (label) }
                @for (value, text) in all {
                    option value=(value) dir="auto" selected[*value == listing.entered(name)] { (text) }
                }
            }
        }
    };
    let none = (NO_VAULT.to_owned(), "In no vault".to_owned());
    let vaults = [&[none], vaults].concat();
    let kinds = KINDS.iter().map(|(word, _)| ((*word).to_owned(), (*word).to_owned()));
    html! {
        form .toolbar role="search" action=(api.site.page("prompts")) {
            input #q type="search" name="q" aria-label="Search in title, text and platform"
                placeholder="Search" dir="auto" value=(listing.entered("q"))
                ;
            (select("vaultId", "All vaults", &vaults))
            (select("type", "All types", &kinds.collect::<Vec<_>>()))
            @if listing.is_list() { input type="hidden" name="view" value="list"; }
            button { "Search" }
            span .views {
                @for (view, name) in VIEWS {
                    @let is_current = (*view == "list") == listing.is_list();
                    @let query = listing.entered.iter().filter(|(name, _)| *name != "view");
                    @let query = query.map(|(name, value)| (*name, Some(&**value)));
                    @let fields = query.chain([("view", Some(*view))]).collect::<Vec<_>>();
                    a href=(api.site.page(&address("prompts", &fields)))
                        aria-current=[is_current.then_some("true")] { (name) }
                }
            }
        }
    }
}

fn empty(api: &Api, listing: &Listing) -> Markup {
    html! {
        div .empty {
            @if listing.is_filtered() {
                p { "No prompt matches. " a href=(api.site.page("prompts")) { "Show all prompts" } }
            } @else if listing.search.after.is_some() {
                p { "There are no more prompts. " a href=(api.site.page("prompts")) { "First page" } }
            } @else {
                p { "There is no prompt. Write the first one, or generate a picture." }
                p .buttons {
                    a .button.main href=(api.site.page("prompts/new")) { "New prompt" }
                    a .button href=(api.site.page("generate")) { "Generate a picture" }
                }
            }
        }
    }
}

/// The prompts in a form, so that several can be chosen.
fn choices(api: &Api, listing: &Listing, page: &PromptPage) -> Markup {
    let back = listing.page(api, None, &[]);
    let back = back.split_once('?').map_or("", |(_, query)| query);
    let is_in_vault = matches!(listing.search.place, Place::Vault(_));
    html! {
        form method="post" action=(api.site.page("prompts/chosen")) {
            input type="hidden" name="back" value=(back);
            @if let Some(vault) = vault_of(listing) { input type="hidden" name="from" value=(vault); }
            ul .(if listing.is_list() { "list" } else { "grid" }) {
                @for prompt in &page.prompts {
                    @if listing.is_list() { (row(api, prompt)) } @else { (tile(api, prompt)) }
                }
            }
            div .toolbar.chosen {
                label .choice hidden { input type="checkbox" data-all="id"; "All on this page" }
                span .soft { "With the chosen:" }
                button name="action" value="add" { "Add to vault" }
                @if is_in_vault { button name="action" value="move" { "Move to vault" } }
                button .danger name="action" value="delete" { "Delete" }
            }
        }
    }
}

/// Chooses a prompt. Its name is the title beside it.
fn pick(id: PromptId) -> Markup {
    html! { input .pick type="checkbox" name="id" value=(id) aria-labelledby={ "p" (id) }; }
}

fn row(api: &Api, prompt: &PromptRecord) -> Markup {
    html! {
        li .row {
            (pick(prompt.id))
            @if let Some(image) = thumbnail(api, prompt) { span .thumb { (image) } }
            div {
                a .title #{ "p" (prompt.id) } href=(prompt_address(api, prompt.id)) {
                    (titled(&prompt.title, 100))
                }
                p .soft { (facts(api, prompt)) " " (copy_text(api, prompt)) }
            }
        }
    }
}

/// A picture, or the beginning of the text.
fn tile(api: &Api, prompt: &PromptRecord) -> Markup {
    html! {
        li .tile {
            @match thumbnail(api, prompt) {
                Some(image) => a .cover href=(prompt_address(api, prompt.id)) tabindex="-1"
                    aria-hidden="true" { (image) },
                None => p .cover.text { (typed(&prompt.text, 100)) },
            }
            div {
                (pick(prompt.id))
                a .title #{ "p" (prompt.id) } href=(prompt_address(api, prompt.id)) {
                    (titled(&prompt.title, 80))
                }
            }
            p .soft { (facts(api, prompt)) " " (copy_text(api, prompt)) }
        }
    }
}

/// Copies the whole text, which is not in the list.
fn copy_text(api: &Api, prompt: &PromptRecord) -> Markup {
    let from = api.site.page(&format!("prompts/{}/text", prompt.id));
    html! {
        button .link type="button" data-copy data-from=(from) aria-describedby={ "p" (prompt.id) } hidden {
            "Copy"
        }
    }
}

fn facts(api: &Api, prompt: &PromptRecord) -> Markup {
    let pictures = prompt.images.len();
    html! {
        @if prompt.kind == PromptKind::Text || pictures == 0 { (prompt.kind.as_str()) }
        @else { (counted(pictures, "picture", "pictures")) }
        @if let Some(platform) = &prompt.platform { " · " (typed(platform, 30)) }
        " · " (ago(api, prompt.created_at))
    }
}

/// The pictures of the newest prompts with one, for the overview.
pub(super) fn gallery(api: &Api, prompts: &[std::sync::Arc<PromptRecord>]) -> Markup {
    let tiles = prompts.iter().filter(|prompt| thumbnail(api, prompt).is_some());
    let tiles = tiles.map(|prompt| {
        html! {
            li .tile {
                a .title.cover href=(prompt_address(api, prompt.id)) {
                    @if let Some(image) = thumbnail(api, prompt) { (image) }
                }
            }
        }
    });
    let tiles: String = tiles.map(PreEscaped::into_string).collect();
    html! { ul .grid { (PreEscaped(tiles)) } }
}

/// The vault with this id in a form or query, to name it.
pub(super) async fn named_vault(
    api: &Api,
    session: &Session,
    id: &str,
) -> Result<Option<VaultRecord>, ApiError> {
    match id.parse().map(VaultId::new) {
        Ok(id) => Ok(Some(api.store.vault(&session.caller(), id).await?)),
        Err(_) => Ok(None),
    }
}
