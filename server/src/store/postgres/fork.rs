//! Forking a vault, the one statement that reads another account.
//!
//! The slug of the copy derives from the name of the source, and [`slug`] computes it here.
//! So the name is read first, and the copy is made only if the source still has that name.
//! Everything else is read by the copy itself, from one snapshot.

use promptarium::VaultId;

use super::db::{Db, Statement, column};
use super::rows::{self, caller, vault_columns};
use crate::domain::{Caller, VaultRecord, slug};
use crate::store::{Result, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&SOURCE, &COPY];

static SOURCE: Statement = Statement::read_only(
    "fork.source",
    concat!(
        "WITH caller AS ",
        caller!(),
        " SELECT v.name, v.account_id = caller.account_id AS own,
            v.visibility = 'private' AS private
        FROM caller LEFT JOIN vault v ON v.id = $2",
    ),
);

/// Identity values are assigned in the order of the SELECT.
static COPY: Statement = Statement::non_idempotent(
    "fork.copy",
    concat!(
        "WITH caller AS ",
        caller!("$5"),
        ", source AS (
            SELECT v.* FROM caller, vault v
            WHERE v.id = $2 AND v.name = $3 AND v.visibility <> 'private'
        ), copy AS (
            INSERT INTO vault (account_id, name, description, cover_image_url, visibility, slug,
                created_at, updated_at)
            SELECT caller.account_id, source.name, source.description, source.cover_image_url,
                'private', free_slug(caller.account_id, $4, 0), caller.now, caller.now
            FROM caller, source
            RETURNING *
        ), prompts AS (
            INSERT INTO prompt (account_id, kind, title, body, platform, model_id, aspect_ratio,
                image_url, reference_media_urls, images, created_at, updated_at)
            SELECT copy.account_id, p.kind, p.title, p.body, p.platform, p.model_id,
                p.aspect_ratio, p.image_url, p.reference_media_urls, p.images,
                copy.created_at, copy.created_at
            FROM copy, source
                JOIN membership m ON m.account_id = source.account_id AND m.vault_id = source.id
                JOIN prompt p ON p.account_id = m.account_id AND p.id = m.prompt_id
            ORDER BY m.id
            RETURNING id, kind
        ), added AS (
            INSERT INTO membership (account_id, vault_id, prompt_id, kind)
            SELECT copy.account_id, copy.id, prompts.id, prompts.kind FROM copy, prompts
            ORDER BY prompts.id
            RETURNING 1
        ), v AS (
            SELECT copy.id, copy.name, copy.description, copy.slug, copy.visibility,
                copy.cover_image_url, copy.system, (SELECT count(*) FROM added) AS prompt_count,
                copy.created_at, copy.updated_at
            FROM copy
        )
        SELECT ",
        vault_columns!(),
        " FROM caller LEFT JOIN v ON true",
    ),
);

/// See [`VaultStore::fork_vault`](crate::store::VaultStore::fork_vault).
pub(super) async fn fork(db: &Db, caller: &Caller, id: VaultId) -> Result<VaultRecord> {
    // Repeats only while the source is renamed, hidden or deleted between the statements.
    loop {
        let name = forkable(db, caller, id).await?;
        let (base, now) = (slug::base(&name), db.now());
        let row = db.row_of_caller(&COPY, &[&caller.key.0, &id.get(), &name, &base, &now]).await?;
        if let Some(copy) = rows::vault(&row)? {
            return Ok(copy);
        }
    }
}

/// The name of the vault, if the caller may fork it.
async fn forkable(db: &Db, caller: &Caller, id: VaultId) -> Result<String> {
    let row = db.row_of_caller(&SOURCE, &[&caller.key.0, &id.get()]).await?;
    let name: Option<String> = column(&row, "name")?;
    let name = name.ok_or(StoreError::NotFound)?;
    match (column(&row, "own")?, column(&row, "private")?) {
        (_, false) => Ok(name),
        (true, true) => Err(StoreError::ForkOfPrivateVault),
        (false, true) => Err(StoreError::NotFound),
    }
}
