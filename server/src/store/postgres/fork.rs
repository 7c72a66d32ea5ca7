//! Forking: the one step that may read another account.
//!
//! The slug of a copy comes from the name of its source, and [`slug`] makes it
//! here. So the name is asked for first, and the copy is made only if the source
//! still has that name; all else the copy sees for itself, at one instant.

#[cfg(test)]
mod tests;

use promptarium::VaultId;

use super::caller::caller;
use super::db::{Db, Statement, column};
use super::rows::{self, vault_columns};
use crate::domain::{Caller, VaultRecord, slug};
use crate::store::StoreError;

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&SOURCE, &COPY];

static SOURCE: Statement = Statement::reading(
    "fork.source",
    concat!(
        "WITH caller AS ",
        caller!(),
        " SELECT v.name, v.account_id = caller.account_id AS own,
            v.visibility = 'private' AS private
        FROM caller LEFT JOIN vault v ON v.id = $2",
    ),
);

/// Identities are drawn in the order that the rows are selected in.
static COPY: Statement = Statement::writing(
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
        ), joined AS (
            INSERT INTO membership (account_id, vault_id, prompt_id, kind)
            SELECT copy.account_id, copy.id, prompts.id, prompts.kind FROM copy, prompts
            ORDER BY prompts.id
            RETURNING 1
        ), v AS (
            SELECT copy.id, copy.name, copy.description, copy.slug, copy.visibility,
                copy.cover_image_url, copy.system, (SELECT count(*) FROM joined) AS prompt_count,
                copy.created_at, copy.updated_at
            FROM copy
        )
        SELECT ",
        vault_columns!(),
        ", v.id IS NOT NULL AS made
        FROM caller LEFT JOIN v ON true",
    ),
);

/// Copies a vault into the caller's account.
pub(super) async fn fork(db: &Db, caller: &Caller, id: VaultId) -> Result<VaultRecord, StoreError> {
    // Each turn but the last means that somebody changed the source in between.
    loop {
        let name = forkable(db, caller, id).await?;
        let (base, now) = (slug::base(&name), db.now());
        let row = db.row_of_caller(&COPY, &[&caller.key.0, &id.get(), &name, &base, &now]).await?;
        if column(&row, "made")? {
            return rows::vault(&row);
        }
    }
}

/// The name of a vault that the caller may fork.
async fn forkable(db: &Db, caller: &Caller, id: VaultId) -> Result<String, StoreError> {
    let row = db.row_of_caller(&SOURCE, &[&caller.key.0, &id.get()]).await?;
    let name: Option<String> = column(&row, "name")?;
    let name = name.ok_or(StoreError::NotFound)?;
    match (column(&row, "own")?, column(&row, "private")?) {
        (_, false) => Ok(name),
        (true, true) => Err(StoreError::ForkOfPrivateVault),
        (false, true) => Err(StoreError::NotFound),
    }
}
