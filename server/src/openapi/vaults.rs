//! `/vaults` and single vaults; what they hold is in `contents`.

use promptarium::limits;
use serde_json::{Value, json};

use super::Named;
use super::operation::{Answer, Operation};
use super::refusals::Refusal;
use super::schema::{self, Fields, of, or_null, with};
use crate::api::vaults::VISIBILITIES;

const TAG: &str = "Vaults";

/// What the id of a vault leads to.
const OF_ONE: [&str; 6] =
    ["getVault", "updateVault", "deleteVault", "forkVault", "listVaultPrompts", "addVaultPrompts"];

pub(super) fn operations() -> Vec<Named<Operation>> {
    vec![
        ("listVaults", list()),
        ("createVault", create()),
        ("getVault", get()),
        ("updateVault", update()),
        ("deleteVault", delete()),
        ("forkVault", fork()),
    ]
}

fn list() -> Operation {
    let answer = Answer::new(200, "All vaults.")
        .data(&schema::list(&of("Vault")), &json!([example()]))
        .leads_to(&["getVault", "listVaultPrompts"], &[("vaultId", "$response.body#/data/0/id")]);
    Operation::new(
        TAG,
        "List vaults",
        "Every vault of the caller, newest first, in one answer (VA-13 to VA-15, S-20). A query is \
         ignored (S-03).",
    )
    .answer(answer)
}

fn create() -> Operation {
    let example = json!({ "name": "Landscapes", "description": null, "visibility": "private" });
    Operation::new(
        TAG,
        "Create a vault",
        "VA-16 to VA-20. Names may repeat (S-17). Fields that are not known are ignored (S-67).",
    )
    .json(&of("NewVault"), &example)
    .answer(shown(201, "The vault as it was created."))
}

fn get() -> Operation {
    Operation::new(TAG, "Read a vault", "VA-21.").answer(shown(200, "The vault."))
}

fn update() -> Operation {
    Operation::new(
        TAG,
        "Change a vault",
        "What is left out stays as it is (VA-22 to VA-25). A system vault keeps its name (S-18).",
    )
    .json(&of("VaultChange"), &json!({ "description": "Sea and sky", "visibility": "unlisted" }))
    .answer(shown(200, "The whole vault as it is now."))
}

fn delete() -> Operation {
    let deleted = Fields::new()
        .must("id", of("VaultId"), "The vault that is gone.")
        .must("deleted", schema::only(true), "VA-26")
        .object();
    Operation::new(
        TAG,
        "Delete a vault",
        "The prompts in it stay (VA-26 to VA-28). A system vault is refused with 400 (S-18).",
    )
    .refuses(Refusal::Invalid)
    .answer(
        Answer::new(200, "The vault is gone.").data(&deleted, &json!({ "id": 3, "deleted": true })),
    )
}

fn fork() -> Operation {
    Operation::new(
        TAG,
        "Fork a vault",
        "Copies a vault that is public or unlisted, of whatever account, into the caller's own \
         (VA-29 to VA-34, S-22). The caller's own private vault is refused with 400 (S-23).",
    )
    .refuses(Refusal::Invalid)
    .answer(shown(201, "The new vault."))
}

fn shown(status: u16, means: &'static str) -> Answer {
    Answer::new(status, means)
        .data(&of("Vault"), &example())
        .leads_to(&OF_ONE, &[("vaultId", "$response.body#/data/id")])
        .leads_to(&["listPrompts"], &[("vaultId", "$response.body#/data/id")])
}

/// The schemas that are shared.
pub(super) fn schemas() -> Vec<Named<Value>> {
    let name = || schema::text(limits::VAULT_NAME_CHARS);
    let description = || or_null(schema::text(0..=limits::VAULT_DESCRIPTION_CHARS_MAX));
    let new = Fields::new()
        .must("name", name(), "VA-17, LI-06")
        .may("description", description(), "VA-18, LI-07")
        .may("visibility", with(visibility(), json!({ "default": "private" })), "VA-19, VA-20");
    let change = Fields::new()
        .may("name", name(), "VA-24, LI-06")
        .may("description", description(), "`null` takes it away (VA-25, LI-07).")
        .may("visibility", visibility(), "VA-20, VA-24");
    let vault = Fields::new()
        .must("id", of("VaultId"), "VA-01")
        .must("name", name(), "VA-02")
        .must("description", description(), "VA-03, S-73")
        .must("slug", slug(), "VA-04, S-16")
        .must("visibility", visibility(), "VA-05")
        .must("accessType", or_null(schema::string()), "VA-06, S-13")
        .must("isLocked", json!({ "type": "boolean" }), "VA-07, S-14")
        .must("coverImageUrl", or_null(schema::url()), "VA-08, S-15")
        .must("isSystem", json!({ "type": "boolean" }), "VA-09, S-18")
        .must("promptCount", schema::count(), "VA-10")
        .must("createdAt", schema::time(), "VA-11")
        .must("updatedAt", schema::time(), "VA-11, S-19");
    vec![("Vault", vault.object()), ("NewVault", new.object()), ("VaultChange", change.object())]
}

fn slug() -> Value {
    json!({ "type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$" })
}

fn visibility() -> Value {
    schema::word(VISIBILITIES)
}

fn example() -> Value {
    json!({
        "id": 3,
        "name": "Landscapes",
        "description": null,
        "slug": "landscapes",
        "visibility": "private",
        "accessType": null,
        "isLocked": false,
        "coverImageUrl": null,
        "isSystem": false,
        "promptCount": 1,
        "createdAt": "2025-03-01T09:00:00.000000Z",
        "updatedAt": "2025-03-01T09:00:00.000000Z",
    })
}
