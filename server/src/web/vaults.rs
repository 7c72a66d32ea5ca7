//! Vaults: the list, the forms to make, change and delete one, and what is in it.

use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use promptarium::{VaultId, VaultPromptId};

use super::forms::Entered;
use super::layout::{Page, done};
use super::parts::{
    address, ago, copy_button, counted, pager, prompt_address, shortened, titled, typed,
    vault_address,
};
use super::pictures::{cover, thumbnail};
use super::prompts::vault_choices;
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{
    Caller, ListedPrompt, SessionRecord, VaultPatch, VaultRecord, VaultVisibility,
};
use crate::http::error::ApiError;

/// Vaults or prompts in a page.
pub(super) const PAGE: usize = 20;
/// Further pages would skip so many rows that a program should use the API.
const PAGES_MAX: usize = 1_000;

/// The page of a vault that anybody can read.
pub(super) fn public_address(account: &str, slug: &str) -> String {
    format!("v/{}/{slug}", utf8_percent_encode(account, NON_ALPHANUMERIC))
}

/// The field `page` of a query, from 0.
pub(super) fn page_number(query: &Entered<'_>) -> Result<usize, ApiError> {
    let number = match query.value("page") {
        "" => 0,
        text => text.parse().map_err(|_| ApiError::NotFound)?,
    };
    if number < PAGES_MAX { Ok(number) } else { Err(ApiError::NotFound) }
}

pub(super) fn entered_query<'a>(request: &Request<'a>) -> Entered<'a> {
    Entered::parse(request.parts.uri.query().unwrap_or_default().as_bytes())
}

/// Links to the pages around this one of a list with so many entries.
pub(super) fn pages(api: &Api, page: &str, number: usize, count: u64, text: &str) -> Markup {
    let link = |number: usize| {
        let number = number.to_string();
        api.site.page(&address(page, &[("page", Some(&number))]))
    };
    let next = (count > ((number + 1) * PAGE) as u64).then(|| link(number + 1));
    pager(number.checked_sub(1).map(link).as_deref(), text, next.as_deref())
}

/// `GET /vaults`, newest first as in the API.
pub(crate) async fn list(
    api: &Api,
    session: &SessionRecord,
    request: Request<'_>,
) -> HandlerResult {
    let number = page_number(&entered_query(&request))?;
    let vaults = api.store.vaults(&session.caller()).await?;
    let count = vaults.len();
    let content = html! {
        ul .grid { @for vault in vaults.iter().skip(number * PAGE).take(PAGE) { (tile(api, vault)) } }
        (pages(api, "vaults", number, count as u64, &counted(count, "vault", "vaults")))
    };
    let mut page = Page::of(&api.site, session, "vaults", "Vaults").after(request.parts);
    page.actions =
        Some(html! { a .button.main href=(api.site.page("vaults/new")) { "New vault" } });
    page.show(&content)
}

fn tile(api: &Api, vault: &VaultRecord) -> Markup {
    let picture = vault.cover_image.as_ref().and_then(|image| cover(api, &vault.name, image, None));
    let link = vault_address(api, vault.id);
    html! {
        li .tile {
            div .cover { @if let Some(picture) = picture { (picture) } }
            a .title href=(link) { (titled(&vault.name, 60)) }
            @if let Some(description) = &vault.description { p { (typed(description, 80)) } }
            p .soft { (facts(api, vault)) }
        }
    }
}

/// "3 prompts"
pub(super) fn size(vault: &VaultRecord) -> String {
    let count = usize::try_from(vault.prompt_count).unwrap_or(usize::MAX);
    counted(count, "prompt", "prompts")
}

fn facts(api: &Api, vault: &VaultRecord) -> Markup {
    html! {
        (size(vault)) " · " (vault.visibility.as_str())
        " · created " (ago(api, vault.created_at))
    }
}

/// `GET /vaults/{vaultId}`.
pub(crate) async fn show(
    api: &Api,
    session: &SessionRecord,
    request: Request<'_>,
) -> HandlerResult {
    let (caller, id) = (session.caller(), request.id::<VaultId>(0)?);
    let number = page_number(&entered_query(&request))?;
    let vault = api.store.vault(&caller, id).await?;
    let prompts = api.store.vault_page(caller.account, id, number * PAGE, PAGE).await?;
    let own = id.to_string();
    let mut others = vault_choices(api, session, None).await?;
    others.retain(|(other, _)| *other != own);
    let count = vault.prompt_count;
    let link = |page: &str, text: &str| {
        html! { a .button href=(api.site.page(&format!("{page}{id}"))) { (text) } }
    };
    let content = html! {
        @if let Some(description) = &vault.description { p dir="auto" { (description) } }
        p .soft { (facts(api, &vault)) }
        @if vault.visibility != VaultVisibility::Private { (share(api, session, &vault)) }
        @if prompts.is_empty() {
            div .empty {
                p { "There is no prompt in this vault." }
                p { a href=(api.site.page("prompts")) { "Choose prompts to add" } }
            }
        } @else {
            (contents(api, &vault, &prompts, &others, number))
        }
        (pages(api, &format!("vaults/{id}"), number, count, &size(&vault)))
    };
    let title = shortened(&vault.name, 60);
    let mut page = Page::of(&api.site, session, "vaults", &title).after(request.parts);
    page.actions = Some(html! {
        (link("prompts/new?vaultId=", "New prompt"))
        (link("uploads?vaultId=", "Upload a picture"))
        a .button href=(api.site.page(&format!("vaults/{id}/edit"))) { "Edit" }
        @if !vault.system { a .button href=(api.site.page(&format!("vaults/{id}/delete"))) { "Delete" } }
    });
    page.show(&content)
}

/// The address that the owner gives to others.
fn share(api: &Api, session: &SessionRecord, vault: &VaultRecord) -> Markup {
    let page = public_address(&session.account_name, &vault.slug);
    let root = api.base_url.trim_end_matches(crate::domain::BASE_PATH);
    html! {
        div .card {
            p { "Everybody can see this vault at:" }
            p { a #share href=(api.site.page(&page)) { (root) "/" (page) } " " (copy_button("share", "Copy the address")) }
        }
    }
}

/// The prompts, and one form to pin, move and remove those that are chosen.
fn contents(
    api: &Api,
    vault: &VaultRecord,
    prompts: &[ListedPrompt],
    others: &[(String, String)],
    number: usize,
) -> Markup {
    let action = format!("vaults/{}/prompts", vault.id);
    let button =
        |action: &str, text: &str| html! { button name="action" value=(action) { (text) } };
    html! {
        form method="post" action=(api.site.page(&action)) {
            input type="hidden" name="page" value=(number);
            div .toolbar {
                label .choice hidden { input type="checkbox" data-all="vaultPromptId"; "Choose all" }
                (button("pin", "Pin")) (button("unpin", "Unpin"))
                (button("cover", "Use as cover")) (button("remove", "Remove from vault"))
                @if !others.is_empty() {
                    label .unseen for="target" { "Vault to move to" }
                    select #target name="targetVaultId" {
                        @for (id, name) in others { option value=(id) dir="auto" { (name) } }
                    }
                    (button("move", "Move"))
                }
            }
            ul .grid {
                @for ListedPrompt { prompt, membership, pinned } in prompts {
                    li .tile {
                        @if let Some(picture) = thumbnail(api, prompt) { div .cover { (picture) } }
                        div {
                            input dir="auto" type="checkbox" name="vaultPromptId" value=(membership)
                                aria-label={ "Choose " (shortened(&prompt.title, 60)) };
                            a .title href=(prompt_address(api, prompt.id)) { (titled(&prompt.title, 100)) }
                        }
                        p .soft {
                            @if *pinned { strong { "Pinned" } " · " }
                            (prompt.kind.as_str()) " · " (ago(api, prompt.created_at))
                        }
                    }
                }
            }
        }
    }
}

/// `POST /vaults/{vaultId}/prompts`.
pub(crate) async fn apply(
    api: &Api,
    session: &SessionRecord,
    mut request: Request<'_>,
) -> HandlerResult {
    let (caller, vault) = (session.caller(), request.id::<VaultId>(0)?);
    let body = request.form().await?;
    let entered = Entered::parse(&body);
    let ids = entered.all("vaultPromptId").map(|id| id.parse().map(VaultPromptId::new));
    let chosen = ids.take(PAGE).collect::<Result<Vec<_>, _>>().map_err(|_| ApiError::NotFound)?;
    let number = page_number(&entered)?.to_string();
    let page = address(&format!("vaults/{vault}"), &[("page", Some(&*number))]);
    let Some(first) = chosen.first() else { return done(&api.site, &page, "none-chosen") };
    let store = &api.store;
    let code = match entered.value("action") {
        action @ ("pin" | "unpin") => {
            // The first one is pinned last, so that it comes first.
            for id in chosen.iter().rev() {
                store.set_pinned(&caller, vault, *id, action == "pin").await?;
            }
            if action == "pin" { "pinned" } else { "unpinned" }
        }
        "remove" => {
            for id in &chosen {
                store.remove_membership(&caller, vault, *id).await?;
            }
            "prompts-removed"
        }
        "move" => {
            let target = entered.value("targetVaultId").parse().map(VaultId::new);
            let target = target.map_err(|_| ApiError::NotFound)?;
            for id in chosen.iter().rev() {
                store.move_membership(&caller, vault, *id, target).await?;
            }
            "prompts-moved"
        }
        "cover" => {
            let number = page_number(&entered)?;
            set_cover(api, &caller, vault, *first, number).await?
        }
        _ => return Err(ApiError::NotFound),
    };
    done(&api.site, &page, code)
}

/// Makes the newest picture of a prompt the cover. Returns what was done.
async fn set_cover(
    api: &Api,
    caller: &Caller,
    vault: VaultId,
    member: VaultPromptId,
    number: usize,
) -> Result<&'static str, ApiError> {
    api.store.vault(caller, vault).await?;
    let prompts = api.store.vault_page(caller.account, vault, number * PAGE, PAGE).await?;
    let chosen = prompts.iter().find(|listed| listed.membership == member);
    let Some(image) = chosen.and_then(|listed| listed.prompt.images.last()) else {
        return Ok("no-picture");
    };
    let cover_image = Some(Some(image.source.clone()));
    api.store
        .update_vault(caller, vault, VaultPatch { cover_image, ..VaultPatch::default() })
        .await?;
    Ok("cover-set")
}
