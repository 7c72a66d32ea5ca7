//! The keys of the account.

use http::request::Parts;
use maud::{Markup, html};

use super::forms::{Entered, Field, Input, confirm_page, once};
use super::layout::{Page, done, done_address};
use super::parts::{ago, copy_button, list as list_of, titled};
use crate::api::keys::{SCOPES, issue, name};
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{ApiKeyRecord, SessionRecord as Session};
use crate::http::error::ApiError;
use crate::http::validate::{form_fields, one_of};
use crate::limits::API_KEYS_MAX;

const FIELDS: &[&str] = &["name", "scope"];

/// `GET /keys`.
pub(crate) async fn list(api: &Api, session: &Session, request: Request<'_>) -> HandlerResult {
    page(api, session, request.parts, &Entered::new(&[("scope", SCOPES[0].0)])).await
}

async fn page(api: &Api, session: &Session, parts: &Parts, entered: &Entered<'_>) -> HandlerResult {
    let keys = api.store.api_keys(&session.caller()).await?;
    let empty = html! { p { "There is no key. Create one below to use the API." } };
    let scopes = SCOPES.iter().map(|(scope, _)| (*scope).to_owned());
    let scopes = scopes.map(|scope| (scope.clone(), format!("Read and write ({scope})")));
    let scopes = scopes.chain([(String::new(), "Only read".to_owned())]).collect::<Vec<_>>();
    let help = format!(
        "For example the program or machine that uses it. An account has at most {API_KEYS_MAX} \
         valid keys."
    );
    let name = Field::new("name", "Name", Input::Line).required().help(&help);
    let scope = Field::new("scope", "What it may do", Input::Select(&scopes));
    let content = html! {
        (list_of(&keys, &empty, |key| entry(api, key)))
        h2 #new { "New key" }
        (entered.summary(&[name.label(), scope.label()]))
        form .fields method="post" action=(api.site.page("keys")) {
            (entered.token())
            (entered.field(&name))
            (entered.field(&scope))
            div .buttons { button .main { "Create key" } }
        }
    };
    let page = Page::of(&api.site, session, "keys", "Keys").after(parts);
    Ok(page.response(entered.status(), &content))
}

fn entry(api: &Api, key: &ApiKeyRecord) -> Markup {
    html! {
        li {
            strong { (title(key)) }
            p .soft {
                code { (key.public_id) } " · " (rights(key)) " · created " (ago(api, key.created_at))
                @if let Some(at) = key.last_used_at { " · last used " (ago(api, at)) }
                @else { " · never used" }
            }
            @match key.revoked_at {
                Some(at) => p .soft { span .bad { "Revoked" } " " (ago(api, at)) },
                None => p .soft {
                    a href=(api.site.page(&revocation(key))) { "Revoke " span { (title(key)) } }
                },
            }
        }
    }
}

/// `POST /keys`. The response is the only one with the key, and no redirect: what a redirect
/// leads to could be asked for again. Sent again, the form leads to the list of keys.
pub(crate) async fn create(
    api: &Api,
    session: &Session,
    mut request: Request<'_>,
) -> HandlerResult {
    let body = request.form().await?;
    let mut created = None;
    let work = async || {
        let mut form = form_fields(&body, FIELDS);
        let name = form.required("name", name);
        let scopes = form.optional("scope", one_of(SCOPES)).unwrap_or_default();
        let name = form.finish_with(name)?;
        created = Some(issue(api, &session.caller(), &name, scopes).await?);
        Ok(done_address("keys", "key-created"))
    };
    let outcome = once(api, session, &body, work).await;
    let Some((record, key)) = created else {
        return match outcome {
            Err(error) => {
                let entered = Entered::refused(&body, error, request.parts)?;
                page(api, session, request.parts, &entered).await
            }
            again => again,
        };
    };
    let content = html! {
        p { "The key " strong { (title(&record)) } " is ready. " (rights(&record)) "." }
        div .card {
            p { strong { "Copy it now." } " It is shown this once; only its digest is stored." }
            pre #key tabindex="0" role="region" aria-label="Line for a shell" {
                "export PROMPTARIUM_API_KEY=" (key.expose())
            }
            (copy_button("key", "Copy this line"))
        }
        p { a href=(api.site.page("keys")) { "I have copied it; show all keys" } }
    };
    Page::of(&api.site, session, "keys", "New key").show(&content)
}

/// `GET /keys/{publicId}/revoke`.
pub(crate) async fn confirm(api: &Api, session: &Session, request: Request<'_>) -> HandlerResult {
    let public_id = request.params.text(0).ok_or(ApiError::NotFound)?;
    let keys = api.store.api_keys(&session.caller()).await?;
    let key = keys.iter().find(|key| *key.public_id == *public_id).ok_or(ApiError::NotFound)?;
    let question = html! {
        "Revoke " strong { (title(key)) } " (" code { (key.public_id) } ")? Programs that use it are "
        "refused at once. This cannot be undone."
    };
    let page = Page::of(&api.site, session, "keys", "Revoke a key");
    confirm_page(&page, &question, (&revocation(key), &html! {}, "Revoke this key"), "keys")
}

/// `POST /keys/{publicId}/revoke`.
pub(crate) async fn revoke(api: &Api, session: &Session, request: Request<'_>) -> HandlerResult {
    let public_id = request.params.text(0).ok_or(ApiError::NotFound)?;
    api.store.revoke_api_key(&session.caller(), &public_id).await?;
    done(&api.site, "keys", "key-revoked")
}

/// Public ids are letters and digits.
fn revocation(key: &ApiKeyRecord) -> String {
    format!("keys/{}/revoke", key.public_id)
}

fn title(key: &ApiKeyRecord) -> Markup {
    titled(key.name.as_deref().unwrap_or("Key without a name"), 100)
}

const fn rights(key: &ApiKeyRecord) -> &'static str {
    if key.scopes.prompts_write { "It reads and writes" } else { "It only reads" }
}
