//! Who is asking, and whether they may: from the `Authorization` header to a
//! [`Caller`].
//!
//! A route says what it needs; this file says whether a request has it. The
//! order is always the same: a key of the right form, a key that is valid, then
//! its scope. Every refusal has the status 401 (ER-07). A key that was revoked a
//! moment ago may get through here; see [`Store::find_key`] for who stops it.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use subtle::ConstantTimeEq;

use crate::domain::{Caller, KeyRecord, PresentedKey, Vendor};
use crate::store::{Store, StoreError};

/// What a route asks of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: anybody may call it.
    Nothing,
    /// A valid key, whatever its scopes.
    Key,
    /// A valid key with the scope `prompts:write`.
    Write,
    /// A browser session. There are none yet, so that nobody has one.
    Session,
    /// The token of an upload slot, whatever the method, which the handler checks:
    /// who has none is told no more of such an address.
    Slot,
}

/// Why a request may not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthRefusal {
    /// AU-02
    #[error("the Authorization header is missing; send `Authorization: Bearer <API key>`")]
    Missing,
    /// More than one header would leave open which key counts.
    #[error("there is more than one Authorization header; send exactly one")]
    Repeated,
    /// AU-03
    #[error("the Authorization header is malformed; send `Authorization: Bearer <API key>`")]
    Malformed,
    /// AU-04, AU-05, AU-06: keys that were mistyped, never made, or revoked are
    /// not told apart, so that nobody learns which keys there once were.
    #[error("the API key is not valid")]
    Invalid,
    /// AU-07 to AU-10
    #[error("the API key lacks the scope prompts:write")]
    Scope,
    /// KE-05
    #[error("this needs a browser session; an API key does not do")]
    Session,
}

/// Why nobody could be made out.
#[derive(Debug)]
pub enum AuthError {
    /// The request is at fault.
    Refused(AuthRefusal),
    /// The look-up failed.
    Store(StoreError),
}

/// The caller of a request; `None` where a route needs nothing.
///
/// # Errors
/// If the request does not bring what is needed.
pub async fn admit(
    headers: &HeaderMap,
    needs: Needs,
    vendor: &Vendor,
    store: &dyn Store,
) -> Result<Option<Caller>, AuthError> {
    match needs {
        Needs::Nothing | Needs::Slot => return Ok(None),
        Needs::Session => return Err(AuthError::Refused(AuthRefusal::Session)),
        Needs::Key | Needs::Write => {}
    }
    let key = presented(headers, vendor).map_err(AuthError::Refused)?;
    let record = store.find_key(key.public_id()).await.map_err(AuthError::Store)?;
    let caller = proved(key, record).map_err(AuthError::Refused)?;
    if needs == Needs::Write && !caller.scopes.prompts_write {
        // What a key may do is for nobody who holds a revoked one.
        store.confirm_key(&caller).await.map_err(AuthError::Store)?;
        return Err(AuthError::Refused(AuthRefusal::Scope));
    }
    Ok(Some(caller))
}

/// The key in the headers, not yet proved.
fn presented<'a>(headers: &'a HeaderMap, vendor: &Vendor) -> Result<PresentedKey<'a>, AuthRefusal> {
    vendor.read(bearer(headers)?).map_err(|_| AuthRefusal::Invalid)
}

/// What stands after `Bearer` in the one header `Authorization`.
///
/// # Errors
/// If there is none, or more than one, or one in another form.
pub fn bearer(headers: &HeaderMap) -> Result<&str, AuthRefusal> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or(AuthRefusal::Missing)?;
    if values.next().is_some() {
        return Err(AuthRefusal::Repeated);
    }
    let value = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
    value.ok_or(AuthRefusal::Malformed)
}

fn proved(key: PresentedKey<'_>, record: Option<KeyRecord>) -> Result<Caller, AuthRefusal> {
    let digest = key.digest();
    record
        .filter(|record| bool::from(record.key.digest.ct_eq(&digest)) && !record.key.revoked)
        .map(|record| record.caller())
        .ok_or(AuthRefusal::Invalid)
}
