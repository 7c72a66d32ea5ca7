//! Searches: prompts by the beginnings of their words.
//!
//! A search reads the newest prompts first. Common words are found there, whatever the size of the
//! account. Only if the newest ones have too few matches does it ask the index of words, which is
//! good at rare words: it has to read every match.

use async_trait::async_trait;
use const_format::concatcp;
use promptarium::{PromptId, VaultId, VaultPromptId};

use super::PostgresStore;
use super::db::{Params, Statement};
use super::listing::PAGE_MAX;
use super::rows::{self, CALLER, PROMPT_COLUMNS, column};
use crate::domain::{Caller, Place, PromptKind, PromptPage, PromptQuery, PromptSearch};
use crate::store::{PromptStore, Result, SearchStore, StoreError};

#[cfg(test)]
pub(super) static ALL: &[&Statement] =
    &[&RECENT, &RECENT_IN_VAULT, &BY_WORDS, &UNFILED, &COUNT, &COUNT_OF_KIND, &MEMBERSHIPS];

/// The prompts that [`RECENT`] reads.
const RECENT_ROWS: i64 = 500;

/// The expression of the index `prompt_words`, of a table named `p`.
macro_rules! words {
    () => {
        "to_tsvector('simple', (-p.account_id)::text || ' ' || translate(
             p.title || ' ' || p.body || ' ' || coalesce(p.platform, ''),
             '!\"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~—–…“”„‘’«»·•¡¿、。，！？：；（）「」『』',
             '                                                           '))"
    };
}

/// Whether `p` is of the type `$6`, and in no vault if `$7`. A subquery for each row: a join with
/// all memberships would read all of them.
macro_rules! is_chosen {
    () => {
        "($6::text IS NULL OR p.kind = $6) AND (NOT $7::boolean OR (SELECT m.id FROM vault_prompt m
             WHERE m.account_id = $1 AND m.prompt_id = p.id LIMIT 1) IS NULL)"
    };
}

/// Matches for `$5` among the newest prompts of `$rows` before `$3`; at most `$4`, and how many
/// prompts were read.
macro_rules! recent {
    ($rows:expr) => {
        concatcp!(
            CALLER,
            ", recent AS MATERIALIZED (",
            $rows,
            ") SELECT ",
            PROMPT_COLUMNS,
            ", (SELECT count(*) FROM recent) AS read
             FROM caller LEFT JOIN LATERAL (
                 SELECT * FROM recent p WHERE ",
            words!(),
            " @@ to_tsquery('simple', $5) AND ",
            is_chosen!(),
            " ORDER BY p.id DESC LIMIT $4
             ) p ON true
             ORDER BY p.id DESC"
        )
    };
}

static RECENT: Statement = Statement::read_only(
    "search.recent",
    recent!("SELECT * FROM prompt WHERE account_id = $1 AND id < $3 ORDER BY id DESC LIMIT 500"),
);

/// The same in the vault `$8`.
static RECENT_IN_VAULT: Statement = Statement::read_only(
    "search.recent_in_vault",
    recent!(
        "SELECT one.* FROM (
             SELECT prompt_id FROM vault_prompt
             WHERE account_id = $1 AND vault_id = $8 AND prompt_id < $3
             ORDER BY prompt_id DESC LIMIT 500
         ) m CROSS JOIN LATERAL (
             SELECT * FROM prompt WHERE account_id = $1 AND id = m.prompt_id OFFSET 0
         ) one"
    ),
);

/// All matches, in the vault `$8` if there is one. `$9` is the word of the account. It has a
/// condition of its own: by two of them the planner expects so few rows that it takes the index.
static BY_WORDS: Statement = Statement::read_only(
    "search.by_words",
    concatcp!(
        CALLER,
        ", found AS MATERIALIZED (
             SELECT p.id FROM prompt p
             WHERE p.account_id = $1 AND ",
        words!(),
        " @@ to_tsquery('simple', $9) AND ",
        words!(),
        " @@ to_tsquery('simple', $5) AND p.id < $3 AND ",
        is_chosen!(),
        " AND ($8::bigint IS NULL OR EXISTS (SELECT FROM vault_prompt m
                 WHERE m.account_id = $1 AND m.vault_id = $8 AND m.prompt_id = p.id))
             ORDER BY p.id DESC LIMIT $4
         )
         SELECT ",
        PROMPT_COLUMNS,
        " FROM caller LEFT JOIN (
             SELECT one.* FROM found CROSS JOIN LATERAL (
                 SELECT * FROM prompt WHERE account_id = $1 AND id = found.id OFFSET 0
             ) one
         ) p ON true
         ORDER BY p.id DESC"
    ),
);

/// The prompts in no vault, without words. There is no index of them, so it reads at most 100,000
/// prompts: more could take longer than a statement may.
static UNFILED: Statement = Statement::read_only(
    "search.unfiled",
    concatcp!(
        CALLER,
        " SELECT ",
        PROMPT_COLUMNS,
        " FROM caller LEFT JOIN LATERAL (
             SELECT * FROM (
                 SELECT * FROM (
                     SELECT * FROM prompt
                     WHERE account_id = $1 AND id < $3 ORDER BY id DESC LIMIT 100000
                 ) p
                 WHERE ($5::text IS NULL OR p.kind = $5) AND (SELECT m.id FROM vault_prompt m
                     WHERE m.account_id = $1 AND m.prompt_id = p.id LIMIT 1) IS NULL
                 ORDER BY p.id DESC LIMIT 101
             ) ahead LIMIT $4
         ) p ON true
         ORDER BY p.id DESC"
    ),
);

/// The number of the prompts that `$condition` finds, counted up to `$3`.
macro_rules! count {
    ($condition:literal) => {
        concatcp!(
            CALLER,
            " SELECT (SELECT count(*) FROM (
                 SELECT p.id FROM prompt p WHERE p.account_id = $1 AND ",
            $condition,
            " ORDER BY p.id DESC LIMIT $3
             ) counted) FROM caller"
        )
    };
}

/// Ids are positive. Like this it is a range of the index.
static COUNT: Statement = Statement::read_only("search.count", count!("p.id > 0"));
static COUNT_OF_KIND: Statement =
    Statement::read_only("search.count_of_kind", count!("p.kind = $4"));

static MEMBERSHIPS: Statement = Statement::read_only(
    "search.memberships",
    concatcp!(
        CALLER,
        " SELECT m.id FROM caller LEFT JOIN vault_prompt m
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
        let row_limit = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let before = after.map_or(i64::MAX, PromptId::get);
        let (kind, vault) = (kind.map(PromptKind::as_str), vault.map(VaultId::get));
        let words = query(&search.words);
        let account_word = format!("'-{}'", caller.account.0);
        let key: Params<'_> = &[&before, &row_limit];

        if search.words.is_empty() {
            let params = [key, &[&kind]].concat();
            let rows = self.db.list_of_caller(caller, &UNFILED, &params, limit + 1).await?;
            return page(&rows, limit);
        }
        let filters: Params<'_> = &[&words, &kind, &unfiled, &vault, &account_word];
        let (recent, params) = match vault {
            None => (&RECENT, [key, &filters[..3]].concat()),
            Some(_) => (&RECENT_IN_VAULT, [key, &filters[..4]].concat()),
        };
        let rows = self.db.list_of_caller(caller, recent, &params, limit + 1).await?;
        let read: i64 = rows.first().map_or(Ok(0), |row| column(row, "read"))?;
        if rows.len() > limit || read < RECENT_ROWS {
            return page(&rows, limit);
        }
        let params = [key, filters].concat();
        page(&self.db.list_of_caller(caller, &BY_WORDS, &params, limit + 1).await?, limit)
    }

    async fn count_prompts(
        &self,
        caller: &Caller,
        kind: Option<PromptKind>,
        most: usize,
    ) -> Result<usize> {
        let (most, kind) = (i64::try_from(most).unwrap_or(i64::MAX), kind.map(PromptKind::as_str));
        let params: Params<'_> = &[&most, &kind];
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
        let rows = self.db.rows_of_caller(caller, &MEMBERSHIPS, params).await?;
        let ids = rows.iter().map(|row| Ok(column::<Option<i64>>(row, 0)?.map(VaultPromptId::new)));
        ids.filter_map(Result::transpose).collect()
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

/// The rows of a page and one more; an empty page is one row of NULLs.
fn page(rows: &[tokio_postgres::Row], limit: usize) -> Result<PromptPage> {
    let shown = rows.iter().take(limit).filter_map(|row| rows::prompt(row).transpose());
    Ok(PromptPage { prompts: shown.collect::<Result<_>>()?, more: rows.len() > limit })
}
