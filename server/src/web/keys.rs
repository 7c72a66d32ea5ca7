//! The keys of the account.

use maud::{Markup, html};

use super::layout::{Page, When, list as list_of, redirect, typed};
use crate::api::keys::{SCOPES, issue, name};
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{ApiKeyRecord, SessionRecord};
use crate::http::error::ApiError;
use crate::http::validate::{form_fields, one_of};
use crate::limits::API_KEYS_MAX;

const FIELDS: &[&str] = &["name", "scope"];

/// `GET /keys`.
pub(crate) async fn list(api: &Api, session: &SessionRecord, _: Request<'_>) -> HandlerResult {
    let keys = api.store.api_keys(&session.caller()).await?;
    let empty = html! { p { "There is no key. Create one below to use the API." } };
    let content = html! {
        (list_of(&keys, &empty, |key| html! {
            li {
                strong { (title(key)) }
                p .soft {
                    code { (key.public_id) } " · " (rights(key)) " · created " (When(key.created_at))
                    @if let Some(at) = key.last_used_at { " · last used " (When(at)) }
                    @else { " · never used" }
                }
                @match key.revoked_at {
                    Some(at) => p .soft { span .bad { "Revoked" } " " (When(at)) },
                    None => p {
                        a href=(revocation(api, key)) { "Revoke " span { (title(key)) } }
                    },
                }
            }
        }))
        h2 { "New key" }
        form .fields method="post" action=(api.site.page("keys")) {
            div {
                label for="name" { "Name" }
                input #name name="name" dir="auto" maxlength="100" required autocomplete="off"
                    aria-describedby="name-help";
            }
            div {
                label for="scope" { "What it may do" }
                select #scope name="scope" {
                    @for (scope, _) in SCOPES {
                        option value=(scope) { "Read and write (" (scope) ")" }
                    }
                    option value="" { "Only read" }
                }
            }
            button .main { "Create key" }
        }
        p #name-help .soft {
            "For example the program or machine that uses it. An account has at most "
            (API_KEYS_MAX) " valid keys."
        }
    };
    Page::of(&api.site, session, "keys", "Keys").show(&content)
}

/// `POST /keys`. The response is the only one with the key, and no redirect: what a redirect
/// leads to could be asked for again.
pub(crate) async fn create(
    api: &Api,
    session: &SessionRecord,
    mut request: Request<'_>,
) -> HandlerResult {
    let body = request.form().await?;
    let mut form = form_fields(&body, FIELDS);
    let name = form.required("name", name);
    let scopes = form.optional("scope", one_of(SCOPES)).unwrap_or_default();
    let name = form.finish_with(name)?;

    let (record, key) = issue(api, &session.caller(), &name, scopes).await?;
    let content = html! {
        p { "The key " strong { (title(&record)) } " is ready. " (rights(&record)) "." }
        div .card {
            p { strong { "Copy it now." } " It is shown this once; only its digest is stored." }
            pre tabindex="0" aria-label="Line for a shell" {
                "export PROMPTARIUM_API_KEY=" (key.expose())
            }
        }
        p { a href=(api.site.page("keys")) { "I have copied it; show all keys" } }
    };
    Page::of(&api.site, session, "keys", "New key").show(&content)
}

/// `GET /keys/{publicId}/revoke`.
pub(crate) async fn confirm(
    api: &Api,
    session: &SessionRecord,
    request: Request<'_>,
) -> HandlerResult {
    let public_id = request.params.text(0).ok_or(ApiError::NotFound)?;
    let keys = api.store.api_keys(&session.caller()).await?;
    let key = keys.iter().find(|key| *key.public_id == *public_id).ok_or(ApiError::NotFound)?;
    let content = html! {
        p { "Revoke " strong { (title(key)) } " (" code { (key.public_id) } ")?" }
        p { "Programs that use it are refused at once. This cannot be undone." }
        form method="post" action=(revocation(api, key)) {
            button .danger { "Revoke this key" } " "
            a href=(api.site.page("keys")) { "Keep it" }
        }
    };
    Page::of(&api.site, session, "keys", "Revoke a key").show(&content)
}

/// `POST /keys/{publicId}/revoke`.
pub(crate) async fn revoke(
    api: &Api,
    session: &SessionRecord,
    request: Request<'_>,
) -> HandlerResult {
    let public_id = request.params.text(0).ok_or(ApiError::NotFound)?;
    api.store.revoke_api_key(&session.caller(), &public_id).await?;
    redirect(&api.site, "keys", None)
}

/// Public ids are letters and digits.
fn revocation(api: &Api, key: &ApiKeyRecord) -> String {
    api.site.page(&format!("keys/{}/revoke", key.public_id))
}

fn title(key: &ApiKeyRecord) -> Markup {
    typed(key.name.as_deref().unwrap_or("Key without a name"), 100)
}

const fn rights(key: &ApiKeyRecord) -> &'static str {
    if key.scopes.prompts_write { "It reads and writes" } else { "It only reads" }
}
