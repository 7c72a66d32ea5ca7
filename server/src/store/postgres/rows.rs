//! SQL fragments that statements share, and conversion of rows into records.

use std::sync::Arc;

use bytes::BytesMut;
use const_format::formatcp;
use promptarium::{PromptId, VaultId, VaultPromptId};
use tokio_postgres::Row;
use tokio_postgres::row::RowIndex;
use tokio_postgres::types::{FromSql, IsNull, Json, ToSql, Type, accepts, to_sql_checked};

use super::errors::store_error;
use crate::domain::{
    ImageRef, ListedPrompt, PromptImage, PromptKind, PromptRecord, SharedPrompt, VaultRecord,
    VaultVisibility,
};
use crate::store::{Cause, Result, StoreError};

pub(super) fn column<'a, T: FromSql<'a>>(
    row: &'a Row,
    at: impl RowIndex + std::fmt::Display,
) -> Result<T, StoreError> {
    row.try_get(at).map_err(store_error)
}

/// The records in these rows, without those of NULLs.
pub(super) fn all<T>(rows: &[Row], record: impl Fn(&Row) -> Result<Option<T>>) -> Result<Vec<T>> {
    rows.iter().filter_map(|row| record(row).transpose()).collect()
}

pub(super) fn one(rows: &[Row]) -> Result<&Row> {
    rows.first().ok_or_else(|| StoreError::Internal("there is no row".into()))
}

/// The row of a statement that says whether it found what it changes.
pub(super) fn found(row: &Row) -> Result<()> {
    if column(row, 0)? { Ok(()) } else { Err(StoreError::NotFound) }
}

pub(super) fn int(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) const KEY_IS_VALID: &str =
    "EXISTS (SELECT FROM api_key WHERE id = $2 AND account_id = $1 AND revoked_at IS NULL)";

/// Begins a statement with the CTE `caller`: no row if the key `$2` is revoked or not one of the
/// account `$1`. Every other part names the account by `$1` too, so that Citus can send it to one
/// node. Citus cannot copy a result without columns.
pub(super) const CALLER: &str = "WITH caller AS (
    SELECT id AS key_id FROM api_key WHERE id = $2 AND account_id = $1 AND revoked_at IS NULL
)";

// CTEs with a new `id`. By the default of the column, Citus would take ids that do not increase.
pub(super) const NEW_PROMPT: &str =
    "new_prompt AS MATERIALIZED (SELECT nextval('prompt_id_seq') AS id)";
pub(super) const NEW_MEMBER: &str =
    "new_member AS MATERIALIZED (SELECT nextval('vault_prompt_id_seq') AS id)";
pub(super) const NEW_KEY: &str = "new_key AS MATERIALIZED (SELECT nextval('api_key_id_seq') AS id)";

/// CTEs that put the prompt of `saved` into the vault of `target`, which was locked before, and
/// count it there, if there are both and it is not in it.
pub(super) const INTO_TARGET: &str = formatcp!(
    "{NEW_MEMBER}, added AS (
        INSERT INTO vault_prompt (account_id, id, vault_id, prompt_id, kind)
        SELECT $1, new_member.id, target.id, saved.id, saved.kind FROM target, saved, new_member
        ON CONFLICT DO NOTHING RETURNING vault_id
    ), in_count AS (
        UPDATE vault v SET prompt_count = v.prompt_count + 1
        FROM added WHERE v.account_id = $1 AND v.id = added.vault_id
    )"
);

/// CTEs that store the events of the jobs in `ended`. Their ids are the same on every node, and in
/// the order of time.
pub(super) const EVENTS: &str = "event AS MATERIALIZED (
    SELECT (w.one->>'id')::bigint AS webhook_id, 'msg_' || encode(timestamptz_send(ended.updated_at)
            || substr(sha256(ended.name_digest || convert_to(w.one->>'id', 'UTF8')), 1, 8), 'hex')
        AS id, ended.updated_at, jsonb_build_object('clientJobId', ended.client_job_id,
            'event', 'generation.' || ended.state, 'images', ended.images) AS details
    FROM ended JOIN webhooks h ON h.account_id = $1
    CROSS JOIN LATERAL jsonb_array_elements(h.document->'all') AS w (one)
    WHERE w.one->>'disabled' IS NULL AND w.one->'events' ? ('generation.' || ended.state)
), delivery AS (
    INSERT INTO webhook_delivery (account_id, webhook_id, id, due_at, created_at, details)
    SELECT $1, webhook_id, id, updated_at, updated_at, details FROM event
)";

/// The time of a change at `$now`: later than `$before`. Adding to a `timestamptz` depends on the
/// session's time zone, so Citus refuses it in an UPDATE.
macro_rules! later {
    ($now:literal, $before:literal) => {
        const_format::formatcp!(
            "greatest({}, ({} AT TIME ZONE 'UTC' + interval '1 microsecond') AT TIME ZONE 'UTC')",
            $now,
            $before
        )
    };
}
pub(super) use later;

/// Whether the key `k` is no session. `NOT EXISTS` may be made a join with all sessions.
pub(super) const IS_NO_SESSION: &str =
    "(SELECT s.key_id FROM session s WHERE s.key_id = k.id) IS NULL";

/// The columns that [`prompt`] reads, of `p` of the account `$1`. Other columns follow.
pub(super) const PROMPT_COLUMNS: &str =
    "p.id, p.kind, p.title, p.body, p.platform, p.images, p.created_at, p.updated_at,
    ARRAY(SELECT m.vault_id FROM vault_prompt m
        WHERE m.account_id = $1 AND m.prompt_id = p.id) AS vault_ids";

/// The columns of a new prompt that its author chooses, `$3` to `$10` of most statements.
pub(super) const INPUT_COLUMNS: &str =
    "kind, title, body, platform, model_id, aspect_ratio, image_url, reference_media_urls";

/// Joins the rows of `m` with their prompts, as `one`, in order: `OFFSET 0` prevents a join.
pub(super) const EACH_PROMPT: &str = "CROSS JOIN LATERAL (
    SELECT * FROM prompt WHERE account_id = $1 AND id = m.prompt_id OFFSET 0
) one";

/// The columns that [`vault`] reads, of a table or subquery named `v`.
pub(super) const VAULT_COLUMNS: &str =
    "v.id, v.name, v.description, v.slug, v.visibility, v.cover_image_url, v.system,
    v.prompt_count, v.created_at, v.updated_at";

/// The prompt in a row of [`PROMPT_COLUMNS`]; `None` if an outer join found no prompt.
pub(super) fn prompt(row: &Row) -> Result<Option<SharedPrompt>> {
    let mut columns = Columns { row, next: 0 };
    let Some(id) = columns.take()? else { return Ok(None) };
    // Fields are evaluated in source order, which is the order of the columns.
    Ok(Some(Arc::new(PromptRecord {
        id: PromptId::new(id),
        kind: columns.one_of(PromptKind::ALL)?,
        title: columns.text()?,
        text: columns.text()?,
        platform: columns.optional_text()?,
        images: columns.take::<Json<Vec<PromptImage>>>()?.0.into(),
        created_at: columns.take()?,
        updated_at: columns.take()?,
        vault_ids: {
            // Sorted here, which costs less than for each row in the database.
            let mut ids: Vec<_> = columns.take::<Vec<i64>>()?;
            ids.sort_unstable();
            ids.into_iter().map(VaultId::new).collect()
        },
    })))
}

/// The same with the columns `membership` and `pinned`.
pub(super) fn listed_prompt(row: &Row) -> Result<Option<ListedPrompt>> {
    let Some(prompt) = prompt(row)? else { return Ok(None) };
    let membership = VaultPromptId::new(column(row, "membership")?);
    Ok(Some(ListedPrompt { prompt, membership, pinned: column(row, "pinned")? }))
}

/// The vault in a row of [`VAULT_COLUMNS`]; `None` if an outer join found no vault.
pub(super) fn vault(row: &Row) -> Result<Option<VaultRecord>> {
    let mut columns = Columns { row, next: 0 };
    let Some(id) = columns.take()? else { return Ok(None) };
    Ok(Some(VaultRecord {
        id: VaultId::new(id),
        name: columns.text()?,
        description: columns.optional_text()?,
        slug: columns.text()?,
        visibility: columns.one_of(VaultVisibility::ALL)?,
        cover_image: columns.take()?,
        system: columns.take()?,
        prompt_count: columns.take::<i64>()?.unsigned_abs(),
        created_at: columns.take()?,
        updated_at: columns.take()?,
    }))
}

/// Reads the values of a row in order: by name, each would be searched.
pub(super) struct Columns<'a> {
    pub(super) row: &'a Row,
    pub(super) next: usize,
}

impl<'a> Columns<'a> {
    pub(super) fn take<T: FromSql<'a>>(&mut self) -> Result<T> {
        let index = self.next;
        self.next += 1;
        column(self.row, index)
    }

    pub(super) fn text(&mut self) -> Result<Arc<str>> {
        self.take::<&str>().map(Arc::from)
    }

    pub(super) fn optional_text(&mut self) -> Result<Option<Arc<str>>> {
        Ok(self.take::<Option<&str>>()?.map(Arc::from))
    }

    fn one_of<T: Copy>(&mut self, all: &[(&str, T)]) -> Result<T> {
        let text = self.take::<&str>()?;
        let found = all.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        found.ok_or_else(|| StoreError::Internal(format!("unknown value {text:?}").into()))
    }
}

/// A text column holds the text of an [`ImageRef`].
impl ToSql for ImageRef {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Cause> {
        self.to_string().to_sql(of, out)
    }

    accepts!(TEXT);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for ImageRef {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Cause> {
        <&str>::from_sql(of, raw).map(Self::from)
    }

    accepts!(TEXT);
}
