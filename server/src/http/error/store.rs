//! Failures of the store's steps.

use http::StatusCode;
use promptarium::PromptId;

use crate::http::auth::AuthRefusal;
use crate::http::error::{Problem, internal, invalid, not_found, plain};
use crate::http::path::Asked;
use crate::http::validate::Refusals;
use crate::store::StoreError;

/// What is wrong with a missing `modelId`, whoever finds out.
pub const MODEL_REQUIRED: &str = "is required when promptType is image or video";

const JOB_CONFLICT: &str =
    "belongs to another generation of this account, asked for with another body";

pub(super) fn problem(error: &StoreError, asked: Asked) -> Problem {
    const NO_VAULT: &str = "names no vault of this account";
    match error {
        StoreError::NotFound => not_found(asked.addressed),
        StoreError::UnknownVault => invalid(Refusals::of("vaultId", NO_VAULT)),
        StoreError::UnknownTargetVault => invalid(Refusals::of("targetVaultId", NO_VAULT)),
        StoreError::UnknownPrompts(ids) => invalid(Refusals::of("promptIds", no_prompts(ids))),
        StoreError::ModelRequired => invalid(Refusals::of("modelId", MODEL_REQUIRED)),
        StoreError::SystemVaultRename => {
            invalid(Refusals::of("name", "must stay as it is, since this is a system vault"))
        }
        StoreError::SystemVaultDelete => {
            plain(StatusCode::BAD_REQUEST, "a system vault cannot be deleted")
        }
        StoreError::ForkOfPrivateVault => plain(
            StatusCode::BAD_REQUEST,
            "a private vault cannot be forked; set its visibility to unlisted or public first",
        ),
        StoreError::JobConflict => invalid(Refusals::of("clientJobId", JOB_CONFLICT)),
        StoreError::KeyRevoked => plain(StatusCode::UNAUTHORIZED, AuthRefusal::Invalid.to_string()),
        StoreError::Unavailable(_) if asked.writes => plain(
            StatusCode::SERVICE_UNAVAILABLE,
            "the database cannot be reached, so it is not known whether this was carried out; \
             look before you send it again",
        ),
        StoreError::Unavailable(_) => plain(
            StatusCode::SERVICE_UNAVAILABLE,
            "the database cannot be reached; try again in a while",
        ),
        StoreError::KeyTaken | StoreError::LeaseLost | StoreError::Broken(_) => internal(),
    }
}

fn no_prompts(ids: &[PromptId]) -> String {
    let ids = ids.iter().map(PromptId::to_string).collect::<Vec<_>>().join(", ");
    format!("names prompts that this account does not have: {ids}")
}
