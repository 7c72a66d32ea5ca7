//! New vaults.
//!
//! The statement reads the smallest free slug of their snapshot. Of two concurrent ones that choose the same
//! slug, one violates the unique index and is sent again. [`slug`](crate::domain::slug) has the
//! base of a slug.
//!
//! It checks the limit of vaults too. A lock on the account comes before in the same transaction,
//! so that of two new vaults at the limit one is refused.

use const_format::formatcp;

use super::db::Statement;
use super::rows::{CALLER, NEW_VAULT, VAULT_COLUMNS};

#[cfg(test)]
pub(super) static ALL: &[&Statement] = &[&CREATE];

/// The first of `$base`, `$base-2`, `$base-3`… that no vault but `$besides` has. One of one more
/// than the account has vaults is free. The numbers are made one by one, up to the first.
macro_rules! free_slug {
    ($base:literal, $besides:literal) => {
        concat!(
            "(SELECT choice.slug FROM (
                SELECT ",
            $base,
            "::text || CASE number WHEN 1 THEN '' ELSE '-' || number::text END AS slug
                FROM (SELECT generate_series(1, 1 + (
                    SELECT count(*) FROM vault own WHERE own.account_id = $1)) AS number) numbers
            ) choice
            -- Not NOT EXISTS, which may be made a join with all vaults there are.
            WHERE (SELECT taken.id FROM vault taken
                WHERE taken.account_id = $1 AND taken.slug = choice.slug
                    AND taken.id <> ",
            $besides,
            ") IS NULL
            LIMIT 1)"
        )
    };
}
pub(super) use free_slug;

/// In a transaction after a lock on the account. `$8` is how many vaults it may have.
pub(super) static CREATE: Statement = Statement::non_idempotent(
    "vaults.create",
    formatcp!(
        "{CALLER}, {NEW_VAULT}, v AS (
            INSERT INTO vault (account_id, id, name, description, visibility, slug, created_at,
                updated_at, cover_image_url)
            SELECT $1, new_vault.id, $3, $4, $5, {free_slug}, $7, $7, $9 FROM caller, new_vault
            WHERE (SELECT count(*) FROM vault every WHERE every.account_id = $1) < $8::bigint
            RETURNING *
        ), in_directory AS (
            INSERT INTO vault_directory (vault_id, account_id) SELECT v.id, $1 FROM v
        )
        SELECT {VAULT_COLUMNS} FROM caller LEFT JOIN v ON true",
        free_slug = free_slug!("$6", "0")
    ),
);
