//! What is done with several prompts at once.
//!
//! The list sends the chosen prompts and an action. The page that answers asks for the vault, or
//! whether to delete them, and changes nothing; its form sends the same again with the answer.

use maud::html;
use promptarium::{PromptId, VaultId};

use super::forms::{Field, Form, Input};
use super::listing::Listing;
use super::parts::counted;
use super::prompts::vault_choices;
use super::visit::Visit;
use crate::api::HandlerResult;
use crate::domain::Membership;
use crate::http::error::ApiError;
use crate::http::validate::{FieldErrors, form_fields, id};
use crate::store::StoreError;

/// Prompts in one form.
const CHOSEN_MAX: usize = 100;

pub(crate) async fn apply(visit: Visit<'_>) -> HandlerResult {
    let (store, caller, entered) = (visit.store(), &visit.caller, &visit.entered);
    let back = Listing::parse(entered.value("back").as_bytes())?.page(&[]);
    let too_many = || FieldErrors::of("id", format!("must be at most {CHOSEN_MAX} ids of prompts"));
    let prompts = entered.ids::<PromptId>("id", CHOSEN_MAX).ok_or_else(too_many)?;
    let Some(first) = prompts.first() else { return visit.done(&back, "none-chosen") };
    let mut answer = form_fields(&visit.sent, &["vaultId"]);
    let vault = answer.optional("vaultId", id::<VaultId>);
    answer.finish()?;
    match (entered.value("action"), vault) {
        ("delete", _) if entered.value("sure") == "yes" => {
            for prompt in prompts {
                unless_gone(store.delete_prompt(caller, prompt).await)?;
            }
            visit.done(&back, "prompts-deleted")
        }
        ("delete", _) => {
            // It exists, or the form is not that of this account.
            store.prompt(caller, *first).await?;
            ask(&visit, prompts.len(), &back).await
        }
        ("add" | "move", None) => ask(&visit, prompts.len(), &back).await,
        ("add", Some(vault)) => {
            store.add_prompts(caller, vault, &prompts).await?;
            visit.done(&back, "prompts-added")
        }
        ("move", Some(vault)) => {
            let from = entered.id("from").ok_or(ApiError::NotFound)?;
            let from = store.vault(caller, from).await?.id;
            for id in store.memberships_of(caller, from, &prompts).await? {
                let at = Membership { vault: from, id };
                unless_gone(store.move_membership(caller, at, vault).await)?;
            }
            visit.done(&back, "prompts-moved")
        }
        _ => Err(FieldErrors::of("action", "must be add, move or delete").into()),
    }
}

/// The outcome for one prompt. It may have been deleted meanwhile, or the form is sent again.
fn unless_gone<T>(outcome: Result<T, StoreError>) -> Result<(), StoreError> {
    match outcome {
        Ok(_) | Err(StoreError::NotFound) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Asks for a vault, or whether to delete, in a form that sends the same again.
async fn ask(visit: &Visit<'_>, count: usize, back: &str) -> HandlerResult {
    let mut entered = visit.entered.clone();
    let mut fields = Vec::from(["action", "back", "from", "id"].map(Field::hidden));
    let is_danger = entered.value("action") == "delete";
    let (title, button) = match entered.value("action") {
        "add" => ("Add to a vault", "Add"),
        "move" => ("Move to another vault", "Move"),
        _ => ("Delete prompts", "Delete them"),
    };
    if is_danger {
        entered.set("sure", "yes");
        fields.push(Field::hidden("sure"));
    } else {
        let vaults = Input::Select(vault_choices(visit, None).await?);
        fields.push(Field::new("vaultId", "Vault", vaults));
    }
    let form = Form { back: Some(back), is_danger, ..Form::new(button, fields) };
    visit.page("prompts", title).show(&html! {
        @if is_danger {
            p {
                "Delete " (counted(count, "prompt", "prompts"))
                "? They are removed from all vaults. This cannot be undone."
            }
        } @else {
            p { (counted(count, "prompt is", "prompts are")) " chosen." }
        }
        (entered.form(&visit.api.site, &form))
    })
}
