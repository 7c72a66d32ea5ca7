//! Authentication: from the `Authorization` header to a [`Caller`].
//!
//! The order of checks is fixed: the form of the key, whether it is valid, its scope. Every
//! refusal is 401 (ER-07). `find_key` of the store may answer from a cache; where no other step
//! of the store checks the key, `ApiService` or the handler asks again.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use subtle::ConstantTimeEq;

use crate::domain::{Caller, Vendor};
use crate::store::{Store, StoreError};

/// What a request must bring to use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    None,
    /// A valid key with any scopes.
    Key,
    /// A valid key with the scope `prompts:write`.
    Write,
    /// A browser session, and a page of this site as the source of the request.
    Session,
    /// The token of an upload slot, for every method. The handler checks it, so that a
    /// request without one learns nothing about the path.
    UploadToken,
}

/// Why a request is not authenticated.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// AU-02
    #[error("the Authorization header is missing; send `Authorization: Bearer <API key>`")]
    Missing,
    /// It would not be clear which key counts.
    #[error("there is more than one Authorization header; send exactly one")]
    Repeated,
    /// AU-03
    #[error("the Authorization header is malformed; send `Authorization: Bearer <API key>`")]
    Malformed,
    /// AU-04, AU-05, AU-06: mistyped, unknown and revoked keys get the same response, so that
    /// it does not reveal which keys have existed.
    #[error("the API key is not valid")]
    Invalid,
    /// AU-07 to AU-10
    #[error("the API key lacks the scope prompts:write")]
    Scope,
    /// KE-05
    #[error("this needs a browser session; an API key does not do")]
    KeyForSession,
    #[error("this needs a browser session; there is none, or it has ended")]
    NoSession,
    /// Codes that are unknown, used or expired get the same response.
    #[error(
        "this sign-in code is not valid: it was used before, is older than 15 minutes, or was mistyped"
    )]
    WrongCode,
    /// The key could not be looked up, so nothing was carried out.
    #[error("the API key could not be looked up")]
    Store(#[from] StoreError),
}

/// The caller whose key is in the headers.
pub(crate) async fn authenticate(
    headers: &HeaderMap,
    vendor: &Vendor,
    store: &dyn Store,
) -> Result<Caller, AuthError> {
    let key = vendor.read(bearer(headers)?).map_err(|_| AuthError::Invalid)?;
    let digest = key.digest();
    let record = store.find_key(key.public_id(), &digest).await?;
    let record = record
        .filter(|record| bool::from(record.key.digest.ct_eq(&digest)) && !record.key.revoked)
        .ok_or(AuthError::Invalid)?;
    store.record_use(&record).await?;
    Ok(record.caller())
}

/// What follows `Bearer` in the only header `Authorization`.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<&str, AuthError> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or(AuthError::Missing)?;
    if values.next().is_some() {
        return Err(AuthError::Repeated);
    }
    let value = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
    value.ok_or(AuthError::Malformed)
}
