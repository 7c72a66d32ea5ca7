//! Failures of a request, and the one place that gives each its status.
//!
//! Lower layers have their own errors; `?` converts them. A failure has up to two texts: one for
//! the caller, without anything internal, and a cause for the log.

use std::error::Error;

use http::header::{ALLOW, CONTENT_RANGE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, StatusCode};
use promptarium::PromptId;

use crate::blobs::BlobError;
use crate::blobs::urls::SlotError;
use crate::generate::SubmitError;
use crate::generate::submit::SubmissionError;
use crate::http::auth::AuthError;
use crate::http::body::BodyReadError;
use crate::http::path::RequestTarget;
use crate::http::validate::FieldErrors;
use crate::limits::PROVIDER_REFUSED_WAIT;
use crate::quota::OverQuota;
use crate::store::StoreError;

/// Why a request fails. Where [`ApiError::problem`] has no other text, the caller gets this one.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error("there is nothing at this path")]
    UnknownPath,
    #[error("this path does not take this method; it takes {0}")]
    WrongMethod(String),
    #[error("an HTTP/1.1 request needs exactly one valid Host header")]
    Host,
    #[error(transparent)]
    Auth(#[from] AuthError),
    /// With the text for the caller, who may be the operator.
    #[error("{0}")]
    CrossSite(Box<str>),
    /// Beyond a rate limit, with the text for the caller.
    #[error("{text}")]
    TooMany { text: String, seconds: u32 },
    #[error(transparent)]
    Body(#[from] BodyReadError),
    #[error(transparent)]
    Quota(#[from] OverQuota),
    #[error(transparent)]
    Invalid(#[from] FieldErrors),
    /// The path names what cannot exist.
    #[error("no such thing")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Submission(#[from] SubmissionError),
    #[error(transparent)]
    Slot(#[from] SlotError),
    #[error("this upload address has been used; ask for a new slot")]
    SlotUsed,
    #[error("the range is outside the {0} bytes of the asset")]
    OutOfRange(u64),
    #[error(transparent)]
    Blobs(#[from] BlobError),
    #[error("the server is shutting down")]
    Stopping,
    #[error("a header of the response is not valid")]
    Header(#[from] http::Error),
    #[error("a handler panicked: {0}")]
    Panic(String),
}

/// A failure as the caller sees it (ER-01, ER-02).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub status: StatusCode,
    pub text: String,
    pub details: FieldErrors,
    pub header: Option<(HeaderName, HeaderValue)>,
}

/// What is wrong with a missing `modelId`, whether the handler or the store notices.
pub(crate) const MODEL_REQUIRED: &str = "is required for images and videos";

/// When a request may be sent again that is refused for load, or whose database cannot be reached.
const RETRY_AFTER_SECONDS: &str = "2";

const NO_VAULT: &str = "names no vault of this account";
const INTERNAL: &str =
    "something went wrong in the server; its log says more under this request's x-request-id";

impl ApiError {
    pub(crate) fn problem(&self, target: RequestTarget) -> Problem {
        use StatusCode as S;
        use {BodyReadError as B, SubmissionError as J, SubmitError as P};
        let own_text = |status| Problem::new(status, self.to_string());
        match self {
            Self::UnknownPath => own_text(S::NOT_FOUND),
            Self::WrongMethod(allow) => own_text(S::METHOD_NOT_ALLOWED).header(ALLOW, allow),
            Self::Host | Self::SlotUsed | Self::Body(B::Shorter(_)) => own_text(S::BAD_REQUEST),
            Self::Auth(AuthError::Store(error)) => {
                store_problem(error, RequestTarget { writes: false, ..target })
            }
            Self::TooMany { seconds, .. } => {
                own_text(S::TOO_MANY_REQUESTS).header(RETRY_AFTER, &seconds.to_string())
            }
            Self::Auth(_) | Self::Slot(_) => own_text(S::UNAUTHORIZED),
            Self::CrossSite(_) => own_text(S::FORBIDDEN),
            Self::Body(B::OtherType(_) | B::Encoded(..)) => own_text(S::UNSUPPORTED_MEDIA_TYPE),
            Self::Body(B::TooLarge(_) | B::Longer(_)) => own_text(S::PAYLOAD_TOO_LARGE),
            Self::Body(B::TooSlow(_)) => own_text(S::REQUEST_TIMEOUT),
            Self::Body(B::Broken(_)) => Problem::invalid(FieldErrors::of("body", "broke off")),
            // Only an account can do something about it.
            Self::Body(B::Quota(OverQuota::Account(_))) | Self::Quota(OverQuota::Account(_)) => {
                own_text(S::TOO_MANY_REQUESTS).header(RETRY_AFTER, RETRY_AFTER_SECONDS)
            }
            Self::Body(B::Quota(_)) | Self::Quota(_) | Self::Stopping => {
                Problem::unavailable(self.to_string())
            }
            Self::Invalid(errors) => Problem::invalid(errors.clone()),
            Self::NotFound => Problem::new(S::NOT_FOUND, target.not_found),
            Self::Store(error) | Self::Submission(J::Store(error)) => store_problem(error, target),
            // The provider's reason is for the caller if it refused, and for the log if it failed.
            Self::Submission(J::Provider(P::Refused(_))) => own_text(S::BAD_GATEWAY),
            Self::Submission(J::Provider(P::Unknown(_))) => Problem::new(
                S::BAD_GATEWAY,
                "it is not known whether the provider took the generation, so it counts as \
                 failed; another try needs another clientJobId",
            ),
            Self::Submission(J::Provider(error)) => {
                let problem = Problem::unavailable(format!("{self}; nothing was queued"));
                let wait = match error {
                    P::Busy(_, wait) => wait,
                    P::NotAuthorized(_) => &PROVIDER_REFUSED_WAIT,
                    _ => return problem,
                };
                problem.header(RETRY_AFTER, &wait.as_secs_f64().ceil().max(1.0).to_string())
            }
            Self::Submission(J::InProgress) => {
                Problem::unavailable(format!("{self}; send it again in a while"))
            }
            Self::OutOfRange(size) => {
                own_text(S::RANGE_NOT_SATISFIABLE).header(CONTENT_RANGE, &format!("bytes */{size}"))
            }
            Self::Blobs(error) if error.is_full() => Problem::full("the storage of files"),
            Self::Blobs(_) => Problem::unavailable(
                "the storage of files does not work at the moment; try again in a while",
            ),
            Self::Header(_) | Self::Panic(_) => Problem::new(S::INTERNAL_SERVER_ERROR, INTERNAL),
        }
    }

    /// Whether a request with a key failed before any step of the store checked that key, or
    /// because it is revoked. A refusal for load spares the store.
    pub(crate) fn needs_key_recheck(&self) -> bool {
        use ApiError as A;
        match self {
            A::Body(BodyReadError::Quota(_)) => false,
            A::Auth(AuthError::Scope) | A::Body(_) | A::Invalid(_) | A::NotFound => true,
            A::Store(error) | A::Submission(SubmissionError::Store(error)) => {
                matches!(error, StoreError::KeyRevoked)
            }
            _ => false,
        }
    }

    /// What the log says beyond the status. `None` where the caller's text says everything.
    pub(crate) fn cause(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Store(error)
            | Self::Auth(AuthError::Store(error))
            | Self::Submission(SubmissionError::Store(error)) => match error {
                StoreError::KeyTaken | StoreError::LeaseLost => Some(error),
                _ => error.source(),
            },
            Self::Header(_) | Self::Panic(_) | Self::CrossSite(_) => Some(self),
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
        StoreError::SystemVaultRename => {
            field("name", "must stay as it is, since this is a system vault")
        }
        StoreError::AccountTaken => field("name", "is the name of another account"),
        StoreError::JobConflict => {
            field("clientJobId", "was used before in this account, with a different request")
        }
        StoreError::KeyRevoked => Problem::new(S::UNAUTHORIZED, AuthError::Invalid.to_string()),
        // Without Retry-After: a retry could do it twice.
        StoreError::OutcomeUnknown(_) if target.writes => Problem::new(
            S::SERVICE_UNAVAILABLE,
            "the database did not confirm this in time, so it is not known whether it was carried \
             out; look before you send it again",
        ),
        StoreError::Full(_) => Problem::full("the database"),
        StoreError::Busy(over) => Problem::unavailable(over.to_string()),
        StoreError::Unavailable(_) if target.writes => Problem::unavailable(
            "the database cannot be reached or is busy; nothing was carried out, so the request \
             can be sent again",
        ),
        StoreError::NotDurable { .. } => {
            Problem::unavailable(format!("{error}; nothing was carried out"))
        }
        StoreError::Unavailable(_) | StoreError::OutcomeUnknown(_) => {
            Problem::unavailable("the database cannot be reached or is busy; try again in a while")
        }
        StoreError::SystemVaultDelete
        | StoreError::ForkOfPrivateVault
        | StoreError::TooLarge
        | StoreError::TooManyPrompts
        | StoreError::TooManyKeys
        | StoreError::TooManyVaults
        | StoreError::TooManyImages => Problem::new(S::BAD_REQUEST, error.to_string()),
        StoreError::KeyTaken | StoreError::LeaseLost | StoreError::Internal(_) => {
            Problem::new(S::INTERNAL_SERVER_ERROR, INTERNAL)
        }
    }
}

impl Problem {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into(), details: FieldErrors::default(), header: None }
    }

    fn header(self, name: HeaderName, value: &str) -> Self {
        Self { header: HeaderValue::from_str(value).ok().map(|value| (name, value)), ..self }
    }

    fn invalid(details: FieldErrors) -> Self {
        let text = details.to_string();
        Self { details, ..Self::new(StatusCode::BAD_REQUEST, text) }
    }

    fn full(what: &str) -> Self {
        let text = format!("{what} has no space left; nothing was carried out");
        // Somebody has to make space.
        Self::unavailable(text).header(RETRY_AFTER, "30")
    }

    /// A 503 that invites a retry: certainly nothing was carried out.
    fn unavailable(text: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text).header(RETRY_AFTER, RETRY_AFTER_SECONDS)
    }
}

#[cfg(test)]
mod tests;
