//! The forms to make, change and delete a vault.

use maud::html;
use promptarium::VaultId;

use super::forms::{Entered, Field, Form, Input};
use super::layout::{confirm_page, done_address};
use super::parts::titled;
use super::visit::Visit;
use crate::api::HandlerResult;
use crate::api::vaults::{FIELDS, new_vault};
use crate::domain::{NewVault, VaultPatch, VaultRecord, VaultVisibility};
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

pub(crate) async fn new(visit: Visit<'_>) -> HandlerResult {
    form(&visit, None, &Entered::new([("visibility", "private")]))
}

pub(crate) async fn create(mut visit: Visit<'_>) -> HandlerResult {
    let body = visit.form().await?;
    let created = visit.once(&body, async || {
        let new = form_fields(&body, FIELDS).read(new_vault)?;
        let vault = visit.store().create_vault(&visit.caller, new).await?;
        Ok(done_address(&format!("vaults/{}", vault.id), "vault-created"))
    });
    match created.await {
        Ok(page) => visit.redirect(&page),
        Err(error) => form(&visit, None, &visit.refused(&body, error)?),
    }
}

pub(crate) async fn edit(visit: Visit<'_>) -> HandlerResult {
    let vault = visit.store().vault(&visit.caller, visit.request.id(0)?).await?;
    let entered = Entered::new([
        ("name", &*vault.name),
        ("description", vault.description.as_deref().unwrap_or_default()),
        ("visibility", vault.visibility.as_str()),
    ]);
    form(&visit, Some(&vault), &entered)
}

pub(crate) async fn change(mut visit: Visit<'_>) -> HandlerResult {
    let id = visit.request.id::<VaultId>(0)?;
    let body = visit.form().await?;
    let vault = visit.store().vault(&visit.caller, id).await?;
    let changed = async {
        let new = form_fields(&body, FIELDS).read(new_vault)?;
        let NewVault { name, description, visibility } = new;
        let (name, description, visibility) = (Some(name), Some(description), Some(visibility));
        let cover_image = (Entered::parse(&body).value("cover") == "none").then_some(None);
        let patch = VaultPatch { name, description, visibility, cover_image };
        visit.store().update_vault(&visit.caller, id, patch).await?;
        Ok::<_, ApiError>(())
    };
    match changed.await {
        Ok(()) => visit.done(&format!("vaults/{id}"), "vault-changed"),
        Err(error) => form(&visit, Some(&vault), &visit.refused(&body, error)?),
    }
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

pub(crate) async fn confirm(visit: Visit<'_>) -> HandlerResult {
    let vault = visit.store().vault(&visit.caller, visit.request.id(0)?).await?;
    let question = html! {
        "Delete the vault " strong { (titled(&vault.name, 60)) } "? Its prompts stay. This cannot be "
        "undone."
    };
    let (page, back) = (visit.page("vaults", "Delete a vault"), format!("vaults/{}", vault.id));
    confirm_page(&page, &question, ("Delete this vault", Vec::new()), &back)
}

pub(crate) async fn delete(visit: Visit<'_>) -> HandlerResult {
    visit.store().delete_vault(&visit.caller, visit.request.id(0)?).await?;
    visit.done("vaults", "vault-deleted")
}
