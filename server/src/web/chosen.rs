//! What is done with several prompts at once.
//!
//! The list sends the chosen prompts and an action. The page that answers asks for the vault, or
//! whether to delete them, and changes nothing; its form sends the same again with the answer.

use maud::{Markup, html};
use promptarium::{PromptId, VaultId};

use super::forms::{Entered, Field, Input, confirm_page};
use super::layout::{Page, done};
use super::listing::same_list;
use super::parts::counted;
use super::prompts::{named_vault, vault_choices};
use crate::api::{Api, HandlerResult, Request};
use crate::domain::SessionRecord as Session;
use crate::http::error::ApiError;
use crate::http::validate::{FieldErrors, form_fields, id};
use crate::store::StoreError;

/// Prompts in one form.
const CHOSEN_MAX: usize = 100;

/// `POST /prompts/chosen`.
pub(crate) async fn apply(api: &Api, session: &Session, mut request: Request<'_>) -> HandlerResult {
    let body = request.form().await?;
    let entered = Entered::parse(&body);
    let back = same_list(entered.value("back"));
    let prompts = chosen(&entered)?;
    let Some(first) = prompts.first() else { return done(&api.site, &back, "none-chosen") };
    let caller = session.caller();
    let action = entered.value("action");
    match action {
        "delete" if entered.value("sure") == "yes" => {
            for prompt in prompts {
                match api.store.delete_prompt(&caller, prompt).await {
                    // It was deleted meanwhile, or the form is sent again.
                    Ok(()) | Err(StoreError::NotFound) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            done(&api.site, &back, "prompts-deleted")
        }
        "delete" => {
            // It exists, or the form is not that of this account.
            api.store.prompt(&caller, *first).await?;
            let question = html! {
                "Delete " (counted(prompts.len(), "prompt", "prompts"))
                "? They are removed from all vaults. This cannot be undone."
            };
            let fields = html! {
                (kept(&entered))
                input type="hidden" name="sure" value="yes";
            };
            let page = Page::of(&api.site, session, "prompts", "Delete prompts");
            confirm_page(&page, &question, ("prompts/chosen", &fields, "Delete them"), &back)
        }
        "add" | "move" => {
            let mut form = form_fields(&body, &["vaultId"]);
            let Some(vault) = form.optional("vaultId", id::<VaultId>) else {
                form.finish()?;
                return ask_vault(api, session, &entered, (action, prompts.len(), &back)).await;
            };
            if action == "add" {
                api.store.add_prompts(&caller, vault, &prompts).await?;
                return done(&api.site, &back, "prompts-added");
            }
            let from = named_vault(api, session, entered.value("from")).await?;
            let from = from.ok_or(ApiError::NotFound)?.id;
            for membership in api.store.memberships_of(&caller, from, &prompts).await? {
                match api.store.move_membership(&caller, from, membership, vault).await {
                    Ok(_) | Err(StoreError::NotFound) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            done(&api.site, &back, "prompts-moved")
        }
        _ => Err(FieldErrors::of("action", "must be add, move or delete").into()),
    }
}

fn chosen(entered: &Entered<'_>) -> Result<Vec<PromptId>, FieldErrors> {
    let ids = entered.all("id").map(|id| id.parse().map(PromptId::new));
    match ids.collect::<Result<Vec<_>, _>>() {
        Ok(ids) if ids.len() <= CHOSEN_MAX => Ok(ids),
        _ => Err(FieldErrors::of("id", format!("must be at most {CHOSEN_MAX} ids of prompts"))),
    }
}

/// The fields of the list that the next form sends again.
fn kept(entered: &Entered<'_>) -> Markup {
    html! {
        @for name in ["action", "back", "from"] {
            input type="hidden" name=(name) value=(entered.value(name));
        }
        @for id in entered.all("id") { input type="hidden" name="id" value=(id); }
    }
}

async fn ask_vault(
    api: &Api,
    session: &Session,
    entered: &Entered<'_>,
    (action, count, back): (&str, usize, &str),
) -> HandlerResult {
    let vaults = vault_choices(api, session, None).await?;
    let vault = Field::new("vaultId", "Vault", Input::Select(&vaults));
    let (title, button) = match action {
        "add" => ("Add to a vault", "Add"),
        _ => ("Move to another vault", "Move"),
    };
    Page::of(&api.site, session, "prompts", title).show(&html! {
        form method="post" action=(api.site.page("prompts/chosen")) {
            p { (counted(count, "prompt is", "prompts are")) " chosen." }
            (kept(entered))
            (entered.field(&vault))
            p .buttons {
                button .main { (button) }
                a .button href=(api.site.page(back)) { "Cancel" }
            }
        }
    })
}
