//! Failures of a request, and the one place that gives each its status.
//!
//! Lower layers have their own errors; `?` converts them. A failure has up to two texts: one
//! for the caller, without anything internal, and a cause for the log. Nothing is logged here:
//! `ApiService` writes one line per request.

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
use crate::http::path::RequestTarget;
use crate::http::validate::{BodyError, FieldErrors};
use crate::limits::RETRY_AFTER_SECONDS;
use crate::store::StoreError;

/// Why a request fails. Where [`ApiError::problem`] has no other text, the caller gets this one.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error("there is nothing at this path")]
    UnknownPath,
    /// With the methods that the path takes.
    #[error("this path does not take this method; it takes {}", .0.to_str().unwrap_or_default())]
    WrongMethod(HeaderValue),
    #[error("an HTTP/1.1 request needs exactly one valid Host header")]
    Host,
    #[error(transparent)]
    Auth(#[from] AuthError),
    #[error(transparent)]
    Body(#[from] BodyReadError),
    #[error("the body {0}")]
    Malformed(#[from] BodyError),
    #[error(transparent)]
    Invalid(#[from] FieldErrors),
    /// The path names what cannot exist.
    #[error("no such thing")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Provider(#[from] SubmitError),
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// With the type of the slot.
    #[error("the upload needs one header `Content-Type: {0}`, the type that was declared")]
    OtherType(&'static str),
    #[error("this upload address has been used; ask for a new slot")]
    SlotUsed,
    /// With the size of the asset.
    #[error("the range is outside the {0} bytes of the asset")]
    OutOfRange(u64),
    #[error(transparent)]
    Blobs(#[from] BlobError),
    #[error(
        "an equal request with this clientJobId is still being handed to the provider; send it \
         again in a while"
    )]
    Busy,
    #[error("the server is shutting down")]
    Stopping,
    #[error("the response could not be written")]
    Serialize(#[from] serde_json::Error),
    /// With the message of the panic.
    #[error("a handler panicked: {0}")]
    Panic(String),
}

/// A failure as the caller sees it (ER-01, ER-02).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub status: StatusCode,
    pub text: String,
    /// Which fields are at fault and why (ER-03).
    pub details: FieldErrors,
    /// A header that goes with the status.
    pub header: Option<(HeaderName, HeaderValue)>,
}

/// What is wrong with a missing `modelId`, whether the handler or the store notices.
pub(crate) const MODEL_REQUIRED: &str = "is required when promptType is image or video";

const NO_VAULT: &str = "names no vault of this account";
const RENAME: &str = "must stay as it is, since this is a system vault";
const SYSTEM_DELETE: &str = "a system vault cannot be deleted";
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
const INTERNAL: &str =
    "something went wrong in the server; its log says more under this request's x-request-id";

impl ApiError {
    /// The response to the caller.
    pub(crate) fn problem(&self, target: RequestTarget) -> Problem {
        use StatusCode as S;
        use {BodyReadError as B, SubmitError as P};
        let own_text = |status| Problem::new(status, self.to_string());
        match self {
            Self::UnknownPath => own_text(S::NOT_FOUND),
            Self::WrongMethod(allow) => {
                own_text(S::METHOD_NOT_ALLOWED).header(ALLOW, allow.clone())
            }
            Self::Host | Self::SlotUsed | Self::Body(B::Shorter(_)) => own_text(S::BAD_REQUEST),
            Self::Auth(AuthError::Store(error)) => {
                store_problem(error, RequestTarget { writes: false, ..target })
            }
            Self::Auth(_) | Self::Slot(_) => own_text(S::UNAUTHORIZED),
            Self::Body(B::NotJson) | Self::OtherType(_) => own_text(S::UNSUPPORTED_MEDIA_TYPE),
            Self::Body(B::TooLarge | B::Longer(_)) => own_text(S::PAYLOAD_TOO_LARGE),
            Self::Body(B::TooSlow(_)) => own_text(S::REQUEST_TIMEOUT),
            Self::Body(B::Broken(_)) => own_text(S::BAD_REQUEST).detail("body", "broke off"),
            Self::Malformed(error) => own_text(S::BAD_REQUEST).detail("body", &error.0),
            Self::Invalid(errors) => Problem::invalid(errors.clone()),
            Self::NotFound => Problem::new(S::NOT_FOUND, target.not_found),
            Self::Store(error) => store_problem(error, target),
            // The provider's reason is for the caller where it refused, and for the log where
            // it failed.
            Self::Provider(P::Refused(_)) => own_text(S::BAD_GATEWAY),
            Self::Provider(P::Unavailable(_)) => Problem::unavailable(PROVIDER_AWAY),
            Self::Provider(P::Unknown(_)) => Problem::new(S::BAD_GATEWAY, PROVIDER_UNKNOWN),
            Self::OutOfRange(size) => {
                let range = HeaderValue::from_str(&format!("bytes */{size}")).ok();
                let header = range.map(|range| (CONTENT_RANGE, range));
                Problem { header, ..own_text(S::RANGE_NOT_SATISFIABLE) }
            }
            Self::Blobs(error) if error.is_full() => Problem::unavailable(FILES_FULL),
            Self::Blobs(_) => Problem::unavailable(FILES_AWAY),
            Self::Busy | Self::Stopping => Problem::unavailable(self.to_string()),
            Self::Serialize(_) | Self::Panic(_) => Problem::new(S::INTERNAL_SERVER_ERROR, INTERNAL),
        }
    }

    /// Whether a request with a key failed before any step of the store checked that key, or
    /// because a step says that it is revoked. `ApiService` then asks the store.
    pub(crate) fn needs_key_recheck(&self) -> bool {
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
    pub(crate) fn cause(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Store(error) | Self::Auth(AuthError::Store(error)) => match error {
                StoreError::Unavailable(cause) | StoreError::Broken(cause) => Some(&**cause),
                StoreError::KeyTaken | StoreError::LeaseLost => Some(error),
                _ => None,
            },
            Self::Serialize(_) | Self::Panic(_) => Some(self),
            Self::Body(BodyReadError::Broken(error)) => Some(error),
            Self::Blobs(error) => Some(error),
            _ => None,
        }
    }
}

fn store_problem(error: &StoreError, target: RequestTarget) -> Problem {
    use StatusCode as S;
    let field = |name, text: &str| Problem::invalid(FieldErrors::of(name, text));
    match error {
        StoreError::NotFound => Problem::new(S::NOT_FOUND, target.not_found),
        StoreError::UnknownVault => field("vaultId", NO_VAULT),
        StoreError::UnknownTargetVault => field("targetVaultId", NO_VAULT),
        StoreError::UnknownPrompts(ids) => {
            let ids = ids.iter().map(PromptId::to_string).collect::<Vec<_>>().join(", ");
            field("promptIds", &format!("names prompts that this account does not have: {ids}"))
        }
        StoreError::ModelRequired => field("modelId", MODEL_REQUIRED),
        StoreError::SystemVaultRename => field("name", RENAME),
        StoreError::SystemVaultDelete => Problem::new(S::BAD_REQUEST, SYSTEM_DELETE),
        StoreError::ForkOfPrivateVault => Problem::new(S::BAD_REQUEST, FORK_OF_PRIVATE),
        StoreError::JobConflict => field("clientJobId", JOB_CONFLICT),
        StoreError::KeyRevoked => Problem::new(S::UNAUTHORIZED, AuthError::Invalid.to_string()),
        // Without Retry-After: a retry could do it twice.
        StoreError::Unavailable(_) if target.writes => {
            Problem::new(S::SERVICE_UNAVAILABLE, OUTCOME_UNKNOWN)
        }
        StoreError::Unavailable(_) => Problem::unavailable(DATABASE_AWAY),
        StoreError::KeyTaken | StoreError::LeaseLost | StoreError::Broken(_) => {
            Problem::new(S::INTERNAL_SERVER_ERROR, INTERNAL)
        }
    }
}

impl Problem {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into(), details: FieldErrors::default(), header: None }
    }

    fn header(self, name: HeaderName, value: HeaderValue) -> Self {
        Self { header: Some((name, value)), ..self }
    }

    fn detail(self, name: &'static str, error: &str) -> Self {
        Self { details: FieldErrors::of(name, error), ..self }
    }

    fn invalid(details: FieldErrors) -> Self {
        let text = details.to_string();
        Self { details, ..Self::new(StatusCode::BAD_REQUEST, text) }
    }

    /// A 503 that invites a retry: certainly nothing was carried out.
    fn unavailable(text: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
            .header(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS))
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
