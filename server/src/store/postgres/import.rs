//! Adding the prompts and vaults of an export, in one transaction.
//!
//! Ids are taken from the sequences before, so that each statement has the rows of one account.

use const_format::concatcp;
use std::collections::BTreeMap;

use serde::Serialize;
use tokio_postgres::types::{Json, ToSql};

use super::PostgresStore;
use super::db::{Db, Statement};
use super::keys::CONFIRM;
use super::rows::{CALLER, KEY_IS_VALID, column};
use super::steps::{LOCK_ACCOUNT, Step};
use super::vaults::free_slug;
use crate::domain::{AccountData, Caller, ImageRef, PromptData, PromptImage, VaultData, slug};
use crate::limits::ACCOUNT_ROWS_AT_ONCE;
use crate::store::{Result, StoreError, VaultStore};

#[cfg(test)]
pub(super) static ALL: &[&Statement] =
    &[&PROMPT_IDS, &VAULT_IDS, &MEMBERSHIP_IDS, &PROMPTS, &VAULT, &MEMBERS];

static PROMPT_IDS: Statement = Statement::idempotent(
    "import.prompt_ids",
    "SELECT nextval('prompt_id_seq') FROM generate_series(1, $1::bigint)",
);

static VAULT_IDS: Statement = Statement::idempotent(
    "import.vault_ids",
    "SELECT nextval('vault_id_seq') FROM generate_series(1, $1::bigint)",
);

static MEMBERSHIP_IDS: Statement = Statement::idempotent(
    "import.membership_ids",
    "SELECT nextval('vault_prompt_id_seq') FROM generate_series(1, $1::bigint)",
);

static PROMPTS: Statement = Statement::non_idempotent(
    "import.prompts",
    concatcp!(
        "INSERT INTO prompt (account_id, id, kind, title, body, platform, model_id, aspect_ratio,
             image_url, reference_media_urls, images, created_at, updated_at)
         SELECT $1, n.id, n.kind, n.title, n.body, n.platform, n.model_id, n.aspect_ratio,
             n.image_url, n.reference_media_urls, n.images, n.created_at, n.updated_at
         FROM jsonb_to_recordset($3::jsonb) AS n (id bigint, kind text, title text, body text,
             platform text, model_id text, aspect_ratio text, image_url text,
             reference_media_urls text[], images jsonb, created_at timestamptz,
             updated_at timestamptz)
         WHERE ",
        KEY_IS_VALID
    ),
);

/// `$11` is how many vaults the account may have.
static VAULT: Statement = Statement::non_idempotent(
    "import.vault",
    concatcp!(
        CALLER,
        ", v AS (
            INSERT INTO vault (account_id, id, name, description, visibility, slug,
                cover_image_url, created_at, updated_at)
            SELECT $1, $3, $4, $5, $6, ",
        free_slug!("$7", "0"),
        ", $8, $9, $10 FROM caller
            WHERE (SELECT count(*) FROM vault every WHERE every.account_id = $1) < $11::bigint
            RETURNING id
        )
        INSERT INTO vault_directory (vault_id, account_id) SELECT v.id, $1 FROM v"
    ),
);

/// Into the vault `$3`. Its pins come after those that it has.
static MEMBERS: Statement = Statement::non_idempotent(
    "import.members",
    concatcp!(
        CALLER,
        ", v AS (
            UPDATE vault v SET prompt_count = v.prompt_count + cardinality($4::bigint[])
            WHERE v.account_id = $1 AND v.id = $3 AND ",
        KEY_IS_VALID,
        " RETURNING v.id
        )
        INSERT INTO vault_prompt (account_id, id, vault_id, prompt_id, kind, pin)
        SELECT $1, n.id, v.id, n.prompt_id, n.kind, n.pin + coalesce((
            SELECT max(other.pin) FROM vault_prompt other
            WHERE other.account_id = $1 AND other.vault_id = $3), 0)
        FROM v, unnest($4::bigint[], $5::bigint[], $6::text[], $7::bigint[])
            AS n (id, prompt_id, kind, pin)"
    ),
);

/// A prompt as [`PROMPTS`] takes it.
#[derive(Debug, Serialize)]
struct PromptRow<'a> {
    id: i64,
    kind: &'static str,
    title: &'a str,
    body: &'a str,
    platform: Option<&'a str>,
    model_id: Option<&'a str>,
    aspect_ratio: Option<&'a str>,
    image_url: Option<&'a ImageRef>,
    reference_media_urls: Option<&'a [ImageRef]>,
    images: &'a [PromptImage],
    created_at: String,
    updated_at: String,
}

/// A vault as [`VAULT`] takes it.
struct VaultRow<'a> {
    id: i64,
    name: &'a str,
    description: Option<&'a str>,
    visibility: &'static str,
    base: String,
    data: &'a VaultData,
}

/// The memberships of a vault as [`MEMBERS`] takes them.
#[derive(Default)]
struct MemberRows {
    ids: Vec<i64>,
    prompts: Vec<i64>,
    kinds: Vec<&'static str>,
    pins: Vec<Option<i64>>,
}

type Values<'a, const N: usize> = [&'a (dyn ToSql + Sync); N];

/// See [`AccountStore::import`](crate::store::AccountStore::import).
pub(super) async fn import(
    store: &PostgresStore,
    caller: &Caller,
    data: &AccountData,
) -> Result<()> {
    let db = &store.db;
    let present = store.vaults(caller).await?;
    let new = data.vaults.iter().filter(|vault| !vault.system).collect::<Vec<_>>();
    if (present.len() + new.len()) as i64 > store.vaults_max {
        return Err(StoreError::TooManyVaults);
    }
    let general = present.iter().find(|vault| vault.system).map(|vault| vault.id.get());
    let general = general.ok_or(StoreError::UnknownVault)?;
    let prompt_ids = ids(db, &PROMPT_IDS, data.prompts.len()).await?;
    let mut vault_ids = ids(db, &VAULT_IDS, new.len()).await?.into_iter();
    let memberships = data.vaults.iter().map(|vault| vault.members.len()).sum();
    let mut member_ids = ids(db, &MEMBERSHIP_IDS, memberships).await?.into_iter();

    let rows = data.prompts.iter().zip(&prompt_ids).map(|(data, id)| prompt_row(*id, data));
    let rows = rows.collect::<Vec<_>>();
    let batches = rows.chunks(ACCOUNT_ROWS_AT_ONCE as usize).map(Json).collect::<Vec<_>>();
    let (mut vaults, mut members) = (Vec::new(), BTreeMap::<i64, MemberRows>::new());
    for data_of_vault in &data.vaults {
        let id = match data_of_vault.system {
            true => general,
            false => vault_ids.next().ok_or_else(no_id)?,
        };
        if !data_of_vault.system {
            vaults.push(vault_row(id, data_of_vault));
        }
        let rows = members.entry(id).or_default();
        // The last one to be added, and the last one to be pinned, are shown first.
        for &(prompt, pinned) in data_of_vault.members.iter().rev() {
            rows.ids.push(member_ids.next().ok_or_else(no_id)?);
            rows.prompts.push(*prompt_ids.get(prompt).ok_or_else(no_id)?);
            rows.kinds.push(data.prompts[prompt].new.kind.as_str());
            let pin = i64::try_from(rows.ids.len()).unwrap_or(i64::MAX);
            rows.pins.push(pinned.then_some(pin));
        }
    }

    let prompt_values: Vec<Values<'_, 1>> = batches.iter().map(|batch| [batch as _]).collect();
    let vault_values: Vec<Values<'_, 9>> =
        vaults.iter().map(|row| row.values(&store.vaults_max)).collect();
    let member_values: Vec<Values<'_, 5>> = members
        .iter()
        .map(|(id, rows)| {
            let MemberRows { ids, prompts, kinds, pins } = rows;
            [id as _, ids as _, prompts as _, kinds as _, pins as _]
        })
        .collect();
    let mut steps: Vec<Step<'_>> = vec![(&LOCK_ACCOUNT, &[])];
    steps.extend(prompt_values.iter().map(|values| (&PROMPTS, &values[..])));
    steps.extend(vault_values.iter().map(|values| (&VAULT, &values[..])));
    steps.extend(member_values.iter().map(|values| (&MEMBERS, &values[..])));
    steps.push((&CONFIRM, &[]));
    db.row_of_steps(caller, Some(db.long_limit), &steps).await.map(drop)
}

async fn ids(db: &Db, statement: &'static Statement, count: usize) -> Result<Vec<i64>> {
    let rows = db.rows(statement, &[&i64::try_from(count).unwrap_or(i64::MAX)]).await?;
    rows.iter().map(|row| column(row, 0)).collect()
}

fn no_id() -> StoreError {
    StoreError::Internal("an imported row has no id".into())
}

fn prompt_row(id: i64, data: &PromptData) -> PromptRow<'_> {
    let (new, inputs) = (&data.new, &data.new.inputs);
    PromptRow {
        id,
        kind: new.kind.as_str(),
        title: &new.title,
        body: &new.text,
        platform: new.platform.as_deref(),
        model_id: inputs.model_id.as_deref(),
        aspect_ratio: inputs.aspect_ratio.as_deref(),
        image_url: inputs.image_url.as_ref(),
        reference_media_urls: inputs.reference_media_urls.as_deref(),
        images: &data.images,
        created_at: data.created_at.to_string(),
        updated_at: data.updated_at.to_string(),
    }
}

fn vault_row(id: i64, data: &VaultData) -> VaultRow<'_> {
    VaultRow {
        id,
        name: &data.new.name,
        description: data.new.description.as_deref(),
        visibility: data.new.visibility.as_str(),
        base: slug::base(&data.new.name),
        data,
    }
}

impl VaultRow<'_> {
    fn values<'a>(&'a self, most: &'a i64) -> Values<'a, 9> {
        let Self { id, name, description, visibility, base, data } = self;
        [
            id,
            name,
            description,
            visibility,
            base,
            &data.cover_image,
            &data.created_at,
            &data.updated_at,
            most,
        ]
    }
}
