//! Vaults: the list, what is in one, and the forms to make, change and delete one.

use std::future::ready;

use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use promptarium::VaultId;
use serde_json::json;

use super::forms::{Entered, Field, Form, Input};
use super::layout::done_address;
use super::parts::{
    PAGE, address, ago, copy_button, counted, page_number, pages, shortened, tile, titled, typed,
    vault_address,
};
use super::pictures::cover;
use super::prompts::{entry, vault_choices};
use super::visit::Visit;
use crate::api::vaults::{FIELDS, new_vault};
use crate::api::{Api, HandlerResult};
use crate::domain::{
    BASE_PATH, ListedPrompt, Membership, NewVault, VaultPatch, VaultRecord, VaultVisibility,
};
use crate::http::error::ApiError;
use crate::http::validate::form_fields;

/// What each visibility means, where it is chosen.
const MEANINGS: [(&str, &str, &str); 3] = [
    ("private", "Private", "Only you can see it."),
    (
        "unlisted",
        "Unlisted",
        "Everybody who has its address can see and copy it. Search engines are asked to leave it out.",
    ),
    ("public", "Public", "Everybody can see and copy it, and search engines may list it."),
];
const _: () = assert!(MEANINGS.len() == VaultVisibility::ALL.len());

/// The page of a vault that anybody can read.
pub(super) fn public_address(account: &str, slug: &str) -> String {
    format!("v/{}/{slug}", utf8_percent_encode(account, NON_ALPHANUMERIC))
}

/// `GET /vaults`, newest first as in the API.
pub(crate) async fn list(visit: Visit<'_>) -> HandlerResult {
    let (api, number) = (visit.api, page_number(&visit.entered)?);
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
    let number = page_number(&visit.entered)?;
    let vault = visit.store().vault(&visit.caller, id).await?;
    let account = visit.caller.account;
    let prompts = visit.store().vault_page(account, id, number * PAGE, PAGE).await?;
    let own = format!("vaults/{id}");
    let contents = contents(&visit, &own, &prompts, number).await?;
    let content = html! {
        @if let Some(description) = &vault.description { p dir="auto" { (description) } }
        p .soft { (facts(api, &vault)) }
        @if vault.visibility != VaultVisibility::Private {
            @let page = public_address(&visit.session.account_name, &vault.slug);
            div .card {
                p { "Everybody can see this vault at:" }
                p {
                    a #share href=(visit.at(&page)) {
                        (api.base_url.trim_end_matches(BASE_PATH)) "/" (page)
                    }
                    " " (copy_button("share", "Copy the address"))
                }
            }
        }
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
            ul .grid {
                @for ListedPrompt { prompt, membership, pinned } in prompts {
                    (entry(visit.api, prompt, ("vaultPromptId", membership.get()), *pinned))
                }
            }
        }
    })
}

pub(crate) async fn apply(visit: Visit<'_>) -> HandlerResult {
    let vault = visit.request.id::<VaultId>(0)?;
    let (store, caller, entered) = (visit.store(), &visit.caller, &visit.entered);
    let chosen = entered.ids("vaultPromptId", PAGE).ok_or(ApiError::NotFound)?;
    let number = page_number(entered)?;
    let page = address(&format!("vaults/{vault}"), [("page", &*number.to_string())]);
    let Some(first) = chosen.first() else { return visit.done(&page, "none-chosen") };
    let action = entered.value("action");
    // The newest picture of the first prompt.
    if action == "cover" {
        store.vault(caller, vault).await?;
        let prompts = store.vault_page(caller.account, vault, number * PAGE, PAGE).await?;
        let listed = prompts.iter().find(|listed| listed.membership == *first);
        let Some(image) = listed.and_then(|listed| listed.prompt.images.last()) else {
            return visit.done(&page, "no-picture");
        };
        let cover_image = Some(Some(image.source.clone()));
        let patch = VaultPatch { cover_image, ..VaultPatch::default() };
        store.update_vault(caller, vault, patch).await?;
        return visit.done(&page, action);
    }
    let target = entered.id::<VaultId>("targetVaultId");
    // The first one is pinned or moved last, so that it comes first.
    for id in chosen.iter().rev() {
        let at = Membership { vault, id: *id };
        match (action, target) {
            ("pin" | "unpin", _) => store.set_pinned(caller, at, action == "pin").await?,
            ("remove", _) => store.remove_membership(caller, at).await?,
            ("move", Some(to)) => drop(store.move_membership(caller, at, to).await?),
            _ => return Err(ApiError::NotFound),
        }
    }
    visit.done(&page, if action == "move" { "prompts-moved" } else { action })
}

pub(crate) async fn new(visit: Visit<'_>) -> HandlerResult {
    let created = visit.once(async || {
        let new = form_fields(&visit.sent, FIELDS).read(new_vault)?;
        let vault = visit.store().create_vault(&visit.caller, new).await?;
        Ok(done_address(&format!("vaults/{}", vault.id), "vault-created"))
    });
    let values = Entered::of(json!({ "visibility": "private" }));
    visit.form(values, created, |entered| ready(form(&visit, None, &entered))).await
}

pub(crate) async fn edit(visit: Visit<'_>) -> HandlerResult {
    let vault = visit.store().vault(&visit.caller, visit.request.id(0)?).await?;
    let values = Entered::of(json!({
        "name": *vault.name,
        "description": vault.description.as_deref(),
        "visibility": vault.visibility.as_str(),
    }));
    let changed = async {
        let NewVault { name, description, visibility } =
            form_fields(&visit.sent, FIELDS).read(new_vault)?;
        let (name, description, visibility) = (Some(name), Some(description), Some(visibility));
        let cover_image = (visit.entered.value("cover") == "none").then_some(None);
        let patch = VaultPatch { name, description, visibility, cover_image };
        visit.store().update_vault(&visit.caller, vault.id, patch).await?;
        Ok(done_address(&format!("vaults/{}", vault.id), "vault-changed"))
    };
    visit.form(values, changed, |entered| ready(form(&visit, Some(&vault), &entered))).await
}

fn form(visit: &Visit<'_>, vault: Option<&VaultRecord>, entered: &Entered) -> HandlerResult {
    let is_system = vault.is_some_and(|vault| vault.system);
    let fixed = if is_system { "The name of this vault stays as it is." } else { "" };
    let mut fields = vec![
        Field::new("name", "Name", Input::WideLine).required().help(fixed),
        Field::new("description", "Description", Input::Text(2)).help("At most 200 characters"),
        Field::new("visibility", "Who can see it", Input::Radios(&MEANINGS)),
    ];
    if vault.is_some_and(|vault| vault.cover_image.is_some()) {
        fields.push(Field::new("cover", "Remove the cover", Input::Check("none")));
    }
    let (back, title, button) = match vault {
        None => ("vaults".to_owned(), "New vault", "Create vault"),
        Some(vault) => (format!("vaults/{}", vault.id), "Edit vault", "Save changes"),
    };
    let form = Form { back: Some(&back), ..Form::new(button, fields) };
    visit.page("vaults", title).show_form(entered, &form)
}

pub(crate) async fn delete(visit: Visit<'_>) -> HandlerResult {
    let vault = visit.store().vault(&visit.caller, visit.request.id(0)?).await?;
    if visit.is_sent() {
        visit.store().delete_vault(&visit.caller, vault.id).await?;
        return visit.done("vaults", "vault-deleted");
    }
    let question = html! {
        "Delete the vault " strong { (titled(&vault.name, 60)) } "? Its prompts stay. This cannot be "
        "undone."
    };
    let page = visit.page("vaults", "Delete a vault");
    page.confirm(&question, ("Delete this vault", Vec::new()), &format!("vaults/{}", vault.id))
}
