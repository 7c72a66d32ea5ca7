//! What statements that insert vaults share.
//!
//! They read the smallest free slug of their snapshot. Of two concurrent ones that choose the same
//! slug, one violates the unique index and is sent again. [`slug`](crate::domain::slug) has the
//! base of a slug.
//!
//! They check the limit of vaults too. A lock on the account comes before in the same transaction,
//! so that of two new vaults at the limit one is refused.

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
