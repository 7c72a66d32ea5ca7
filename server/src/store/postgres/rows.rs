//! Rows read back as the records they were made of.

mod images;

use std::sync::Arc;

use promptarium::{PromptId, VaultId};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use self::images::Images;
use super::db::column;
use crate::domain::{
    PromptInputs, PromptKind, PromptRecord, SharedPrompt, VaultRecord, VaultVisibility,
};
use crate::store::StoreError;

/// A prompt's own columns, of a table or subquery called `p`.
macro_rules! prompt_fields {
    () => {
        "p.id, p.kind, p.title, p.body, p.platform, p.model_id, p.aspect_ratio, p.image_url, \
         p.reference_media_urls, p.images, p.created_at, p.updated_at"
    };
}
pub(super) use prompt_fields;

/// What [`prompt`] reads, of a table or subquery called `p`. It comes first in a
/// `SELECT`; other columns follow.
macro_rules! prompt_columns {
    () => {
        concat!(
            $crate::store::postgres::rows::prompt_fields!(),
            ", ARRAY(SELECT joined.vault_id FROM membership joined \
                     WHERE joined.account_id = p.account_id AND joined.prompt_id = p.id \
                     ORDER BY joined.vault_id) AS vault_ids"
        )
    };
}
pub(super) use prompt_columns;

/// As [`prompt_columns`], for a statement that has locked the prompt: `vaults_of`
/// sees what others did while it waited for that.
macro_rules! locked_prompt_columns {
    () => {
        concat!(
            $crate::store::postgres::rows::prompt_fields!(),
            ", vaults_of(p.account_id, p.id) AS vault_ids"
        )
    };
}
pub(super) use locked_prompt_columns;

/// The columns that [`vault`] reads, of a table or subquery called `v`.
macro_rules! vault_columns {
    () => {
        "v.id, v.name, v.description, v.slug, v.visibility, v.cover_image_url, v.system, \
         v.prompt_count, v.created_at, v.updated_at"
    };
}
pub(super) use vault_columns;

/// A prompt from the columns of [`prompt_columns`]; none where an outer join found
/// none.
///
/// # Errors
/// [`StoreError::Broken`] if the row is no prompt.
pub(super) fn prompt(row: &Row) -> Result<Option<SharedPrompt>, StoreError> {
    let mut cells = Cells { row, next: 0 };
    let Some(id) = cells.take()? else {
        return Ok(None);
    };
    // Values are read in the order they stand here, which is that of the columns.
    Ok(Some(Arc::new(PromptRecord {
        id: PromptId::new(id),
        kind: kind(cells.take()?)?,
        title: cells.text()?,
        text: cells.text()?,
        platform: cells.optional_text()?,
        inputs: PromptInputs {
            model_id: cells.optional_text()?,
            aspect_ratio: cells.optional_text()?,
            image_url: cells.optional_text()?,
            reference_media_urls: cells.texts()?,
        },
        images: cells.take::<Images>()?.0,
        created_at: cells.take()?,
        updated_at: cells.take()?,
        vault_ids: cells.take::<Vec<i64>>()?.into_iter().map(VaultId::new).collect(),
    })))
}

/// The values of a row from its first: to find each by its name would take a
/// search per value.
struct Cells<'a> {
    row: &'a Row,
    next: usize,
}

impl<'a> Cells<'a> {
    fn take<T: FromSql<'a>>(&mut self) -> Result<T, StoreError> {
        let at = self.next;
        self.next += 1;
        column(self.row, at)
    }

    fn text(&mut self) -> Result<Arc<str>, StoreError> {
        self.take::<&str>().map(Arc::from)
    }

    fn optional_text(&mut self) -> Result<Option<Arc<str>>, StoreError> {
        Ok(self.take::<Option<&str>>()?.map(Arc::from))
    }

    fn texts(&mut self) -> Result<Option<Arc<[Box<str>]>>, StoreError> {
        let texts = self.take::<Option<Vec<&str>>>()?;
        Ok(texts.map(|texts| texts.into_iter().map(Box::from).collect()))
    }
}

/// A vault from the columns of [`vault_columns`], which come first in the row.
///
/// # Errors
/// [`StoreError::Broken`] if the row is no vault.
pub(super) fn vault(row: &Row) -> Result<VaultRecord, StoreError> {
    let mut cells = Cells { row, next: 0 };
    Ok(VaultRecord {
        id: VaultId::new(cells.take()?),
        name: cells.text()?,
        description: cells.optional_text()?,
        slug: cells.text()?,
        visibility: visibility(cells.take()?)?,
        cover_image_url: cells.optional_text()?,
        system: cells.take()?,
        prompt_count: cells.take::<i64>()?.unsigned_abs(),
        created_at: cells.take()?,
        updated_at: cells.take()?,
    })
}

fn kind(text: &str) -> Result<PromptKind, StoreError> {
    let kinds = [PromptKind::Image, PromptKind::Text, PromptKind::Video];
    let found = kinds.into_iter().find(|kind| kind.as_str() == text);
    found.ok_or_else(|| broken(&format!("the type {text:?}")))
}

fn visibility(text: &str) -> Result<VaultVisibility, StoreError> {
    use VaultVisibility::{Private, Public, Unlisted};
    let found = [Private, Unlisted, Public].into_iter().find(|one| one.as_str() == text);
    found.ok_or_else(|| broken(&format!("the visibility {text:?}")))
}

/// What no program of ours has written.
fn broken(what: &dyn std::fmt::Display) -> StoreError {
    StoreError::Broken(format!("the database holds what it cannot: {what}").into())
}
