//! Lists: pages of prompts, and the contents of vaults.
//!
//! Each query has an index in which its rows are contiguous and ordered, so the cost of a page
//! depends on its size only. The statements leave the planner no choice: the innermost subquery is
//! a range of one index, and the prompts of a vault are fetched one by one.
//!
//! A small vault is read by one statement. Of a larger one the ids are read by one statement, as of
//! one instant, and then its prompts in batches as the client takes them.

use std::cmp::Reverse;
use std::collections::HashMap;

use futures::{StreamExt, TryStreamExt, stream};
use promptarium::limits::PAGE_SIZE;

use super::batching::Batcher;
use super::prelude::*;
use super::prompts::GET;
use crate::limits::{LISTING_BATCH, LISTING_BATCH_BYTES, SMALL_VAULT_PROMPTS};

const ROWS_MAX: usize = SMALL_VAULT_PROMPTS + 1;
const PAGE_MAX: usize = *PAGE_SIZE.end() as usize;
/// One more than a page. Of a parameterized LIMIT the planner estimates a tenth of all rows.
pub(super) const AHEAD: usize = PAGE_MAX + 1;

// A page of the account: ids below `$3`, at most `$4` rows. A condition goes in between.
const OF_ACCOUNT: &str = formatcp!(
    "{CALLER} SELECT {PROMPT_COLUMNS} FROM caller
     LEFT JOIN LATERAL (
         SELECT * FROM (
             SELECT * FROM prompt WHERE account_id = $1 AND id < $3"
);
const END_OF_ACCOUNT: &str = formatcp!(
    "        ORDER BY id DESC LIMIT {AHEAD}
         ) ahead LIMIT $4
     ) p ON true"
);

// A page of the vault `$5`. `vault` is NULL if the caller has no such vault.
const OF_VAULT: &str = formatcp!(
    "{CALLER} SELECT {PROMPT_COLUMNS}, v.id AS vault FROM caller
     LEFT JOIN vault v ON v.account_id = $1 AND v.id = $5
     LEFT JOIN LATERAL (
         SELECT one.* FROM (
             SELECT prompt_id FROM (
                 SELECT prompt_id FROM vault_prompt
                 WHERE account_id = $1 AND vault_id = v.id AND prompt_id < $3"
);
const END_OF_VAULT: &str = formatcp!(
    "            ORDER BY prompt_id DESC LIMIT {AHEAD}
             ) ahead LIMIT $4
         ) m {EACH_PROMPT}
     ) p ON true"
);

statements! {
    read_only ALL_PROMPTS "listing.all" "{OF_ACCOUNT} {END_OF_ACCOUNT}";
    read_only OF_KIND "listing.of_kind" "{OF_ACCOUNT} AND kind = $5 {END_OF_ACCOUNT}";
    read_only IN_VAULT "listing.in_vault" "{OF_VAULT} {END_OF_VAULT}";
    read_only OF_KIND_IN_VAULT "listing.of_kind_in_vault" "{OF_VAULT} AND kind = $6 {END_OF_VAULT}";
    /// The contents of the vault `$3`. Nested loops keep the innermost order.
    read_only SMALL_VAULT "contents.small"
        "{CALLER} SELECT {PROMPT_COLUMNS}, p.membership, p.pinned, v.id AS vault
         FROM caller
         LEFT JOIN vault v ON v.account_id = $1 AND v.id = $3
         LEFT JOIN LATERAL (
             SELECT m.id AS membership, m.pin IS NOT NULL AS pinned, one.* FROM (
                 SELECT id, pin, prompt_id FROM vault_prompt
                 WHERE account_id = $1 AND vault_id = v.id
                 ORDER BY pin DESC NULLS LAST, id DESC LIMIT {ROWS_MAX}
             ) m {EACH_PROMPT}
         ) p ON true";
    /// The memberships of the vault `$3` and their prompts, in order; the first ones are pinned.
    long_read MEMBERS "contents.members"
        "{CALLER} SELECT v.id AS vault, m.memberships, m.prompts, m.pinned
         FROM caller
         LEFT JOIN vault v ON v.account_id = $1 AND v.id = $3
         CROSS JOIN LATERAL (
             SELECT coalesce(array_agg(id), '{{}}') AS memberships,
                 coalesce(array_agg(prompt_id), '{{}}') AS prompts, count(pin) AS pinned
             FROM (
                 SELECT id, pin, prompt_id FROM vault_prompt
                 WHERE account_id = $1 AND vault_id = v.id
                 ORDER BY pin DESC NULLS LAST, id DESC OFFSET 0
             ) ordered
         ) m";
}

/// Reads a page of at most [`PAGE_MAX`] prompts, once for all of these requests.
pub(super) async fn read_page(
    db: Arc<Db>,
    (caller, query): (Caller, PromptQuery),
    equal: Vec<()>,
) -> Result<Vec<PromptPage>> {
    let PromptQuery { vault, kind, after, limit } = query;
    let limit = limit.min(PAGE_MAX);
    let (vault, kind) = (vault.map(VaultId::get), kind.map(PromptKind::as_str));
    let (before, rows_max) = (after.map_or(i64::MAX, PromptId::get), int(limit + 1));
    let (statement, params): (_, Params<'_>) = match (&vault, &kind) {
        (None, None) => (&ALL_PROMPTS, &[&before, &rows_max]),
        (None, Some(kind)) => (&OF_KIND, &[&before, &rows_max, kind]),
        (Some(vault), None) => (&IN_VAULT, &[&before, &rows_max, vault]),
        (Some(vault), Some(kind)) => (&OF_KIND_IN_VAULT, &[&before, &rows_max, vault, kind]),
    };
    let rows = db.rows(By::List(&caller, limit + 1), &[(statement, params)]).await?;
    if let Some(row) = rows.first().filter(|_| vault.is_some()) {
        column::<Option<i64>>(row, "vault")?.ok_or(StoreError::UnknownVault)?;
    }
    let mut prompts = all(&rows, prompt)?;
    // It costs less here.
    prompts.sort_unstable_by_key(|prompt| Reverse(prompt.id));
    let more = prompts.len() > limit;
    prompts.truncate(limit);
    Ok(vec![PromptPage { prompts, more }; equal.len()])
}

/// Small vaults; `None` of a large one.
pub(super) type SmallVaults = Batcher<(Caller, VaultId), (), Option<Arc<[ListedPrompt]>>>;

pub(super) async fn small_vault(
    db: Arc<Db>,
    (caller, vault): (Caller, VaultId),
    equal: Vec<()>,
) -> Result<Vec<Option<Arc<[ListedPrompt]>>>> {
    let rows = db.rows(By::List(&caller, ROWS_MAX), &[(&SMALL_VAULT, &[&vault.get()])]).await?;
    let first = rows.first().ok_or(StoreError::NotFound)?;
    column::<Option<i64>>(first, "vault")?.ok_or(StoreError::NotFound)?;
    let small = all(&rows, listed_prompt)?.into();
    Ok(vec![(rows.len() < ROWS_MAX).then_some(small); equal.len()])
}

/// The prompts of a vault of any size, batch by batch.
pub(super) async fn large_vault(db: &Arc<Db>, caller: &Caller, vault: VaultId) -> Result<Contents> {
    let row = db.row_of_caller(caller, &MEMBERS, &[&vault.get()]).await?;
    column::<Option<i64>>(&row, "vault")?.ok_or(StoreError::NotFound)?;
    let pinned = usize::try_from(column::<i64>(&row, "pinned")?).unwrap_or_default();
    let memberships = column::<Vec<i64>>(&row, "memberships")?.into_iter();
    let each = memberships.zip(column::<Vec<i64>>(&row, "prompts")?).enumerate();
    let each = each.map(|(at, (id, of))| (VaultPromptId::new(id), PromptId::new(of), at < pinned));
    let members: Vec<_> = each.collect();
    let bytes = LISTING_BATCH_BYTES + size_of_val(&*members);
    let begin = (members.into_iter(), db.clone(), caller.clone());
    let batches = stream::try_unfold(begin, async |(mut left, db, caller)| {
        let batch: Vec<_> = left.by_ref().take(LISTING_BATCH).collect();
        if batch.is_empty() {
            return Ok(None);
        }
        let ids: Vec<_> = batch.iter().map(|(_, prompt, _)| prompt.get()).collect();
        let rows = db.rows(By::List(&caller, ids.len()), &[(&GET, &[&ids])]).await?;
        let prompts = all(&rows, |row| Ok(prompt(row)?.map(|prompt| (prompt.id, prompt))))?;
        let prompts = HashMap::<_, _>::from_iter(prompts);
        // As they are now. One that was deleted meanwhile is left out.
        let listed = batch.into_iter().filter_map(move |(membership, prompt, pinned)| {
            Some(Ok(ListedPrompt { prompt: prompts.get(&prompt)?.clone(), membership, pinned }))
        });
        Ok(Some((stream::iter(listed), (left, db, caller))))
    });
    Ok(Contents { bytes, entries: batches.try_flatten().boxed() })
}
