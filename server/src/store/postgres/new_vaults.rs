//! What statements that insert vaults share.
//!
//! They read the smallest free slug of their snapshot. Of two concurrent ones that choose the same
//! slug, one violates the unique index and is sent again. [`slug`](crate::domain::slug) has the
//! base of a slug.
//!
//! They check the limit of vaults too. From [`LIMIT_DISTANCE`] below it on, a lock on the account
//! comes before in the same transaction, so that of two new vaults one is refused. Before, a fork
//! of a large vault keeps no other waiting.

use tokio_postgres::Row;

use super::PostgresStore;
use super::db::Params;
use super::steps::{LOCK_ACCOUNT, Step};
use crate::domain::Caller;
use crate::limits::LONG_WRITE_PROMPTS;
use crate::store::Result;

/// More than the connections of a database, each of which may be adding a vault.
pub(super) const LIMIT_DISTANCE: i64 = 1_000;

/// The first of `$base`, `$base-2`, `$base-3`… that no vault but `$besides` has.
macro_rules! free_slug {
    ($base:literal, $besides:literal) => {
        concat!(
            "(WITH RECURSIVE choice (number, slug) AS (
                SELECT 1::bigint, ",
            $base,
            "::text
                UNION ALL
                SELECT number + 1, ",
            $base,
            " || '-' || (number + 1) FROM choice
                -- Not EXISTS, which may be made a join with all vaults there are.
                WHERE (SELECT taken.id FROM vault taken
                    WHERE taken.account_id = $1 AND taken.slug = choice.slug
                        AND taken.id <> ",
            $besides,
            ") IS NOT NULL
            )
            SELECT slug FROM choice ORDER BY number DESC LIMIT 1)"
        )
    };
}
pub(super) use free_slug;

/// The CTE `counted`: whether the account has less than this many vaults.
macro_rules! counted {
    ($vaults:literal) => {
        concat!(
            "counted AS MATERIALIZED (
                SELECT (SELECT count(*) FROM vault v WHERE v.account_id = $1) < ",
            $vaults,
            "::bigint AS free FROM caller
            )"
        )
    };
}
pub(super) use counted;

/// The CTE that enters the new vault `v` into the directory.
macro_rules! listed {
    () => {
        "listed AS (INSERT INTO vault_directory (vault_id, account_id) SELECT v.id, $1 FROM v)"
    };
}
pub(super) use listed;

/// The row of a statement that inserts a vault with so many prompts if the account has less
/// than `most`; under a lock on the account if `most` is the limit. `None` if it need not be
/// tried.
pub(super) async fn insert(
    store: &PostgresStore,
    caller: &Caller,
    insert: Step<'_>,
    most: i64,
    prompts: i64,
) -> Result<Option<Row>> {
    if most <= 0 {
        return Ok(None);
    }
    let account: Params<'_> = &[&caller.account.0];
    let steps = [(&LOCK_ACCOUNT, account), insert];
    let steps = if most < store.vaults_max { &steps[1..] } else { &steps };
    let row = match (prompts > LONG_WRITE_PROMPTS, steps) {
        (true, steps) => store.db.long_row_of_steps(caller, steps).await?,
        (false, [(statement, params)]) => store.db.row_of_caller(caller, statement, params).await?,
        (false, steps) => store.db.row_of_steps(caller, steps).await?,
    };
    Ok(Some(row))
}
