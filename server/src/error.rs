//! Failures of a request, and the one place that gives each its status.
//!
//! Rooms below speak in their own errors; `?` brings them here. A failure has up
//! to two texts: one for the caller, which holds nothing internal, and a cause
//! for the log. Nothing is logged here: `app` does that once, where a failure
//! becomes an answer.

mod storage;

use std::borrow::Cow;
use std::error::Error;

use http::header::ALLOW;
use http::{HeaderName, HeaderValue, StatusCode};
use promptarium::PromptId;

pub use self::storage::StorageError;
use crate::auth::{AuthError, AuthRefusal};
use crate::blobs::BlobError;
use crate::body::BodyRefusal;
use crate::generate::SubmitError;
use crate::generate::intake::IntakeError;
use crate::place::{Addressed, RouteRefusal};
use crate::store::StoreError;
use crate::uploads::SlotRefusal;
use crate::validate::{Malformed, Refusals};

/// Why a request gets no success.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// Nothing is served at this path, or not with this method.
    #[error(transparent)]
    Route(#[from] RouteRefusal),
    /// The caller is not known, or may not do this.
    #[error(transparent)]
    Auth(#[from] AuthRefusal),
    /// The body was not taken.
    #[error(transparent)]
    Body(#[from] BodyRefusal),
    /// The body is no JSON object.
    #[error("the body {0}")]
    Malformed(#[from] Malformed),
    /// Fields are not valid.
    #[error(transparent)]
    Invalid(#[from] Refusals),
    /// The path addresses what cannot exist.
    #[error("no such thing")]
    NotFound,
    /// The store did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The provider did not take a generation.
    #[error(transparent)]
    Provider(#[from] SubmitError),
    /// A file was not taken, or not given.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// An equal request is still under way.
    #[error("an equal request with this clientJobId is still under way")]
    Busy,
    /// The server is stopping.
    #[error("the server is shutting down")]
    Stopping,
    /// The answer could not be written.
    #[error("the answer could not be written")]
    Unwritable(#[from] serde_json::Error),
    /// A handler panicked; with what it said.
    #[error("a handler panicked: {0}")]
    Panic(String),
}

/// A failure as the caller sees it (ER-01, ER-02).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The status of the answer.
    pub status: StatusCode,
    /// For a person.
    pub text: Cow<'static, str>,
    /// Which fields are at fault and why (ER-03).
    pub details: Refusals,
    /// A header that goes with the status.
    pub header: Option<(HeaderName, HeaderValue)>,
}

impl ApiError {
    /// What the caller is told. `addressed` is what the path of the request names.
    pub fn problem(&self, addressed: Addressed) -> Problem {
        match self {
            Self::Route(refusal) => route_problem(refusal),
            Self::Auth(refusal) => plain(StatusCode::UNAUTHORIZED, refusal.to_string()),
            Self::Body(refusal) => body_problem(refusal),
            Self::Malformed(refusal) => {
                let mut problem = invalid(Refusals::of("body", refusal.to_string()));
                problem.text = self.to_string().into();
                problem
            }
            Self::Invalid(refusals) => invalid(refusals.clone()),
            Self::NotFound => not_found(addressed),
            Self::Store(error) => store_problem(error, addressed),
            Self::Provider(error) => provider_problem(error),
            Self::Storage(error) => error.problem(),
            Self::Busy => plain(StatusCode::SERVICE_UNAVAILABLE, BUSY),
            Self::Stopping => plain(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down"),
            Self::Unwritable(_) | Self::Panic(_) => internal(),
        }
    }

    /// What the log says beyond the status; `None` where the caller's text is all.
    pub fn cause(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Store(StoreError::KeyTaken | StoreError::LeaseLost)
            | Self::Unwritable(_)
            | Self::Panic(_) => Some(self),
            Self::Body(BodyRefusal::Broken(error)) => Some(error),
            Self::Storage(StorageError::Failed(error)) => Some(error),
            _ => None,
        }
    }
}

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::Refused(refusal) => Self::Auth(refusal),
            AuthError::Store(error) => Self::Store(error),
        }
    }
}

impl From<BlobError> for ApiError {
    fn from(error: BlobError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<SlotRefusal> for ApiError {
    fn from(refusal: SlotRefusal) -> Self {
        Self::Storage(refusal.into())
    }
}

impl From<IntakeError> for ApiError {
    fn from(error: IntakeError) -> Self {
        match error {
            IntakeError::Store(error) => Self::Store(error),
            IntakeError::Submit(error) => Self::Provider(error),
            IntakeError::Busy => Self::Busy,
        }
    }
}

fn route_problem(refusal: &RouteRefusal) -> Problem {
    let text = refusal.to_string();
    match refusal {
        RouteRefusal::UnknownPath => plain(StatusCode::NOT_FOUND, text),
        RouteRefusal::WrongMethod { allow } => {
            let header = Some((ALLOW, allow.clone()));
            Problem { header, ..plain(StatusCode::METHOD_NOT_ALLOWED, text) }
        }
    }
}

fn body_problem(refusal: &BodyRefusal) -> Problem {
    let text = refusal.to_string();
    match refusal {
        BodyRefusal::NotJson => plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, text),
        BodyRefusal::TooLarge | BodyRefusal::Longer(_) => {
            plain(StatusCode::PAYLOAD_TOO_LARGE, text)
        }
        BodyRefusal::Shorter(_) => plain(StatusCode::BAD_REQUEST, text),
        BodyRefusal::TooSlow(_) => plain(StatusCode::REQUEST_TIMEOUT, text),
        BodyRefusal::NoMemory => plain(StatusCode::SERVICE_UNAVAILABLE, text),
        BodyRefusal::Broken(_) => Problem {
            details: Refusals::of("body", "broke off"),
            ..plain(StatusCode::BAD_REQUEST, text)
        },
    }
}

fn store_problem(error: &StoreError, addressed: Addressed) -> Problem {
    const NO_VAULT: &str = "names no vault of this account";
    match error {
        StoreError::NotFound => not_found(addressed),
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
        StoreError::KeyTaken | StoreError::LeaseLost => internal(),
    }
}

/// The provider's own reason is for the caller where it refused, and for the log
/// where it failed.
fn provider_problem(error: &SubmitError) -> Problem {
    match error {
        SubmitError::Refused(_) => plain(StatusCode::BAD_GATEWAY, error.to_string()),
        SubmitError::Unavailable(_) => plain(
            StatusCode::SERVICE_UNAVAILABLE,
            "the provider cannot be reached; nothing was queued, so the request can be sent again",
        ),
        SubmitError::Unknown(_) => plain(
            StatusCode::BAD_GATEWAY,
            "it is not known whether the provider took the generation, so it counts as failed; \
             another try needs another clientJobId",
        ),
    }
}

const BUSY: &str = "an equal request with this clientJobId is still being handed to the provider; \
                    send it again in a while";

const JOB_CONFLICT: &str =
    "belongs to another generation of this account, asked for with another body";

/// What is wrong with a missing `modelId`, whoever finds out.
pub const MODEL_REQUIRED: &str = "is required when promptType is image or video";

fn no_prompts(ids: &[PromptId]) -> String {
    let ids = ids.iter().map(PromptId::to_string).collect::<Vec<_>>().join(", ");
    format!("names prompts that this account does not have: {ids}")
}

fn not_found(addressed: Addressed) -> Problem {
    plain(
        StatusCode::NOT_FOUND,
        match addressed {
            Addressed::Prompt => "there is no such prompt in this account",
            Addressed::Vault => "there is no such vault in this account",
            Addressed::SeenVault => "there is no such vault, or its owner keeps it private",
            Addressed::Membership => {
                "there is no such vault in this account, or no such prompt in it"
            }
            Addressed::Job => "there is no generation of this clientJobId in this account",
            Addressed::Asset => "there is nothing at this address, or nothing yet",
            Addressed::Nothing => "there is no such thing in this account",
        },
    )
}

fn invalid(details: Refusals) -> Problem {
    Problem {
        status: StatusCode::BAD_REQUEST,
        text: details.to_string().into(),
        details,
        header: None,
    }
}

fn internal() -> Problem {
    plain(
        StatusCode::INTERNAL_SERVER_ERROR,
        "something went wrong in the server; its log says more under this request's x-request-id",
    )
}

fn plain(status: StatusCode, text: impl Into<Cow<'static, str>>) -> Problem {
    Problem { status, text: text.into(), details: Refusals::default(), header: None }
}

#[cfg(test)]
mod tests;
