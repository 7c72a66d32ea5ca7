//! Adding a prompt to one vault more.

use promptarium::{PromptId, VaultId};

use crate::domain::{Caller, SharedPrompt};
use crate::store::StoreError;
use crate::store::postgres::caller::caller;
use crate::store::postgres::db::{Db, Statement, column};
use crate::store::postgres::rows::{self, locked_prompt_columns};

/// The prompt is locked so that of two changes to it at once the later answer shows
/// both.
pub(super) static SAVE: Statement = Statement::writing(
    "prompts.save",
    concat!(
        "WITH caller AS MATERIALIZED ",
        caller!(),
        ", target AS MATERIALIZED (
             SELECT v.id FROM caller
             JOIN vault v ON v.account_id = caller.account_id AND v.id = $3
             FOR NO KEY UPDATE OF v
         ), held AS MATERIALIZED (
             SELECT p.* FROM caller
             JOIN prompt p ON p.account_id = caller.account_id AND p.id = $2
             WHERE (SELECT count(*) FROM target) >= 0
             FOR NO KEY UPDATE OF p
         ), joined AS (
             INSERT INTO membership (account_id, vault_id, prompt_id, kind)
             SELECT held.account_id, target.id, held.id, held.kind
             FROM held CROSS JOIN target
             ON CONFLICT DO NOTHING
         )
         SELECT ",
        locked_prompt_columns!(),
        ", target.id AS vault
         FROM caller LEFT JOIN held p ON true LEFT JOIN target ON true"
    ),
);

/// See [`Store::save_prompt`](crate::store::Store::save_prompt).
pub(in crate::store::postgres) async fn save(
    db: &Db,
    caller: &Caller,
    id: PromptId,
    vault: VaultId,
) -> Result<SharedPrompt, StoreError> {
    let row = db.row_of_caller(&SAVE, &[&caller.key.0, &id.get(), &vault.get()]).await?;
    let prompt = rows::prompt(&row)?.ok_or(StoreError::NotFound)?;
    column::<Option<i64>>(&row, "vault")?.ok_or(StoreError::UnknownVault)?;
    Ok(with_vault(prompt, vault))
}

/// The prompt in this vault too: it may have been read before it was put there.
pub(super) fn with_vault(mut prompt: SharedPrompt, vault: VaultId) -> SharedPrompt {
    if let Err(place) = prompt.vault_ids.binary_search(&vault) {
        std::sync::Arc::make_mut(&mut prompt).vault_ids.insert(place, vault);
    }
    prompt
}
