//! Failures of a request, and the one place that gives each its status.
//!
//! Rooms below speak in their own errors; `?` brings them here. A failure has up
//! to two texts: one for the caller, which holds nothing internal, and a cause
//! for the log. Nothing is logged here: `app` does that once, where a failure
//! becomes an answer.

mod storage;
mod store;

use std::borrow::Cow;
use std::error::Error;

use http::header::{ALLOW, RETRY_AFTER};
use http::{HeaderName, HeaderValue, StatusCode};

pub use self::storage::StorageError;
pub use self::store::MODEL_REQUIRED;
use crate::blobs::BlobError;
use crate::blobs::upload_slot::SlotError;
use crate::generate::SubmitError;
use crate::generate::intake::IntakeError;
use crate::http::auth::{AuthError, AuthRefusal};
use crate::http::body::BodyRefusal;
use crate::http::host::HostRefusal;
use crate::http::path::{Addressed, Asked, RouteRefusal};
use crate::http::validate::{Malformed, Refusals};
use crate::store::StoreError;

/// Why a request gets no success.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// Nothing is served at this path, or not with this method.
    #[error(transparent)]
    Route(#[from] RouteRefusal),
    /// It is not said whom the request is for.
    #[error(transparent)]
    Host(#[from] HostRefusal),
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
    /// What the caller is told. Whatever fails for a while says when to try again.
    pub fn problem(&self, asked: Asked) -> Problem {
        let mut problem = self.plain_problem(asked);
        if problem.status == StatusCode::SERVICE_UNAVAILABLE {
            problem.header.get_or_insert((RETRY_AFTER, AGAIN_SECONDS));
        }
        problem
    }

    fn plain_problem(&self, asked: Asked) -> Problem {
        match self {
            Self::Route(refusal) => route_problem(refusal),
            Self::Host(refusal) => plain(StatusCode::BAD_REQUEST, refusal.to_string()),
            Self::Auth(refusal) => plain(StatusCode::UNAUTHORIZED, refusal.to_string()),
            Self::Body(refusal) => body_problem(refusal),
            Self::Malformed(refusal) => {
                let mut problem = invalid(Refusals::of("body", refusal.to_string()));
                problem.text = self.to_string().into();
                problem
            }
            Self::Invalid(refusals) => invalid(refusals.clone()),
            Self::NotFound => not_found(asked.addressed),
            Self::Store(error) => store::problem(error, asked),
            Self::Provider(error) => provider_problem(error),
            Self::Storage(error) => error.problem(),
            Self::Busy => plain(StatusCode::SERVICE_UNAVAILABLE, BUSY),
            Self::Stopping => plain(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down"),
            Self::Unwritable(_) | Self::Panic(_) => internal(),
        }
    }

    /// Whether a caller's request failed without a look at the key in the store, or
    /// because of one: then it is for [`crate::store::Store::confirm_key`] to say
    /// whether the key still holds.
    pub fn leaves_key_open(&self) -> bool {
        matches!(
            self,
            Self::Body(_)
                | Self::Malformed(_)
                | Self::Invalid(_)
                | Self::NotFound
                | Self::Store(StoreError::KeyRevoked)
        )
    }

    /// What the log says beyond the status; `None` where the caller's text is all.
    pub fn cause(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Store(StoreError::Unavailable(cause) | StoreError::Broken(cause)) => {
                Some(&**cause)
            }
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

impl From<SlotError> for ApiError {
    fn from(refusal: SlotError) -> Self {
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
        BodyRefusal::Broken(_) => Problem {
            details: Refusals::of("body", "broke off"),
            ..plain(StatusCode::BAD_REQUEST, text)
        },
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

/// For what is away to come back, or what is busy to grow less so.
const AGAIN_SECONDS: HeaderValue = HeaderValue::from_static("2");

const BUSY: &str = "an equal request with this clientJobId is still being handed to the provider; \
                    send it again in a while";

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
