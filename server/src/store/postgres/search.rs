//! Searches: prompts by the beginnings of their words.
//!
//! A search reads the newest prompts first. Common words are found there, whatever the size of the
//! account. Only if the newest ones have too few matches does it ask the index of words, which is
//! good at rare words: it has to read every match.

use async_trait::async_trait;
use const_format::formatcp;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::PostgresStore;
use super::db::{By, Params, Statement};
use super::listing::{AHEAD, PAGE_MAX, page_of};
use super::rows::{CALLER, EACH_PROMPT, PROMPT_COLUMNS, all, column, int};
use crate::domain::{Caller, Place, PromptKind, PromptPage, PromptQuery, PromptSearch};
use crate::store::{PromptStore, Result, SearchStore, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] =
    &[&RECENT, &RECENT_IN_VAULT, &BY_WORDS, &UNFILED, &COUNT, &COUNT_OF_KIND, &MEMBERSHIPS];

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

/// Matches for `$5` among the newest prompts of `recent`, before `$3`; at most `$4`, and how many
/// prompts were read.
const OF_RECENT: &str = formatcp!(
    "SELECT {PROMPT_COLUMNS}, (SELECT count(*) FROM recent) AS read
     FROM caller LEFT JOIN LATERAL (
         SELECT * FROM recent p WHERE {WORDS} @@ to_tsquery('simple', $5) AND {IS_CHOSEN}
         ORDER BY p.id DESC LIMIT $4
     ) p ON true
     ORDER BY p.id DESC"
);

static RECENT: Statement = Statement::read_only(
    "search.recent",
    formatcp!(
        "{CALLER}, recent AS MATERIALIZED (
             SELECT * FROM prompt WHERE account_id = $1 AND id < $3 ORDER BY id DESC LIMIT {RECENT_ROWS}
         ) {OF_RECENT}"
    ),
);

/// The same in the vault `$8`.
static RECENT_IN_VAULT: Statement = Statement::read_only(
    "search.recent_in_vault",
    formatcp!(
        "{CALLER}, recent AS MATERIALIZED (
             SELECT one.* FROM (
                 SELECT prompt_id FROM vault_prompt
                 WHERE account_id = $1 AND vault_id = $8 AND prompt_id < $3
                 ORDER BY prompt_id DESC LIMIT {RECENT_ROWS}
             ) m {EACH_PROMPT}
         ) {OF_RECENT}"
    ),
);

/// All matches, in the vault `$8` if there is one. `$9` is the word of the account. It has a
/// condition of its own: by two of them the planner expects so few rows that it takes the index.
static BY_WORDS: Statement = Statement::read_only(
    "search.by_words",
    formatcp!(
        "{CALLER}, m AS MATERIALIZED (
             SELECT p.id AS prompt_id FROM prompt p
             WHERE p.account_id = $1 AND {WORDS} @@ to_tsquery('simple', $9)
                 AND {WORDS} @@ to_tsquery('simple', $5) AND p.id < $3 AND {IS_CHOSEN}
                 AND ($8::bigint IS NULL OR EXISTS (SELECT FROM vault_prompt m
                     WHERE m.account_id = $1 AND m.vault_id = $8 AND m.prompt_id = p.id))
             ORDER BY p.id DESC LIMIT $4
         )
         SELECT {PROMPT_COLUMNS} FROM caller LEFT JOIN (SELECT one.* FROM m {EACH_PROMPT}) p ON true
         ORDER BY p.id DESC"
    ),
);

/// The prompts in no vault, without words. There is no index of them, so it reads at most 100,000
/// prompts: more could take longer than a statement may.
static UNFILED: Statement = Statement::read_only(
    "search.unfiled",
    formatcp!(
        "{CALLER} SELECT {PROMPT_COLUMNS} FROM caller LEFT JOIN LATERAL (
             SELECT * FROM (
                 SELECT * FROM (
                     SELECT * FROM prompt
                     WHERE account_id = $1 AND id < $3 ORDER BY id DESC LIMIT 100000
                 ) p
                 WHERE ($5::text IS NULL OR p.kind = $5) AND {IS_UNFILED}
                 ORDER BY p.id DESC LIMIT {AHEAD}
             ) ahead LIMIT $4
         ) p ON true
         ORDER BY p.id DESC"
    ),
);

/// The number of the prompts that `$condition` finds, counted up to `$3`.
macro_rules! count {
    ($condition:literal) => {
        formatcp!(
            "{CALLER} SELECT (SELECT count(*) FROM (
                 SELECT p.id FROM prompt p WHERE p.account_id = $1 AND {}
                 ORDER BY p.id DESC LIMIT $3
             ) counted) FROM caller",
            $condition
        )
    };
}

/// Ids are positive. Like this it is a range of the index.
static COUNT: Statement = Statement::read_only("search.count", count!("p.id > 0"));
static COUNT_OF_KIND: Statement =
    Statement::read_only("search.count_of_kind", count!("p.kind = $4"));

static MEMBERSHIPS: Statement = Statement::read_only(
    "search.memberships",
    formatcp!(
        "{CALLER} SELECT m.id FROM caller LEFT JOIN vault_prompt m
             ON m.account_id = $1 AND m.vault_id = $3 AND m.prompt_id = ANY($4::bigint[])
         ORDER BY m.id"
    ),
);

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
        let before = after.map_or(i64::MAX, PromptId::get);
        let (kind, vault) = (kind.map(PromptKind::as_str), vault.map(VaultId::get));
        let words = query(&search.words);
        let account_word = format!("'-{}'", caller.account.0);
        let key: Params<'_> = &[&before, &int(limit + 1)];

        if search.words.is_empty() {
            let params = [key, &[&kind]].concat();
            return page_of(&self.db.rows(by, &UNFILED, &params).await?, limit);
        }
        let filters: Params<'_> = &[&words, &kind, &unfiled, &vault, &account_word];
        let (recent, params) = match vault {
            None => (&RECENT, [key, &filters[..3]].concat()),
            Some(_) => (&RECENT_IN_VAULT, [key, &filters[..4]].concat()),
        };
        let rows = self.db.rows(by, recent, &params).await?;
        let read: i64 = rows.first().map_or(Ok(0), |row| column(row, "read"))?;
        if rows.len() > limit || read < RECENT_ROWS {
            return page_of(&rows, limit);
        }
        let params = [key, filters].concat();
        page_of(&self.db.rows(by, &BY_WORDS, &params).await?, limit)
    }

    async fn count_prompts(
        &self,
        caller: &Caller,
        kind: Option<PromptKind>,
        most: usize,
    ) -> Result<usize> {
        let params: Params<'_> = &[&int(most), &kind.map(PromptKind::as_str)];
        let row = match kind {
            None => self.db.row_of_caller(caller, &COUNT, &params[..1]).await?,
            Some(_) => self.db.row_of_caller(caller, &COUNT_OF_KIND, params).await?,
        };
        let count: i64 = column(&row, 0)?;
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
