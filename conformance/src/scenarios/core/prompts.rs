//! Prompts themselves: the object, making, reading, changing, deleting and
//! saving them, and the filters of their list.

pub(crate) mod create;
pub(crate) mod list;
pub(crate) mod models;
pub(crate) mod object;
pub(crate) mod update;
pub(crate) mod vaults;

use crate::scenarios::prelude::*;

/// The replies to a create, and to an update of a new text prompt without a model, with the same
/// fields. Most rules about fields hold for both.
pub(crate) async fn create_and_update(case: &Case, fields: Value) -> Result<[ApiResponse; 2]> {
    let created = case.create_prompt(fields.clone()).await?;
    Ok([created, case.prompt().await?.update(fields).await?])
}

async fn created_with<const N: usize>(case: Case, fields: [Value; N]) -> Result {
    for fields in fields {
        case.create_prompt(fields).await?.success()?;
    }
    Ok(())
}
