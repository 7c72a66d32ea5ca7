//! Vaults that anybody may read, parts of the contents of a vault, and pictures by their owner.

use const_format::concatcp;
use promptarium::{PromptId, VaultId};
use tokio_postgres::types::Json;

use super::db::{Db, Params, Statement, permit};
use super::rows::{self, CALLER, KEY_IS_VALID, PROMPT_COLUMNS, VAULT_COLUMNS, column, later};
use crate::domain::{AccountId, Caller, ListedPrompt, PromptImage, VaultRecord};
use crate::limits::PROMPT_IMAGES_MAX;
use crate::store::{Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&ADD_IMAGE, &ACCOUNT, &BY_SLUG, &PAGE];

/// `$6` is how many pictures the prompt may have.
static ADD_IMAGE: Statement = Statement::non_idempotent(
    "prompts.add_image",
    concatcp!(
        CALLER,
        ", found AS (
            SELECT p.id FROM prompt p WHERE p.account_id = $1 AND p.id = $3
        ), changed AS (
            UPDATE prompt p SET images = p.images || $4::jsonb, updated_at = ",
        later!("$5", "p.updated_at"),
        " WHERE p.account_id = $1 AND p.id = $3 AND jsonb_array_length(p.images) < $6::integer AND ",
        KEY_IS_VALID,
        " RETURNING 1
        )
        SELECT found.id IS NOT NULL AS found, EXISTS (SELECT FROM changed) AS changed
        FROM caller LEFT JOIN found ON true"
    ),
);

static ACCOUNT: Statement =
    Statement::read_only("accounts.by_name", "SELECT id FROM account WHERE name = $1::text");

static BY_SLUG: Statement = Statement::read_only(
    "vaults.by_slug",
    concatcp!(
        "SELECT ",
        VAULT_COLUMNS,
        " FROM vault v WHERE v.account_id = $1 AND v.slug = $2::text AND v.visibility <> 'private'"
    ),
);

/// Nested loops keep the innermost order.
static PAGE: Statement = Statement::read_only(
    "contents.page",
    concatcp!(
        "SELECT ",
        PROMPT_COLUMNS,
        ", p.membership, p.pinned FROM (
            SELECT m.id AS membership, m.pin IS NOT NULL AS pinned, one.* FROM (
                SELECT id, pin, prompt_id FROM vault_prompt
                WHERE account_id = $1 AND vault_id = $2
                ORDER BY pin DESC NULLS LAST, id DESC OFFSET $3 LIMIT $4
            ) m
            CROSS JOIN LATERAL (
                SELECT * FROM prompt WHERE account_id = $1 AND id = m.prompt_id OFFSET 0
            ) one
        ) p"
    ),
);

pub(super) async fn add_image(
    db: &Db,
    caller: &Caller,
    prompt: PromptId,
    image: PromptImage,
) -> Result<()> {
    let params: Params<'_> = &[
        &prompt.get(),
        &Json([image]),
        &db.now(),
        &i32::try_from(PROMPT_IMAGES_MAX).unwrap_or(i32::MAX),
    ];
    let row = db.row_of_caller(caller, &ADD_IMAGE, params).await?;
    match (column(&row, "found")?, column(&row, "changed")?) {
        (_, true) => Ok(()),
        (true, false) => Err(StoreError::TooManyImages),
        (false, false) => Err(StoreError::NotFound),
    }
}

pub(super) async fn find(db: &Db, account: &str, slug: &str) -> Result<(AccountId, VaultRecord)> {
    let found = db.look_up(&ACCOUNT, &[&account]).await?;
    let account: i64 = column(found.first().ok_or(StoreError::NotFound)?, 0)?;
    let found = db.look_up(&BY_SLUG, &[&account, &slug]).await?;
    let vault = found.first().map(rows::vault).transpose()?.flatten();
    Ok((AccountId(account), vault.ok_or(StoreError::NotFound)?))
}

pub(super) async fn page(
    db: &Db,
    account: AccountId,
    vault: VaultId,
    offset: usize,
    limit: usize,
) -> Result<Vec<ListedPrompt>> {
    let _permit = permit(&db.quotas.list_rows, account, limit).await?;
    let number = |number| i64::try_from(number).unwrap_or(i64::MAX);
    let (offset, limit) = (number(offset), number(limit));
    let rows = db.rows(&PAGE, &[&account.0, &vault.get(), &offset, &limit]).await?;
    rows.iter().filter_map(|row| rows::listed_prompt(row).transpose()).collect()
}
