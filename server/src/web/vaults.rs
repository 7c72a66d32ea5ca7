//! Vaults: the list, and what is in one.

use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use promptarium::{VaultId, VaultPromptId};

use super::forms::Entered;
use super::parts::{
    PAGE, address, ago, copy_button, counted, page_number, pages, prompt_address, shortened, tile,
    titled, typed, vault_address,
};
use super::pictures::{cover, thumbnail};
use super::prompts::vault_choices;
use super::visit::Visit;
use crate::api::{Api, HandlerResult};
use crate::domain::{
    BASE_PATH, ListedPrompt, Membership, VaultPatch, VaultRecord, VaultVisibility,
};
use crate::http::error::ApiError;

/// The page of a vault that anybody can read.
pub(super) fn public_address(account: &str, slug: &str) -> String {
    format!("v/{}/{slug}", utf8_percent_encode(account, NON_ALPHANUMERIC))
}

/// `GET /vaults`, newest first as in the API.
pub(crate) async fn list(visit: Visit<'_>) -> HandlerResult {
    let (api, number) = (visit.api, page_number(&visit.query())?);
    let vaults = visit.store().vaults(&visit.caller).await?;
    let count = vaults.len();
    let content = html! {
        ul .grid {
            @for vault in vaults.iter().skip(number * PAGE).take(PAGE) { (vault_tile(api, vault)) }
        }
        (pages(api, "vaults", number, count as u64, &counted(count, "vault", "vaults")))
    };
    let page = visit.page("vaults", "Vaults");
    page.with_actions(visit.main_button("vaults/new", "New vault")).show(&content)
}

fn vault_tile(api: &Api, vault: &VaultRecord) -> Markup {
    let picture = vault.cover_image.as_ref().and_then(|image| cover(api, &vault.name, image, None));
    let below = html! {
        a .title href=(vault_address(api, vault.id)) { (titled(&vault.name, 60)) }
        @if let Some(description) = &vault.description { p { (typed(description, 80)) } }
        p .soft { (facts(api, vault)) }
    };
    tile(Some(&picture.unwrap_or_default()), &below)
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

pub(crate) async fn show(visit: Visit<'_>) -> HandlerResult {
    let (api, id) = (visit.api, visit.request.id::<VaultId>(0)?);
    let number = page_number(&visit.query())?;
    let vault = visit.store().vault(&visit.caller, id).await?;
    let account = visit.caller.account;
    let prompts = visit.store().vault_page(account, id, number * PAGE, PAGE).await?;
    let own = format!("vaults/{id}");
    let contents = contents(&visit, &own, &prompts, number).await?;
    let content = html! {
        @if let Some(description) = &vault.description { p dir="auto" { (description) } }
        p .soft { (facts(api, &vault)) }
        @if vault.visibility != VaultVisibility::Private { (share(&visit, &vault)) }
        @if prompts.is_empty() {
            div .empty {
                p { "There is no prompt in this vault." }
                p { (visit.link("prompts", "Choose prompts to add")) }
            }
        } @else {
            (contents)
        }
        (pages(api, &own, number, vault.prompt_count, &size(&vault)))
    };
    let page = visit.page("vaults", shortened(&vault.name, 60));
    page.with_actions(html! {
        (visit.button(&format!("prompts/new?vaultId={id}"), "New prompt"))
        (visit.button(&format!("uploads?vaultId={id}"), "Upload a picture"))
        (visit.button(&format!("{own}/edit"), "Edit"))
        @if !vault.system { (visit.button(&format!("{own}/delete"), "Delete")) }
    })
    .show(&content)
}

/// The address that the owner gives to others.
fn share(Visit { api, session, .. }: &Visit<'_>, vault: &VaultRecord) -> Markup {
    let page = public_address(&session.account_name, &vault.slug);
    let root = api.base_url.trim_end_matches(BASE_PATH);
    html! {
        div .card {
            p { "Everybody can see this vault at:" }
            p { a #share href=(api.site.page(&page)) { (root) "/" (page) } " " (copy_button("share", "Copy the address")) }
        }
    }
}

/// The prompts, and one form to pin, move and remove those that are chosen.
async fn contents(
    visit: &Visit<'_>,
    own: &str,
    prompts: &[ListedPrompt],
    number: usize,
) -> Result<Markup, ApiError> {
    let mut others = vault_choices(visit, None).await?;
    others.retain(|(other, _)| own != format!("vaults/{other}"));
    let button =
        |action: &str, text: &str| html! { button name="action" value=(action) { (text) } };
    Ok(html! {
        form method="post" action=(visit.at(&format!("{own}/prompts"))) {
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
            ul .grid { @for listed in prompts { (prompt_tile(visit.api, listed)) } }
        }
    })
}

fn prompt_tile(api: &Api, ListedPrompt { prompt, membership, pinned }: &ListedPrompt) -> Markup {
    let below = html! {
        div {
            input dir="auto" type="checkbox" name="vaultPromptId" value=(membership)
                aria-label={ "Choose " (shortened(&prompt.title, 60)) };
            a .title href=(prompt_address(api, prompt.id)) { (titled(&prompt.title, 100)) }
        }
        p .soft {
            @if *pinned { strong { "Pinned" } " · " }
            (prompt.kind.as_str()) " · " (ago(api, prompt.created_at))
        }
    };
    tile(thumbnail(api, prompt).as_ref(), &below)
}

pub(crate) async fn apply(mut visit: Visit<'_>) -> HandlerResult {
    let vault = visit.request.id::<VaultId>(0)?;
    let body = visit.form().await?;
    let (store, caller) = (visit.store(), &visit.caller);
    let entered = Entered::parse(&body);
    let ids = entered.all("vaultPromptId").map(|id| id.parse().map(VaultPromptId::new));
    let chosen = ids.take(PAGE).map(|id| id.map(|id| Membership { vault, id }));
    let chosen = chosen.collect::<Result<Vec<_>, _>>().map_err(|_| ApiError::NotFound)?;
    let number = page_number(&entered)?;
    let page = address(&format!("vaults/{vault}"), [("page", &*number.to_string())]);
    let Some(first) = chosen.first() else { return visit.done(&page, "none-chosen") };
    let code = match entered.value("action") {
        action @ ("pin" | "unpin") => {
            // The first one is pinned last, so that it comes first.
            for at in chosen.iter().rev() {
                store.set_pinned(caller, *at, action == "pin").await?;
            }
            if action == "pin" { "pinned" } else { "unpinned" }
        }
        "remove" => {
            for at in &chosen {
                store.remove_membership(caller, *at).await?;
            }
            "prompts-removed"
        }
        "move" => {
            let target = entered.value("targetVaultId").parse().map(VaultId::new);
            let target = target.map_err(|_| ApiError::NotFound)?;
            for at in chosen.iter().rev() {
                store.move_membership(caller, *at, target).await?;
            }
            "prompts-moved"
        }
        // The newest picture of the first prompt.
        "cover" => {
            store.vault(caller, vault).await?;
            let prompts = store.vault_page(caller.account, vault, number * PAGE, PAGE).await?;
            let listed = prompts.iter().find(|listed| listed.membership == first.id);
            match listed.and_then(|listed| listed.prompt.images.last()) {
                None => "no-picture",
                Some(image) => {
                    let cover_image = Some(Some(image.source.clone()));
                    let patch = VaultPatch { cover_image, ..VaultPatch::default() };
                    store.update_vault(caller, vault, patch).await?;
                    "cover-set"
                }
            }
        }
        _ => return Err(ApiError::NotFound),
    };
    visit.done(&page, code)
}
