//! Steps of the transactions that put prompts into a vault.
//!
//! A subquery for each prompt is a look-up in an index; a join may read all prompts of the account.

use const_format::formatcp;

use super::rows::KEY_IS_VALID;

/// Whether all prompts `$4` exist, unless `$5`. Where they are changed too, they have the model that
/// the change needs if `$6`, and fewer pictures than `$7`.
const MAY_PUT: &str = formatcp!(
    "{KEY_IS_VALID} AND ($5::boolean OR cardinality($4::bigint[]) = (SELECT count(*)
        FROM prompt k WHERE k.account_id = $1 AND k.account_id = v.account_id AND k.id = ANY ($4)
            AND (NOT $6::boolean OR k.model_id IS NOT NULL)
            AND ($7::bigint IS NULL OR jsonb_array_length(k.images) < $7)))"
);

statements! {
    /// In a transaction before a statement that changes the counts of the vaults `$3`.
    pub(super) idempotent LOCK_VAULTS "vaults.lock"
        "SELECT FROM vault v WHERE v.account_id = $1 AND v.id = ANY ($3::bigint[])
         AND {KEY_IS_VALID} ORDER BY v.id FOR NO KEY UPDATE";
    /// After locks on the vault `$3` and the prompts `$4`, before [`PUT`]: counts what it puts.
    pub(super) non_idempotent COUNT "memberships.count"
        "UPDATE vault v SET prompt_count = v.prompt_count + (
            SELECT count(*) FROM unnest($4::bigint[]) AS given (id)
            WHERE (SELECT p.id FROM prompt p WHERE p.account_id = $1 AND p.id = given.id) IS NOT NULL
                AND (SELECT m.id FROM vault_prompt m WHERE m.account_id = $1 AND m.vault_id = $3
                    AND m.prompt_id = given.id) IS NULL)
        WHERE v.account_id = $1 AND v.id = $3 AND {MAY_PUT}";
    /// Puts the prompts into the vault, in their order. On Citus only a statement that is an INSERT as a
    /// whole, and whose tables are joined by the account, stays on the node of the account. Without the
    /// title, an index that has no id behind the account would be read.
    pub(super) non_idempotent PUT "memberships.put"
        "INSERT INTO vault_prompt (account_id, vault_id, prompt_id, kind)
        SELECT $1, v.id, given.id, (SELECT coalesce(p.kind, p.title) FROM prompt p
            WHERE p.account_id = $1 AND p.account_id = v.account_id AND p.id = given.id)
        FROM vault v CROSS JOIN unnest($4::bigint[]) WITH ORDINALITY AS given (id, ord)
        WHERE v.account_id = $1 AND v.id = $3 AND (SELECT p.id FROM prompt p
            WHERE p.account_id = $1 AND p.account_id = v.account_id AND p.id = given.id) IS NOT NULL
            AND {MAY_PUT}
        ORDER BY given.ord
        ON CONFLICT (account_id, vault_id, prompt_id) DO NOTHING";
}
