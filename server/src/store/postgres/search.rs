//! Searches: prompts by the beginnings of their words.
//!
//! A search reads the newest prompts first. Common words are found there, whatever the size of the
//! account. Only if the newest ones have too few matches does it ask the index of words, which is
//! good at rare words: it has to read every match.

use async_trait::async_trait;
use const_format::formatcp;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::PostgresStore;
use super::listing::{AHEAD, PAGE_MAX, page_of};
use super::rows::{CALLER, EACH_PROMPT, PROMPT_COLUMNS, all, column, int};
use super::send::{By, Params};
use crate::domain::{Caller, Place, PromptKind, PromptPage, PromptQuery, PromptSearch};
use crate::store::{PromptStore, Result, SearchStore, StoreError};

/// The prompts that [`RECENT`] reads.
const RECENT_ROWS: i64 = 500;

/// The expression of the index `prompt_words`, of a table named `p`.
const WORDS: &str = r##"to_tsvector('simple', (-p.account_id)::text || ' ' || translate(
    p.title || ' ' || p.body || ' ' || coalesce(p.platform, ''),
    '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~—–…“”„‘’«»·•¡¿、。，！？：；（）「」『』',
    '                                                           '))"##;

/// Whether `p` is in no vault. A subquery for each row: a join with all memberships would read all
/// of them.
const IS_UNFILED: &str = "(SELECT m.id FROM vault_prompt m
    WHERE m.account_id = $1 AND m.prompt_id = p.id LIMIT 1) IS NULL";

/// Whether `p` is of the type `$6`, and in no vault if `$7`.
const IS_CHOSEN: &str =
    formatcp!("($6::text IS NULL OR p.kind = $6) AND (NOT $7::boolean OR {IS_UNFILED})");

statements! {
    /// Matches for `$5` among the newest prompts before `$3`, of the vault `$8` if there is one; at
    /// most `$4`, and how many prompts were read.
    read_only RECENT "search.recent"
        "{CALLER}, recent AS MATERIALIZED (
             (SELECT * FROM prompt WHERE $8::bigint IS NULL AND account_id = $1 AND id < $3
                 ORDER BY id DESC LIMIT {RECENT_ROWS})
             UNION ALL
             SELECT one.* FROM (
                 SELECT prompt_id FROM vault_prompt
                 WHERE account_id = $1 AND vault_id = $8 AND prompt_id < $3
                 ORDER BY prompt_id DESC LIMIT {RECENT_ROWS}
             ) m {EACH_PROMPT}
         )
         SELECT {PROMPT_COLUMNS}, (SELECT count(*) FROM recent) AS read
         FROM caller LEFT JOIN LATERAL (
             SELECT * FROM recent p WHERE {WORDS} @@ to_tsquery('simple', $5) AND {IS_CHOSEN}
             ORDER BY p.id DESC LIMIT $4
         ) p ON true";
    /// All matches, in the vault `$8` if there is one. `$9` is the word of the account. It has a
    /// condition of its own: by two of them the planner expects so few rows that it takes the index.
    read_only BY_WORDS "search.by_words"
        "{CALLER}, m AS MATERIALIZED (
             SELECT p.id AS prompt_id FROM prompt p
             WHERE p.account_id = $1 AND {WORDS} @@ to_tsquery('simple', $9)
                 AND {WORDS} @@ to_tsquery('simple', $5) AND p.id < $3 AND {IS_CHOSEN}
                 AND ($8::bigint IS NULL OR EXISTS (SELECT FROM vault_prompt m
                     WHERE m.account_id = $1 AND m.vault_id = $8 AND m.prompt_id = p.id))
             ORDER BY p.id DESC LIMIT $4
         )
         SELECT {PROMPT_COLUMNS} FROM caller LEFT JOIN (SELECT one.* FROM m {EACH_PROMPT}) p ON true";
    /// The prompts in no vault, without words. There is no index of them, so it reads at most 100,000
    /// prompts: more could take longer than a statement may.
    read_only UNFILED "search.unfiled"
        "{CALLER} SELECT {PROMPT_COLUMNS} FROM caller LEFT JOIN LATERAL (
             SELECT * FROM (
                 SELECT * FROM (
                     SELECT * FROM prompt
                     WHERE account_id = $1 AND id < $3 ORDER BY id DESC LIMIT 100000
                 ) p
                 WHERE ($5::text IS NULL OR p.kind = $5) AND {IS_UNFILED}
                 ORDER BY p.id DESC LIMIT {AHEAD}
             ) ahead LIMIT $4
         ) p ON true";
    /// Counted up to `$3`: all, or those of the type `$4`. Ids are positive; a condition on them makes
    /// it a range of the index.
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
    async fn search_prompts(&self, caller: &Caller, search: PromptSearch) -> Result<PromptPage> {
        let PromptSearch { kind, after, limit, .. } = search;
        let vault = if let Place::Vault(id) = search.place { Some(id) } else { None };
        let unfiled = search.place == Place::NoVault;
        if search.words.is_empty() && !unfiled {
            let query = PromptQuery { vault, kind, after, limit };
            return match self.list_prompts(caller, query).await {
                Err(StoreError::UnknownVault) => Ok(PromptPage { prompts: vec![], more: false }),
                page => page,
            };
        }
        let limit = limit.min(PAGE_MAX);
        let by = By::List(caller, limit + 1);
        let (before, rows_max) = (after.map_or(i64::MAX, PromptId::get), int(limit + 1));
        let (kind, vault) = (kind.map(PromptKind::as_str), vault.map(VaultId::get));
        if search.words.is_empty() {
            let rows = self.db.rows(by, &UNFILED, &[&before, &rows_max, &kind]).await?;
            return page_of(&rows, limit);
        }
        let (words, account_word) = (query(&search.words), format!("'-{}'", caller.account.0));
        let params: Params<'_> =
            &[&before, &rows_max, &words, &kind, &unfiled, &vault, &account_word];
        let rows = self.db.rows(by, &RECENT, &params[..6]).await?;
        let read: i64 = rows.first().map_or(Ok(0), |row| column(row, "read"))?;
        if rows.len() > limit || read < RECENT_ROWS {
            return page_of(&rows, limit);
        }
        page_of(&self.db.rows(by, &BY_WORDS, params).await?, limit)
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
        let rows = self.db.rows(By::Caller(caller), &MEMBERSHIPS, params).await?;
        all(&rows, |row| Ok(column::<Option<i64>>(row, 0)?.map(VaultPromptId::new)))
    }
}

/// The words as the text of a `tsquery`. They are letters and digits only.
fn query(words: &[String]) -> String {
    let term = |word: &String| match PromptSearch::is_whole(word) {
        true => format!("'{word}'"),
        false => format!("'{word}':*"),
    };
    words.iter().map(term).collect::<Vec<_>>().join(" & ")
}
