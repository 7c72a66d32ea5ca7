//! `/api-keys`: the keys of an account, which only a browser session can manage (KE-05, S-46).

use std::sync::Arc;

use http::StatusCode;
use promptarium::limits;
use serde_json::{Value, json};

use super::view::Time;
use super::{Api, HandlerResult, Request};
use crate::domain::{Caller, GeneratedKey, KeyRecord, NewKey, Scopes};
use crate::http::error::ApiError;
use crate::http::response;
use crate::http::validate::{Checked, Field, list as list_of, one_of, text};
use crate::store::StoreError;

pub(crate) const FIELDS: &[&str] = &["name", "scopes"];

/// The known scopes, each as what a key with it may do.
pub(crate) const SCOPES: &[(&str, Scopes)] = &[("prompts:write", Scopes::ALL)];

/// An API key without its text (KE-04, S-46).
fn view(record: &KeyRecord) -> Value {
    let scopes = SCOPES.iter().filter(|_| record.scopes.prompts_write);
    json!({
        "publicId": &*record.public_id,
        "name": record.name.as_deref(),
        "scopes": scopes.map(|(scope, _)| *scope).collect::<Vec<_>>(),
        "createdAt": Time(record.created_at),
        "lastUsedAt": record.last_used_at.map(Time),
        "revokedAt": record.revoked_at.map(Time),
    })
}

/// `POST /api-keys` (KE-03 to KE-06). The response is the only one with the key.
pub(crate) async fn create(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let fields = request.json(FIELDS, |form| {
        let name = form.required("name", name);
        name.zip(form.required("scopes", list_of(0..=SCOPES.len(), one_of(SCOPES))))
    });
    let (name, scopes) = fields.await?;
    let scopes = scopes.first().copied().unwrap_or_default();
    let (record, key) = issue(api, caller, &name, scopes).await?;
    let mut view = view(&record);
    view["key"] = key.expose().into();
    Ok(response::data(StatusCode::CREATED, &view))
}

pub(crate) async fn issue(
    api: &Api,
    caller: &Caller,
    name: &str,
    scopes: Scopes,
) -> Result<(KeyRecord, GeneratedKey), StoreError> {
    let key = api.vendor.make();
    let new = NewKey { name: Some(name.into()), ..NewKey::new(&key, scopes) };
    Ok((api.store.create_api_key(caller, new).await?, key))
}

/// `GET /api-keys` (KE-07).
pub(crate) async fn list(api: &Api, caller: &Caller, _: Request<'_>) -> HandlerResult {
    let keys = api.store.api_keys(caller).await?;
    Ok(response::data(StatusCode::OK, &keys.iter().map(view).collect::<Vec<_>>()))
}

/// `DELETE /api-keys/{publicId}` (KE-07). The key stays in the list, as revoked.
pub(crate) async fn revoke(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let public_id = request.params.text(0).ok_or(ApiError::NotFound)?;
    let record = api.store.revoke_api_key(caller, &public_id).await?;
    Ok(response::data(StatusCode::OK, &view(&record)))
}

/// A text with something to read in it.
pub(crate) fn name(field: &Field<'_>) -> Checked<Arc<str>> {
    let name = text(limits::API_KEY_NAME_CHARS)(field)?;
    if name.trim().is_empty() { Err("must not be blank".to_owned()) } else { Ok(name) }
}
