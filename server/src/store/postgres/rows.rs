//! SQL fragments that statements share, and conversion of rows into records.

use std::error::Error;
use std::sync::Arc;

use jiff::Timestamp;
use promptarium::{PromptId, VaultId};
use serde::Deserialize;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Json, Type};

use super::db::column;
use crate::domain::{
    PromptImage, PromptInputs, PromptKind, PromptRecord, SharedPrompt, VaultRecord, VaultVisibility,
};
use crate::store::{Result, StoreError};

/// The subquery for the CTE `caller`: the account of the key `$1`, or no row if the key is
/// revoked. With a parameter such as `"$5"` it also has the current time as `now`: that
/// parameter, or the database's clock if it is NULL.
macro_rules! caller {
    () => {
        "(SELECT account_id FROM api_key WHERE id = $1 AND revoked_at IS NULL)"
    };
    ($now:literal) => {
        concat!(
            "(SELECT account_id, coalesce(",
            $now,
            ", clock_timestamp()) AS now FROM api_key WHERE id = $1 AND revoked_at IS NULL)"
        )
    };
}
pub(super) use caller;

/// The columns of a prompt itself, of a table or subquery named `p`.
macro_rules! prompt_fields {
    () => {
        "p.id, p.kind, p.title, p.body, p.platform, p.model_id, p.aspect_ratio, p.image_url, \
         p.reference_media_urls, p.images, p.created_at, p.updated_at"
    };
}
pub(super) use prompt_fields;

/// The columns that [`prompt`] reads, of a table or subquery named `p`. They come first
/// in the `SELECT` list; other columns follow.
macro_rules! prompt_columns {
    () => {
        concat!(
            $crate::store::postgres::rows::prompt_fields!(),
            ", ARRAY(SELECT m.vault_id FROM membership m \
                     WHERE m.account_id = p.account_id AND m.prompt_id = p.id \
                     ORDER BY m.vault_id) AS vault_ids"
        )
    };
}
pub(super) use prompt_columns;

/// As [`prompt_columns`], for a statement that has locked the prompt. The volatile
/// function `vaults_of` takes a new snapshot, so it sees memberships that were committed
/// while this statement waited for the lock.
macro_rules! locked_prompt_columns {
    () => {
        concat!(
            $crate::store::postgres::rows::prompt_fields!(),
            ", vaults_of(p.account_id, p.id) AS vault_ids"
        )
    };
}
pub(super) use locked_prompt_columns;

/// The columns that [`vault`] reads, of a table or subquery named `v`.
macro_rules! vault_columns {
    () => {
        "v.id, v.name, v.description, v.slug, v.visibility, v.cover_image_url, v.system, \
         v.prompt_count, v.created_at, v.updated_at"
    };
}
pub(super) use vault_columns;

/// The prompt in a row of [`prompt_columns`]; `None` if they are NULL because an outer
/// join found no prompt.
///
/// # Errors
/// [`StoreError::Broken`] if the row is not a valid prompt.
pub(super) fn prompt(row: &Row) -> Result<Option<SharedPrompt>> {
    let mut columns = Columns { row, next: 0 };
    let Some(id) = columns.take()? else {
        return Ok(None);
    };
    // Fields are evaluated in source order, which is the order of the columns.
    Ok(Some(Arc::new(PromptRecord {
        id: PromptId::new(id),
        kind: kind(columns.take()?)?,
        title: columns.text()?,
        text: columns.text()?,
        platform: columns.optional_text()?,
        inputs: PromptInputs {
            model_id: columns.optional_text()?,
            aspect_ratio: columns.optional_text()?,
            image_url: columns.optional_text()?,
            reference_media_urls: columns.texts()?,
        },
        images: columns.take::<Images>()?.0,
        created_at: columns.take()?,
        updated_at: columns.take()?,
        vault_ids: columns.take::<Vec<i64>>()?.into_iter().map(VaultId::new).collect(),
    })))
}

/// The vault in a row of [`vault_columns`]; `None` if they are NULL because an outer join
/// found no vault.
///
/// # Errors
/// [`StoreError::Broken`] if the row is not a valid vault.
pub(super) fn vault(row: &Row) -> Result<Option<VaultRecord>> {
    let mut columns = Columns { row, next: 0 };
    let Some(id) = columns.take()? else {
        return Ok(None);
    };
    Ok(Some(VaultRecord {
        id: VaultId::new(id),
        name: columns.text()?,
        description: columns.optional_text()?,
        slug: columns.text()?,
        visibility: visibility(columns.take()?)?,
        cover_image_url: columns.optional_text()?,
        system: columns.take()?,
        prompt_count: columns.take::<i64>()?.unsigned_abs(),
        created_at: columns.take()?,
        updated_at: columns.take()?,
    }))
}

/// Reads the values of a row in order: lookup by name would search the columns for each
/// value.
struct Columns<'a> {
    row: &'a Row,
    next: usize,
}

impl<'a> Columns<'a> {
    fn take<T: FromSql<'a>>(&mut self) -> Result<T> {
        let index = self.next;
        self.next += 1;
        column(self.row, index)
    }

    fn text(&mut self) -> Result<Arc<str>> {
        self.take::<&str>().map(Arc::from)
    }

    fn optional_text(&mut self) -> Result<Option<Arc<str>>> {
        Ok(self.take::<Option<&str>>()?.map(Arc::from))
    }

    fn texts(&mut self) -> Result<Option<Arc<[Box<str>]>>, StoreError> {
        let texts = self.take::<Option<Vec<&str>>>()?;
        Ok(texts.map(|texts| texts.into_iter().map(Box::from).collect()))
    }
}

fn kind(text: &str) -> Result<PromptKind> {
    let kinds = [PromptKind::Image, PromptKind::Text, PromptKind::Video];
    let found = kinds.into_iter().find(|kind| kind.as_str() == text);
    found.ok_or_else(|| StoreError::Broken(format!("unknown prompt type {text:?}").into()))
}

fn visibility(text: &str) -> Result<VaultVisibility> {
    use VaultVisibility::{Private, Public, Unlisted};
    let found = [Private, Unlisted, Public].into_iter().find(|one| one.as_str() == text);
    found.ok_or_else(|| StoreError::Broken(format!("unknown visibility {text:?}").into()))
}

/// The column `prompt.images`, a JSON array.
struct Images(Arc<[PromptImage]>);

/// An element of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Image {
    url: Box<str>,
    width: u32,
    height: u32,
    /// In microseconds.
    created_at: i64,
}

/// The binary format of an empty `jsonb` array: the format version, then the text.
const NO_IMAGES: &[u8] = b"\x01[]";

impl<'a> FromSql<'a> for Images {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        // Most prompts have no images; this skips the JSON parser.
        if raw == NO_IMAGES {
            return Ok(Self(Arc::default()));
        }
        let Json(images) = Json::<Vec<Image>>::from_sql(of, raw)?;
        let images = images.into_iter().map(|Image { url, width, height, created_at }| {
            let created_at = Timestamp::from_microsecond(created_at)?;
            Ok::<_, jiff::Error>(PromptImage { url, width, height, created_at })
        });
        Ok(Self(images.collect::<Result<_, _>>()?))
    }

    fn accepts(of: &Type) -> bool {
        *of == Type::JSONB
    }
}
