//! Failures of a request, and the one place that gives each its status.
//!
//! Lower layers have their own errors; `?` converts them. A failure has up to two texts: one
//! for the caller, without anything internal, and a cause for the log. Nothing is logged here:
//! `ApiService` writes one line per request.

use std::borrow::Cow;
use std::error::Error;

use http::header::{ALLOW, CONTENT_RANGE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, StatusCode};
use promptarium::PromptId;

use crate::blobs::BlobError;
use crate::blobs::upload_slot::SlotError;
use crate::generate::SubmitError;
use crate::generate::submit::SubmissionError;
use crate::http::auth::AuthError;
use crate::http::body::BodyReadError;
use crate::http::host::HostError;
use crate::http::path::{RequestTarget, RouteError};
use crate::http::validate::{BodyError, FieldErrors};
use crate::limits::RETRY_AFTER_SECONDS;
use crate::store::StoreError;

/// Why a request fails.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// There is no route.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// The `Host` header is not valid.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The caller is not authenticated, or lacks the scope.
    #[error(transparent)]
    Auth(#[from] AuthError),
    /// The body could not be read.
    #[error(transparent)]
    Body(#[from] BodyReadError),
    /// The body is no JSON object.
    #[error("the body {0}")]
    Malformed(#[from] BodyError),
    /// Fields are not valid.
    #[error(transparent)]
    Invalid(#[from] FieldErrors),
    /// The path names what cannot exist.
    #[error("no such thing")]
    NotFound,
    /// A step of the store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The provider did not accept a generation.
    #[error(transparent)]
    Provider(#[from] SubmitError),
    /// An upload or an asset failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// An equal request is in progress.
    #[error("an equal request with this clientJobId is still under way")]
    Busy,
    /// The server is stopping.
    #[error("the server is shutting down")]
    Stopping,
    /// The response could not be written as JSON.
    #[error("the response could not be written")]
    SerializeError(#[from] serde_json::Error),
    /// A handler panicked with this message.
    #[error("a handler panicked: {0}")]
    Panic(String),
}

/// Why an upload or an asset failed (S-43, S-45).
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The upload token is missing or not valid.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// The upload has another type than the slot.
    #[error("the upload needs one header `Content-Type: {0}`, the type that was declared")]
    OtherType(&'static str),
    /// The slot has been used (UP-14).
    #[error("this upload address has been used; ask for a new slot")]
    Used,
    /// The requested range is outside an asset of this size.
    #[error("the range is outside the {0} bytes of the asset")]
    OutOfRange(u64),
    /// The object store failed.
    #[error(transparent)]
    Failed(#[from] BlobError),
}

/// A failure as the caller sees it (ER-01, ER-02).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The status of the response.
    pub status: StatusCode,
    /// For a person.
    pub text: Cow<'static, str>,
    /// Which fields are at fault and why (ER-03).
    pub details: FieldErrors,
    /// A header that goes with the status.
    pub header: Option<(HeaderName, HeaderValue)>,
}

/// What is wrong with a missing `modelId`, whether the handler or the store notices.
pub(crate) const MODEL_REQUIRED: &str = "is required when promptType is image or video";

impl ApiError {
    /// The response to the caller.
    pub fn problem(&self, target: RequestTarget) -> Problem {
        use StatusCode as S;
        let with = |status| Problem::new(status, self.to_string());
        match self {
            Self::Route(RouteError::UnknownPath) => with(S::NOT_FOUND),
            Self::Route(RouteError::WrongMethod { allow }) => {
                with(S::METHOD_NOT_ALLOWED).header(ALLOW, allow.clone())
            }
            Self::Host(_) => with(S::BAD_REQUEST),
            Self::Auth(AuthError::Store(error)) => {
                store_problem(error, RequestTarget { writes: false, ..target })
            }
            Self::Auth(_) => with(S::UNAUTHORIZED),
            Self::Body(error) => match error {
                BodyReadError::NotJson => with(S::UNSUPPORTED_MEDIA_TYPE),
                BodyReadError::TooLarge | BodyReadError::Longer(_) => with(S::PAYLOAD_TOO_LARGE),
                BodyReadError::Shorter(_) => with(S::BAD_REQUEST),
                BodyReadError::TooSlow(_) => with(S::REQUEST_TIMEOUT),
                BodyReadError::Broken(_) => Problem {
                    details: FieldErrors::of("body", "broke off"),
                    ..with(S::BAD_REQUEST)
                },
            },
            Self::Malformed(error) => {
                let details = FieldErrors::of("body", error.to_string());
                Problem { details, ..with(S::BAD_REQUEST) }
            }
            Self::Invalid(errors) => Problem::invalid(errors.clone()),
            Self::NotFound => Problem::new(StatusCode::NOT_FOUND, target.resource.not_found_text()),
            Self::Store(error) => store_problem(error, target),
            // The provider's reason is for the caller where it refused, and for the log where
            // it failed.
            Self::Provider(SubmitError::Refused(_)) => with(S::BAD_GATEWAY),
            Self::Provider(SubmitError::Unavailable(_)) => Problem::unavailable(PROVIDER_AWAY),
            Self::Provider(SubmitError::Unknown(_)) => {
                Problem::new(S::BAD_GATEWAY, PROVIDER_UNKNOWN)
            }
            Self::Storage(error) => match error {
                StorageError::Slot(_) => with(S::UNAUTHORIZED),
                StorageError::OtherType(_) => with(S::UNSUPPORTED_MEDIA_TYPE),
                StorageError::Used => with(S::BAD_REQUEST),
                StorageError::OutOfRange(size) => {
                    let range = HeaderValue::from_str(&format!("bytes */{size}"));
                    let header = range.ok().map(|range| (CONTENT_RANGE, range));
                    Problem { header, ..with(S::RANGE_NOT_SATISFIABLE) }
                }
                StorageError::Failed(error) if error.is_full() => Problem::unavailable(FILES_FULL),
                StorageError::Failed(_) => Problem::unavailable(FILES_AWAY),
            },
            Self::Busy => Problem::unavailable(BUSY),
            Self::Stopping => with(S::SERVICE_UNAVAILABLE).retry(),
            Self::SerializeError(_) | Self::Panic(_) => Problem::internal(),
        }
    }

    /// Whether a request with a key failed before any step of the store checked that key, or
    /// because a step says that it is revoked. `ApiService` then asks the store.
    pub fn needs_key_recheck(&self) -> bool {
        matches!(
            self,
            Self::Auth(AuthError::Scope)
                | Self::Body(_)
                | Self::Malformed(_)
                | Self::Invalid(_)
                | Self::NotFound
                | Self::Store(StoreError::KeyRevoked)
        )
    }

    /// What the log says beyond the status. `None` where the caller's text says everything.
    pub fn cause(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Store(error) | Self::Auth(AuthError::Store(error)) => match error {
                StoreError::Unavailable(cause) | StoreError::Broken(cause) => Some(&**cause),
                StoreError::KeyTaken | StoreError::LeaseLost => Some(error),
                _ => None,
            },
            Self::SerializeError(_) | Self::Panic(_) => Some(self),
            Self::Body(BodyReadError::Broken(error)) => Some(error),
            Self::Storage(StorageError::Failed(error)) => Some(error),
            _ => None,
        }
    }
}

fn store_problem(error: &StoreError, target: RequestTarget) -> Problem {
    const NO_VAULT: &str = "names no vault of this account";
    let refused = |text: &'static str| Problem::new(StatusCode::BAD_REQUEST, text);
    let field = |name, text: &str| Problem::invalid(FieldErrors::of(name, text));
    match error {
        StoreError::NotFound => {
            Problem::new(StatusCode::NOT_FOUND, target.resource.not_found_text())
        }
        StoreError::UnknownVault => field("vaultId", NO_VAULT),
        StoreError::UnknownTargetVault => field("targetVaultId", NO_VAULT),
        StoreError::UnknownPrompts(ids) => field("promptIds", &unknown_prompts(ids)),
        StoreError::ModelRequired => field("modelId", MODEL_REQUIRED),
        StoreError::SystemVaultRename => field("name", RENAME),
        StoreError::SystemVaultDelete => refused("a system vault cannot be deleted"),
        StoreError::ForkOfPrivateVault => refused(FORK_OF_PRIVATE),
        StoreError::JobConflict => field("clientJobId", JOB_CONFLICT),
        StoreError::KeyRevoked => {
            Problem::new(StatusCode::UNAUTHORIZED, AuthError::Invalid.to_string())
        }
        // Without Retry-After: a retry could do it twice.
        StoreError::Unavailable(_) if target.writes => {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, OUTCOME_UNKNOWN)
        }
        StoreError::Unavailable(_) => Problem::unavailable(DATABASE_AWAY),
        StoreError::KeyTaken | StoreError::LeaseLost | StoreError::Broken(_) => Problem::internal(),
    }
}

fn unknown_prompts(ids: &[PromptId]) -> String {
    let ids = ids.iter().map(PromptId::to_string).collect::<Vec<_>>().join(", ");
    format!("names prompts that this account does not have: {ids}")
}

const RENAME: &str = "must stay as it is, since this is a system vault";
const FORK_OF_PRIVATE: &str =
    "a private vault cannot be forked; set its visibility to unlisted or public first";
const JOB_CONFLICT: &str =
    "belongs to another generation of this account, asked for with another body";
const DATABASE_AWAY: &str = "the database cannot be reached; try again in a while";
const OUTCOME_UNKNOWN: &str = "the database cannot be reached, so it is not known whether this \
                               was carried out; look before you send it again";
const PROVIDER_AWAY: &str =
    "the provider cannot be reached; nothing was queued, so the request can be sent again";
const PROVIDER_UNKNOWN: &str = "it is not known whether the provider took the generation, so it \
                                counts as failed; another try needs another clientJobId";
const FILES_FULL: &str = "the storage of files has no space left; nothing was kept";
const FILES_AWAY: &str = "the storage of files does not work at the moment; try again in a while";
const BUSY: &str = "an equal request with this clientJobId is still being handed to the provider; \
                    send it again in a while";
const INTERNAL: &str =
    "something went wrong in the server; its log says more under this request's x-request-id";

impl Problem {
    fn new(status: StatusCode, text: impl Into<Cow<'static, str>>) -> Self {
        Self { status, text: text.into(), details: FieldErrors::default(), header: None }
    }

    fn header(self, name: HeaderName, value: HeaderValue) -> Self {
        Self { header: Some((name, value)), ..self }
    }

    fn retry(self) -> Self {
        self.header(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS))
    }

    /// A 503 that invites a retry: certainly nothing was carried out.
    fn unavailable(text: &'static str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text).retry()
    }

    fn invalid(details: FieldErrors) -> Self {
        let text = details.to_string();
        Self { details, ..Self::new(StatusCode::BAD_REQUEST, text) }
    }

    fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL)
    }
}

impl From<BlobError> for ApiError {
    fn from(error: BlobError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<SlotError> for ApiError {
    fn from(refusal: SlotError) -> Self {
        Self::Storage(refusal.into())
    }
}

impl From<SubmissionError> for ApiError {
    fn from(error: SubmissionError) -> Self {
        match error {
            SubmissionError::Store(error) => Self::Store(error),
            SubmissionError::Provider(error) => Self::Provider(error),
            SubmissionError::InProgress => Self::Busy,
        }
    }
}

#[cfg(test)]
mod tests;
