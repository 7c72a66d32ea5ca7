//! Authentication: from the `Authorization` header to a [`Caller`].
//!
//! The order of checks is fixed: the form of the key, whether it is valid, its scope. Every refusal
//! is 401 (ER-07). `find_key` may answer from a cache; where no other step of the store checks the
//! key, `ApiService` or the handler asks again.

use constant_time_eq::constant_time_eq_32;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use tokio::time::{Instant, sleep_until};

use crate::domain::{Caller, KeyRecord, Vendor};
use crate::http::sole;
use crate::limits::KEY_REFUSAL_TIME;
use crate::store::{Store, StoreError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    None,
    /// A valid key with any scopes.
    Key,
    /// A valid key with the scope `prompts:write`.
    Write,
    /// A browser session, and a page of this site as the source of the request.
    Session,
    WriteOrSession,
    /// The token of an upload slot, for every method, which the handler checks.
    UploadToken,
}

#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// AU-02
    #[error("the Authorization header is missing; send `Authorization: Bearer <API key>`")]
    Missing,
    /// AU-03. Of two headers it would not be clear which key counts.
    #[error("the Authorization header is malformed; send one `Authorization: Bearer <API key>`")]
    Malformed,
    /// AU-04, AU-05, AU-06: the response does not reveal which keys have existed.
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
    #[error("the API key could not be looked up")]
    Store(#[from] StoreError),
}

pub(crate) async fn authenticate(
    headers: &HeaderMap,
    vendor: &Vendor,
    store: &dyn Store,
) -> Result<Caller, AuthError> {
    let key = vendor.read(bearer(headers)?).map_err(|_| AuthError::Invalid)?;
    let (digest, began) = (key.digest(), Instant::now());
    let record = store.find_key(key.public_id(), &digest).await?;
    let is_valid =
        |record: &KeyRecord| constant_time_eq_32(&record.digest, &digest) && !record.is_revoked();
    let Some(record) = record.filter(is_valid) else {
        // Whatever the store found, the refusal comes at the same time.
        sleep_until(began + KEY_REFUSAL_TIME).await;
        return Err(AuthError::Invalid);
    };
    store.record_use(&record).await?;
    Ok(record.caller())
}

/// What follows `Bearer` in the only header `Authorization`.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<&str, AuthError> {
    let is_sent = headers.contains_key(AUTHORIZATION);
    let text = sole(headers, &AUTHORIZATION).and_then(|value| value.to_str().ok());
    let key = text.and_then(|text| text.strip_prefix("Bearer "));
    key.ok_or(if is_sent { AuthError::Malformed } else { AuthError::Missing })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::clock::Clock;
    use crate::domain::{NewKey, Scopes};
    use crate::store::KeyStore as _;
    use crate::store::memory::MemoryStore;

    #[tokio::test(start_paused = true)]
    async fn a_wrong_secret_a_revoked_and_an_unknown_key_are_refused_after_the_same_time() {
        let vendor = Vendor::new("promptarium").unwrap();
        let store = MemoryStore::new(Clock::System);
        for (id, revoked) in [("a1", false), ("r1", true)] {
            let key = vendor.read(&format!("promptarium_live_{id}_s3cret")).unwrap().digest();
            let (public_id, digest, scopes) = (id.into(), key, Scopes::ALL);
            let key = NewKey { public_id, name: None, digest, scopes, revoked };
            store.seed_key("alice", key).await.unwrap();
        }
        for (key, wait) in [
            ("a1_s3cret", None),
            ("a1_wrong", Some(KEY_REFUSAL_TIME)),
            ("r1_s3cret", Some(KEY_REFUSAL_TIME)),
            ("x1_s3cret", Some(KEY_REFUSAL_TIME)),
        ] {
            let mut headers = HeaderMap::new();
            let value = HeaderValue::try_from(format!("Bearer promptarium_live_{key}"));
            headers.insert(AUTHORIZATION, value.unwrap());
            let began = Instant::now();
            let outcome = authenticate(&headers, &vendor, &store).await;
            assert_eq!(outcome.is_err(), wait.is_some(), "{key}");
            assert_eq!(began.elapsed(), wait.unwrap_or_default(), "{key}");
        }
    }
}
