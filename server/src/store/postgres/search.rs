//! What searches read: texts of prompts, a chunk at a time.
//!
//! Each statement reads a range of an index backwards, as those of [`super::listing`] do.

use std::cmp::Reverse;

use super::prelude::*;
use crate::limits::{SEARCH_CHUNK, SEARCH_CHUNK_BYTES};

/// Whether `p` is in no vault. A join with all memberships would read all of them.
const IS_UNFILED: &str = "(SELECT m.id FROM vault_prompt m
    WHERE m.account_id = $1 AND m.prompt_id = p.id LIMIT 1) IS NULL";

/// Prompts `p` from a subquery, up to a number of bytes. If `$5`, only those in no vault are
/// `in_place`.
const BEGIN: &str = formatcp!(
    "LEFT JOIN LATERAL (
         SELECT id, title, body, platform, in_place FROM (
             SELECT p.id, p.title, p.body, p.platform, (NOT $5::boolean OR {IS_UNFILED}) AS in_place,
                 sum(octet_length(p.body)) OVER (ROWS UNBOUNDED PRECEDING)
                     - octet_length(p.body) AS bytes_before
             FROM ("
);
const END: &str = formatcp!(
    "        ) p
         ) sized WHERE bytes_before < {SEARCH_CHUNK_BYTES}
     ) p ON true"
);

// Prompts before `$3`, at most `$4`, which is the inner limit too: without it the planner sorts all
// of them. A condition goes in between.
const OF_ACCOUNT: &str = formatcp!(
    "{CALLER} SELECT p.* FROM caller {BEGIN}
         SELECT * FROM (SELECT * FROM prompt WHERE account_id = $1 AND id < $3"
);
const END_OF_ACCOUNT: &str =
    formatcp!("ORDER BY id DESC LIMIT {SEARCH_CHUNK}) ahead LIMIT $4 {END}");

// The same of the vault `$6`. `vault` is NULL if the caller has no such vault.
const OF_VAULT: &str = formatcp!(
    "{CALLER} SELECT p.*, v.id AS vault FROM caller
     LEFT JOIN vault v ON v.account_id = $1 AND v.id = $6
     {BEGIN}
         SELECT one.* FROM (SELECT prompt_id FROM (
             SELECT prompt_id FROM vault_prompt
             WHERE account_id = $1 AND vault_id = v.id AND prompt_id < $3"
);
const END_OF_VAULT: &str = formatcp!(
    "ORDER BY prompt_id DESC LIMIT {SEARCH_CHUNK}) ahead LIMIT $4) m {EACH_PROMPT} {END}"
);

statements! {
    // They may have megabytes, so they have connections of their own.
    long_read TEXTS "search.texts" "{OF_ACCOUNT} {END_OF_ACCOUNT}";
    long_read TEXTS_OF_KIND "search.texts_of_kind" "{OF_ACCOUNT} AND kind = $6 {END_OF_ACCOUNT}";
    long_read TEXTS_IN_VAULT "search.texts_in_vault" "{OF_VAULT} {END_OF_VAULT}";
    long_read TEXTS_OF_KIND_IN_VAULT "search.texts_of_kind_in_vault"
        "{OF_VAULT} AND kind = $7 {END_OF_VAULT}";
    /// Counted up to `$3`, of the type `$4` or all, in a range of the index.
    read_only COUNT "search.count"
        "{CALLER} SELECT (SELECT count(*) FROM (
             (SELECT p.id FROM prompt p WHERE $4::text IS NULL AND p.account_id = $1 AND p.id > 0
                 ORDER BY p.id DESC LIMIT $3)
             UNION ALL
             (SELECT p.id FROM prompt p WHERE p.account_id = $1 AND p.kind = $4
                 ORDER BY p.id DESC LIMIT $3)
         ) counted) FROM caller";
    read_only MEMBERSHIPS "search.memberships"
        "{CALLER} SELECT m.id FROM caller LEFT JOIN vault_prompt m
             ON m.account_id = $1 AND m.vault_id = $3 AND m.prompt_id = ANY($4::bigint[])
         ORDER BY m.id";
}

#[async_trait]
impl SearchStore for PostgresStore {
    async fn prompt_texts(
        &self,
        caller: &Caller,
        place: Place,
        kind: Option<PromptKind>,
        after: Option<PromptId>,
    ) -> Result<TextChunk> {
        let (before, unfiled) = (after.map_or(i64::MAX, PromptId::get), place == Place::NoVault);
        let vault = if let Place::Vault(id) = place { Some(id.get()) } else { None };
        let kind = kind.map(PromptKind::as_str);
        let most = int(SEARCH_CHUNK);
        let (statement, params): (_, Params<'_>) = match (&vault, &kind) {
            (None, None) => (&TEXTS, &[&before, &most, &unfiled]),
            (None, Some(kind)) => (&TEXTS_OF_KIND, &[&before, &most, &unfiled, kind]),
            (Some(vault), None) => (&TEXTS_IN_VAULT, &[&before, &most, &unfiled, vault]),
            (Some(vault), Some(kind)) => {
                (&TEXTS_OF_KIND_IN_VAULT, &[&before, &most, &unfiled, vault, kind])
            }
        };
        let rows = self.db.rows(By::Caller(caller), &[(statement, params)]).await?;
        if let Some(row) = rows.first().filter(|_| vault.is_some()) {
            column::<Option<i64>>(row, "vault")?.ok_or(StoreError::UnknownVault)?;
        }
        chunk(&rows)
    }

    async fn count_prompts(
        &self,
        caller: &Caller,
        kind: Option<PromptKind>,
        most: usize,
    ) -> Result<usize> {
        let params: Params<'_> = &[&int(most), &kind.map(PromptKind::as_str)];
        let count: i64 = column(&self.db.row_of_caller(caller, &COUNT, params).await?, 0)?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    async fn memberships_of(
        &self,
        caller: &Caller,
        vault: VaultId,
        prompts: &[PromptId],
    ) -> Result<Vec<VaultPromptId>> {
        let ids: Vec<_> = prompts.iter().map(|id| id.get()).collect();
        let params: Params<'_> = &[&vault.get(), &ids];
        let rows = self.db.rows(By::Caller(caller), &[(&MEMBERSHIPS, params)]).await?;
        all(&rows, |row| Ok(column::<Option<i64>>(row, 0)?.map(VaultPromptId::new)))
    }
}

fn chunk(rows: &[Row]) -> Result<TextChunk> {
    let mut read = all(rows, |row| {
        let mut columns = Columns { row, next: 0 };
        let Some(id) = columns.take::<Option<_>>()?.map(PromptId::new) else { return Ok(None) };
        let (title, text, platform) = (columns.text()?, columns.text()?, columns.optional_text()?);
        Ok(Some((PromptTexts { id, title, text, platform }, columns.take::<bool>()?)))
    })?;
    read.sort_unstable_by_key(|(texts, _)| Reverse(texts.id));
    let bytes: usize = read.iter().map(|(texts, _)| texts.text.len()).sum();
    let is_full = read.len() == SEARCH_CHUNK || bytes >= SEARCH_CHUNK_BYTES;
    let next = read.last().filter(|_| is_full).map(|(texts, _)| texts.id);
    let count = read.len();
    let texts = read.into_iter().filter(|(_, in_place)| *in_place).map(|(texts, _)| texts);
    Ok(TextChunk { texts: texts.collect(), read: count, next })
}
