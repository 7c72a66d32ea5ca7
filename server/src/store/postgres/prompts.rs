//! Single prompts.
//!
//! A statement that changes more than one thing takes its locks in the same order
//! everywhere: vaults by their ids, then the prompt, then memberships. A count over
//! a locked part (`>= 0`) is what makes that part come first.

mod create;
mod save;
#[cfg(test)]
pub(super) mod tests;
mod update;

use promptarium::PromptId;

pub(super) use self::create::create;
pub(super) use self::save::save;
pub(super) use self::update::update;
use super::caller::caller;
use super::db::{Db, Statement, column};
use super::rows::{self, prompt_columns};
use crate::domain::{Caller, SharedPrompt};
use crate::store::StoreError;

#[cfg(test)]
pub(super) static ALL: &[&Statement] =
    &[&create::ALONE, &create::IN_VAULT, &GET, &update::UPDATE, &save::SAVE, &DELETE];

static GET: Statement = Statement::reading(
    "prompts.get",
    concat!(
        "WITH caller AS ",
        caller!(),
        " SELECT ",
        prompt_columns!(),
        " FROM caller LEFT JOIN prompt p ON p.account_id = caller.account_id AND p.id = $2"
    ),
);

/// The vaults are locked for their counts, which the memberships that go with the
/// prompt change.
static DELETE: Statement = Statement::writing(
    "prompts.delete",
    concat!(
        "WITH caller AS MATERIALIZED ",
        caller!(),
        ", held AS MATERIALIZED (
         SELECT v.id FROM caller
         JOIN membership m ON m.account_id = caller.account_id AND m.prompt_id = $2
         JOIN vault v ON v.account_id = m.account_id AND v.id = m.vault_id
         ORDER BY v.id FOR NO KEY UPDATE OF v
     ), gone AS (
         DELETE FROM prompt p USING caller
         WHERE p.account_id = caller.account_id AND p.id = $2
             AND (SELECT count(*) FROM held) >= 0
         RETURNING p.id
     )
     SELECT gone.id FROM caller LEFT JOIN gone ON true",
    ),
);

/// See [`Store::prompt`](crate::store::Store::prompt).
pub(super) async fn get(
    db: &Db,
    caller: &Caller,
    id: PromptId,
) -> Result<SharedPrompt, StoreError> {
    let row = db.row_of_caller(&GET, &[&caller.key.0, &id.get()]).await?;
    rows::prompt(&row)?.ok_or(StoreError::NotFound)
}

/// See [`Store::delete_prompt`](crate::store::Store::delete_prompt).
pub(super) async fn delete(db: &Db, caller: &Caller, id: PromptId) -> Result<(), StoreError> {
    let row = db.row_of_caller(&DELETE, &[&caller.key.0, &id.get()]).await?;
    let gone: Option<i64> = column(&row, 0)?;
    gone.map(drop).ok_or(StoreError::NotFound)
}
