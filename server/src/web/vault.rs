//! The forms to make, change and delete a vault.

use maud::html;
use promptarium::VaultId;

use super::forms::{Entered, Field, Input, confirm_page, once};
use super::layout::{Page, done, done_address};
use super::parts::titled;
use crate::api::vaults::{FIELDS, VISIBILITIES, new_vault};
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{NewVault, SessionRecord, VaultPatch, VaultRecord};
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
const _: () = assert!(MEANINGS.len() == VISIBILITIES.len());

/// `GET /vaults/new`.
pub(crate) async fn new(api: &Api, session: &SessionRecord, _: Request<'_>) -> HandlerResult {
    form(api, session, None, &Entered::new(&[("visibility", "private")]))
}

/// `POST /vaults/new`.
pub(crate) async fn create(
    api: &Api,
    session: &SessionRecord,
    mut request: Request<'_>,
) -> HandlerResult {
    let body = request.form().await?;
    let created = once(api, session, &body, async || {
        let new = new_vault(form_fields(&body, FIELDS))?;
        let vault = api.store.create_vault(&session.caller(), new).await?;
        Ok(done_address(&format!("vaults/{}", vault.id), "vault-created"))
    });
    match created.await {
        Err(error) => form(api, session, None, &Entered::refused(&body, error, request.parts)?),
        created => created,
    }
}

/// `GET /vaults/{vaultId}/edit`.
pub(crate) async fn edit(
    api: &Api,
    session: &SessionRecord,
    request: Request<'_>,
) -> HandlerResult {
    let vault = api.store.vault(&session.caller(), request.id(0)?).await?;
    let values = [
        ("name", &*vault.name),
        ("description", vault.description.as_deref().unwrap_or_default()),
        ("visibility", vault.visibility.as_str()),
    ];
    form(api, session, Some(&vault), &Entered::new(&values))
}

/// `POST /vaults/{vaultId}/edit`.
pub(crate) async fn change(
    api: &Api,
    session: &SessionRecord,
    mut request: Request<'_>,
) -> HandlerResult {
    let (caller, id) = (session.caller(), request.id::<VaultId>(0)?);
    let body = request.form().await?;
    let vault = api.store.vault(&caller, id).await?;
    let changed = async {
        let NewVault { name, description, visibility } = new_vault(form_fields(&body, FIELDS))?;
        let (name, description, visibility) = (Some(name), Some(description), Some(visibility));
        let cover_image = (Entered::parse(&body).value("cover") == "none").then_some(None);
        let patch = VaultPatch { name, description, visibility, cover_image };
        api.store.update_vault(&caller, id, patch).await?;
        Ok::<_, ApiError>(())
    };
    match changed.await {
        Ok(()) => done(&api.site, &format!("vaults/{id}"), "vault-changed"),
        Err(error) => {
            form(api, session, Some(&vault), &Entered::refused(&body, error, request.parts)?)
        }
    }
}

fn form(
    api: &Api,
    session: &SessionRecord,
    vault: Option<&VaultRecord>,
    entered: &Entered<'_>,
) -> HandlerResult {
    let name = Field::new("name", "Name", Input::Line).required();
    let name = match vault {
        Some(vault) if vault.system => name.help("The name of this vault stays as it is."),
        _ => name,
    };
    let fields = [
        name,
        Field::new("description", "Description", Input::Text { rows: 2 })
            .help("At most 200 characters"),
        Field::new("visibility", "Who can see it", Input::Radios(&MEANINGS)),
    ];
    let labels = fields.iter().map(Field::label).collect::<Vec<_>>();
    let (action, title, button) = match vault {
        None => ("vaults/new".to_owned(), "New vault", "Create vault"),
        Some(vault) => (format!("vaults/{}/edit", vault.id), "Edit vault", "Save changes"),
    };
    let back = vault.map_or_else(|| "vaults".to_owned(), |vault| format!("vaults/{}", vault.id));
    let content = html! {
        (entered.summary(&labels))
        form .fields method="post" action=(api.site.page(&action)) {
            (entered.token())
            @for field in &fields { div .wide { (entered.field(field)) } }
            @if vault.is_some_and(|vault| vault.cover_image.is_some()) {
                label .choice.wide {
                    input type="checkbox" name="cover" value="none"; " Remove the cover"
                }
            }
            div .buttons {
                button .main { (button) }
                a .button href=(api.site.page(&back)) { "Cancel" }
            }
        }
    };
    Ok(Page::of(&api.site, session, "vaults", title).response(entered.status(), &content))
}

/// `GET /vaults/{vaultId}/delete`.
pub(crate) async fn confirm(
    api: &Api,
    session: &SessionRecord,
    request: Request<'_>,
) -> HandlerResult {
    let vault = api.store.vault(&session.caller(), request.id(0)?).await?;
    let question = html! {
        "Delete the vault " strong { (titled(&vault.name, 60)) } "? Its prompts stay. This cannot be "
        "undone."
    };
    let page = Page::of(&api.site, session, "vaults", "Delete a vault");
    let (action, back) = (format!("vaults/{}/delete", vault.id), format!("vaults/{}", vault.id));
    confirm_page(&page, &question, (&action, &html! {}, "Delete this vault"), &back)
}

/// `POST /vaults/{vaultId}/delete`.
pub(crate) async fn delete(
    api: &Api,
    session: &SessionRecord,
    request: Request<'_>,
) -> HandlerResult {
    api.store.delete_vault(&session.caller(), request.id(0)?).await?;
    done(&api.site, "vaults", "vault-deleted")
}
