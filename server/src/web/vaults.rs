//! Vaults: the list, what is in one, and the forms to make, change and delete one.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::chosen;
use super::prelude::*;
use super::prompts::{entry, vault_choices};
use crate::api::vaults::{FIELDS, new_vault};

const MEANINGS: [(&str, &str); 3] = [
    ("private", "Only you can see it."),
    (
        "unlisted",
        "Everybody with its address can see and copy it. Search engines should not list it.",
    ),
    ("public", "Everybody can see and copy it, and search engines may list it."),
];
const _: () = assert!(MEANINGS.len() == VaultVisibility::ALL.len());

/// Image prompts of a vault that are looked through for a picture.
const COVERS_TRIED: usize = 4;

/// The page of a vault that anybody can read.
pub(super) fn public_address(account: &str, slug: &str) -> String {
    format!("v/{}/{slug}", utf8_percent_encode(account, NON_ALPHANUMERIC))
}

/// `GET /vaults`, newest first as in the API.
pub(crate) async fn list(visit: Visit<'_>) -> HandlerResult {
    let number = page_number(&visit.entered)?;
    let vaults = visit.store().vaults(&visit.caller).await?;
    let count = vaults.len();
    let shown = vaults.iter().skip(number * PAGE).take(PAGE);
    let covers = join_all(shown.clone().map(|vault| picture_of(&visit, vault))).await;
    let content = html! {
        ul .grid {
            @for (vault, picture) in shown.zip(covers) {
                (tile(picture.as_ref(), &html! {
                    a .title href=(visit.at(&page_of(vault))) { (titled(&vault.name, 60)) }
                    @if let Some(description) = &vault.description { p { (typed(description, 80)) } }
                    p .soft { (facts(&visit, vault)) }
                }))
            }
        }
        (pages(visit.api, "vaults", number, count as u64, &counted(count, "vault")))
    };
    let page = visit.page("vaults", "Vaults");
    page.with_actions(visit.button("vaults/new", "New vault")).show(&content)
}

/// The cover of a vault: the chosen one, or its newest picture, if there is one.
async fn picture_of(visit: &Visit<'_>, vault: &VaultRecord) -> Option<Markup> {
    if let Some(image) = &vault.cover_image {
        return cover(visit.api, &vault.name, image, None);
    }
    let (vault, kind) = (Some(vault.id), Some(PromptKind::Image));
    let newest = PromptQuery { vault, kind, after: None, limit: COVERS_TRIED };
    let page = visit.store().list_prompts(&visit.caller, newest).await.ok()?;
    page.prompts.iter().find_map(|prompt| thumbnail(visit.api, prompt))
}

fn page_of(vault: &VaultRecord) -> String {
    format!("vaults/{}", vault.id)
}

/// "3 prompts"
pub(super) fn size(vault: &VaultRecord) -> String {
    counted(vault.prompt_count, "prompt")
}

fn facts(visit: &Visit<'_>, vault: &VaultRecord) -> Markup {
    html! {
        (size(vault)) " · " (vault.visibility.as_str()) " · created " (visit.ago(vault.created_at))
    }
}

pub(crate) async fn show(visit: Visit<'_>) -> HandlerResult {
    let (api, id) = (visit.api, visit.request.id::<VaultId>(0)?);
    let number = page_number(&visit.entered)?;
    let vault = visit.store().vault(&visit.caller, id).await?;
    let account = visit.caller.account;
    let prompts = visit.store().vault_page(account, id, number * PAGE, PAGE).await?;
    let others = vault_choices(&visit, "").await?;
    let own = page_of(&vault);
    let back = address(&own, [("page", &*number.to_string())]);
    let entries = prompts.iter().map(|listed| entry(&visit, &listed.prompt, listed.pinned));
    let content = html! {
        @if let Some(description) = &vault.description { p dir="auto" { (description) } }
        p .soft { (facts(&visit, &vault)) }
        @if prompts.is_empty() {
            div .empty {
                p { "This vault is empty." }
                p { (visit.link("prompts", "Select prompts to add")) }
            }
        } @else {
            (chosen::form(&visit, entries, "grid", &id.to_string(), &back, &others))
        }
        (pages(api, &own, number, vault.prompt_count, &size(&vault)))
    };
    let page = visit.page("vaults", shortened(&vault.name, 60));
    page.with_actions(html! {
        @if vault.visibility != VaultVisibility::Private {
            (visit.button(&public_address(&visit.session.account_name, &vault.slug), "Shared page"))
        }
        (visit.button(&format!("prompts/new?vaultId={id}"), "New prompt"))
        (visit.button(&format!("{own}/edit"), "Edit"))
        @if !vault.system {
            (visit.ask("Delete", "Its prompts are kept. This cannot be undone.", &format!("{own}/delete"), &html! {
                button .danger { "Delete this vault" }
            }))
        }
    })
    .show(&content)
}

/// The form for the vault in the path, or for a new one.
pub(crate) async fn write(visit: Visit<'_>) -> HandlerResult {
    let (store, caller) = (visit.store(), &visit.caller);
    let vault = match visit.path_id::<VaultId>()? {
        Some(id) => Some(store.vault(caller, id).await?),
        None => None,
    };
    let read = || form_fields(&visit.sent, FIELDS).read(new_vault);
    let written = async {
        let Some(vault) = &vault else {
            let created = async { Ok(page_of(&store.create_vault(caller, read()?).await?)) };
            return Ok(done_address(&visit.once(created).await?, "created"));
        };
        let NewVault { name, description, visibility } = read()?;
        let (name, description, visibility) = (Some(name), Some(description), Some(visibility));
        let cover_image = (visit.entered.value("cover") == "none").then_some(None);
        let patch = VaultPatch { name, description, visibility, cover_image };
        store.update_vault(caller, vault.id, patch).await?;
        Ok(done_address(&page_of(vault), "changed"))
    };
    let values = match &vault {
        None => Entered::default(),
        Some(VaultRecord { name, description, visibility, .. }) => Entered::of(json!({
            "name": **name,
            "description": description.as_deref(),
            "visibility": visibility.as_str(),
        })),
    };
    visit.form(values, written, |entered| ready(form(&visit, vault.as_ref(), &entered))).await
}

fn form(visit: &Visit<'_>, vault: Option<&VaultRecord>, entered: &Entered) -> HandlerResult {
    let is_system = vault.is_some_and(|vault| vault.system);
    let fixed = if is_system { "This vault cannot be renamed." } else { "" };
    let meanings = html! {
        @for (name, meaning) in MEANINGS { strong { (name) } ": " (meaning) br; }
    };
    let visibilities = Input::Select(words(MEANINGS.map(|(name, _)| name)));
    let mut fields = vec![
        Field::new("name", "Name", Input::Line).required().help(fixed),
        Field::new("description", "Description", Input::Text(2)).help("At most 200 characters"),
        Field::new("visibility", "Visibility", visibilities).help(meanings),
    ];
    if vault.is_some_and(|vault| vault.cover_image.is_some()) {
        let choices = [("", "Keep it"), ("none", "Remove it")];
        let choices = choices.map(|(value, text)| (value.to_owned(), text.to_owned()));
        fields.push(Field::new("cover", "Cover", Input::Select(choices.into())));
    }
    let (back, title, button) = match vault {
        None => ("vaults".to_owned(), "New vault", "Create vault"),
        Some(vault) => (page_of(vault), "Edit vault", "Save changes"),
    };
    let form = Form { back: Some(&back), ..Form::new(button, fields) };
    visit.page("vaults", title).show_form(entered, &form)
}

pub(crate) async fn delete(visit: Visit<'_>) -> HandlerResult {
    visit.store().delete_vault(&visit.caller, visit.request.id(0)?).await?;
    visit.done("vaults", "vault-deleted")
}
