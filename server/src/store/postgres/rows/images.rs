//! A prompt's pictures, as the JSON they are kept in.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;
use tokio_postgres::types::{FromSql, Json, Type};

use crate::domain::PromptImage;

/// What PostgreSQL sends for an empty list: the version of the format, then text.
const NONE: &[u8] = b"\x01[]";

/// The column `prompt.images`.
pub(super) struct Images(pub(super) Arc<[PromptImage]>);

/// One picture in it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Image {
    url: Box<str>,
    width: u32,
    height: u32,
    /// In microseconds.
    created_at: i64,
}

impl<'a> FromSql<'a> for Images {
    fn from_sql(
        of: &Type,
        raw: &'a [u8],
    ) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        // Most prompts have no pictures, and need no reader of JSON.
        if raw == NONE {
            return Ok(Self(Arc::default()));
        }
        let Json(images) = Json::<Vec<Image>>::from_sql(of, raw)?;
        let pictures = images.into_iter().map(picture).collect::<Result<_, jiff::Error>>()?;
        Ok(Self(pictures))
    }

    fn accepts(of: &Type) -> bool {
        *of == Type::JSONB
    }
}

fn picture(Image { url, width, height, created_at }: Image) -> Result<PromptImage, jiff::Error> {
    let created_at = Timestamp::from_microsecond(created_at)?;
    Ok(PromptImage { url, width, height, created_at })
}
