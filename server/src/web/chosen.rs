//! What is done with several prompts at once: the form around a list, and its actions.

use super::prelude::*;
use super::return_page;

const CHOSEN_MAX: usize = 100;

pub(super) const DELETE: &str =
    "A deleted prompt is removed from all vaults. This cannot be undone.";

/// Action and text of the buttons for prompts of one vault.
const IN_VAULT: [(&str, &str); 4] = [
    ("pin", "Pin"),
    ("unpin", "Unpin"),
    ("cover", "Use as cover"),
    ("remove", "Remove from vault"),
];

/// Prompts with a box to choose each, and the buttons. `from` is the vault that they are in, or
/// nothing; the form leads to the page `back`.
pub(super) fn form(
    visit: &Visit<'_>,
    entries: impl Iterator<Item = Markup>,
    class: &str,
    from: &str,
    back: &str,
    vaults: &[(String, String)],
) -> Markup {
    let others: Vec<_> = vaults.iter().filter(|(id, _)| id != from).cloned().collect();
    let button = |(action, text)| html! { button name="action" value=(action) { (text) } };
    html! {
        form method="post" action=(visit.at("prompts/chosen")) {
            input type="hidden" name="back" value=(back);
            input type="hidden" name="from" value=(from);
            ul .(class) { @for entry in entries { (entry) } }
            div .toolbar.chosen {
                label .choice hidden { input type="checkbox" data-all="id"; "Select all" }
                span .soft data-count="id" { "Selected prompts:" }
                @if !from.is_empty() { @for action in IN_VAULT { (button(action)) } }
                @if !others.is_empty() {
                    label .unseen for="target" { "Vault to move or add to" }
                    select #target name="vaultId" {
                        option value="" { "Choose a vault" }
                        (options(&others, ""))
                    }
                    @if !from.is_empty() { (button(("move", "Move to vault"))) }
                    (button(("add", "Add to vault")))
                }
                details .ask {
                    summary .button { "Delete" }
                    div .card {
                        p { "Delete the selected prompts? " (DELETE) }
                        button .danger name="action" value="delete" { "Delete selected" }
                    }
                }
            }
        }
    }
}

pub(crate) async fn apply(visit: Visit<'_>) -> HandlerResult {
    let (store, caller, entered) = (visit.store(), &visit.caller, &visit.entered);
    let action = entered.value("action");
    let is_in_vault = action == "move" || IN_VAULT.iter().any(|(known, _)| *known == action);
    if !is_in_vault && !["add", "delete"].contains(&action) {
        return Err(FieldErrors::of("action", "must be one of the buttons of a list").into());
    }
    let back = return_page(entered.value("back")).and_then(|back| back.split('#').next());
    let back = back.unwrap_or("prompts");
    let ids = entered.all("id").map(|id| id.parse().ok().map(PromptId::new));
    let prompts = ids.collect::<Option<Vec<_>>>().filter(|ids| ids.len() <= CHOSEN_MAX);
    let too_many = || FieldErrors::of("id", format!("must be at most {CHOSEN_MAX} ids of prompts"));
    let prompts = prompts.ok_or_else(too_many)?;
    let Some(first) = prompts.first() else { return visit.done(back, "none-chosen") };
    if ["add", "move"].contains(&action) && entered.all("vaultId").eq([""]) {
        return visit.done(back, "no-vault");
    }
    let mut form = form_fields(&visit.sent, &["vaultId", "from"]);
    if is_in_vault {
        form.require("from");
    }
    if ["add", "move"].contains(&action) {
        form.require("vaultId");
    }
    let (target, from) = (form.optional("vaultId", id), form.optional("from", id::<VaultId>));
    form.finish()?;
    match (action, target, from) {
        ("delete", ..) => {
            for prompt in prompts {
                unless_gone(store.delete_prompt(caller, prompt).await)?;
            }
        }
        ("add", Some(vault), _) => drop(store.add_prompts(caller, vault, &prompts).await?),
        ("cover", _, Some(vault)) => {
            let prompt = store.prompt(caller, *first).await?;
            let Some(image) = prompt.images.last() else { return visit.done(back, "no-picture") };
            let cover_image = Some(Some(image.source.clone()));
            let patch = VaultPatch { cover_image, ..VaultPatch::default() };
            store.update_vault(caller, vault, patch).await?;
        }
        (_, _, Some(vault)) => {
            let vault = store.vault(caller, vault).await?.id;
            // The upper ones last, so that they end up on top again.
            for id in store.memberships_of(caller, vault, &prompts).await? {
                let at = Membership { vault, id };
                unless_gone(match (action, target) {
                    ("pin" | "unpin", _) => store.set_pinned(caller, at, action == "pin").await,
                    ("remove", _) => store.remove_membership(caller, at).await,
                    (_, Some(to)) => store.move_membership(caller, at, to).await.map(drop),
                    (_, None) => Ok(()),
                })?;
            }
        }
        // Excluded above.
        _ => {}
    }
    visit.done(back, action)
}

/// The outcome for one prompt. It may have been deleted meanwhile, or the form is sent again.
fn unless_gone(outcome: Result<(), StoreError>) -> Result<(), StoreError> {
    match outcome {
        Err(StoreError::NotFound) => Ok(()),
        outcome => outcome,
    }
}
