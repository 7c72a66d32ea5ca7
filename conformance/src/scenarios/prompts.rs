//! Prompts themselves: the object, making, reading, changing, deleting and
//! saving them, and the filters of their list.

mod create;
mod list;
mod models;
pub(super) mod object;
mod update;
mod vaults;

use super::prelude::*;

pub(super) const ALL: &[&[Scenario]] =
    &[object::ALL, create::ALL, models::ALL, vaults::ALL, update::ALL, list::ALL];

/// The replies to a create, and to an update of a new text prompt without a model, with the same
/// fields. Most rules about fields hold for both.
pub(super) async fn create_and_update(case: &Case, fields: Value) -> Result<[ApiResponse; 2]> {
    let created = case.create_prompt(fields.clone()).await?;
    Ok([created, case.prompt().await?.update(fields).await?])
}

/// Both are refused with a message under this field's name.
async fn both_name_field(case: &Case, field: &str, fields: Value) -> Result {
    for reply in create_and_update(case, fields).await? {
        reply.status(400)?.string(&format!("/details/{field}"))?;
    }
    Ok(())
}

async fn both_accepted(case: &Case, fields: Value) -> Result<[ApiResponse; 2]> {
    let replies = create_and_update(case, fields).await?;
    for reply in &replies {
        reply.success()?;
    }
    Ok(replies)
}

async fn created_with<const N: usize>(case: Case, fields: [Value; N]) -> Result {
    for fields in fields {
        case.create_prompt(fields).await?.success()?;
    }
    Ok(())
}
