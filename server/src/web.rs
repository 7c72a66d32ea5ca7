//! The pages: signing in and out here, the dashboard behind it in the modules.
//!
//! A page loads no scripts or styles from elsewhere and works without scripts. The script of the
//! sign-in copies a code from the fragment of a link into the form. It does not submit the form:
//! somebody else's link would sign the reader in to that person's account unnoticed.

pub(crate) mod chosen;
mod fields;
mod forms;
pub(crate) mod generate;
pub(crate) mod home;
pub(crate) mod jobs;
pub(crate) mod keys;
mod layout;
mod listing;
mod parts;
mod pictures;
pub(crate) mod prompt;
pub(crate) mod prompts;
pub(crate) mod sessions;
pub(crate) mod vaults;

use http::Method;
use http::header::REFERER;
use http::request::Parts;
use maud::html;
use url::form_urlencoded;

use self::layout::{Page, SIGN_IN as SIGN_IN_SCRIPT, redirect};
use self::parts::address;
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{SecretToken, SessionRecord};
use crate::http::auth::AuthError;
use crate::http::browser::Site;
use crate::http::error::ApiError;
use crate::http::headers::sole;
use crate::http::path::RequestTarget;
use crate::http::response::{self, Response};
use crate::store::StoreError;

pub(crate) const SIGN_IN: &str = "/sign-in";
pub(crate) const SIGN_OUT: &str = "/sign-out";

/// Without a session, or with a key in its place, a page of the dashboard leads to the sign-in, and
/// that back to the page.
pub(crate) fn or_sign_in(site: &Site, parts: &Parts, outcome: HandlerResult) -> HandlerResult {
    match outcome {
        Err(
            ApiError::Auth(AuthError::NoSession | AuthError::KeyForSession)
            | ApiError::Store(StoreError::KeyRevoked),
        ) => {
            let next = next_page(site, parts).filter(|page| !page.is_empty());
            redirect(site, &address("sign-in", &[("next", next.as_deref())]), None)
        }
        outcome => outcome,
    }
}

/// The page that was asked for, or that has the form that was sent, without the root of the site.
fn next_page(site: &Site, parts: &Parts) -> Option<String> {
    if parts.method == Method::GET {
        // A proxy has removed the root.
        return parts.uri.path_and_query().map(|page| page.as_str().trim_start_matches('/').into());
    }
    let referer = sole(&parts.headers, &REFERER)?.to_str().ok()?;
    site.page_of(referer).map(str::to_owned)
}

/// `GET /sign-in`. A link to it has the code in its fragment, which browsers send to nobody.
pub(crate) async fn sign_in_form(api: &Api, _: Request<'_>) -> HandlerResult {
    let content = html! {
        p { "Enter a sign-in code. A code can be used once." }
        form method="post" action=(api.site.page("sign-in")) {
            label { "Code " input name="code" autocomplete="off" spellcheck="false" required; }
            p { button .main { "Sign in" } }
        }
    };
    let page = Page::open(&api.site, "Sign in");
    Page { script: Some(SIGN_IN_SCRIPT), ..page }.show(&content)
}

/// `POST /sign-in`. The session gets a new id, whatever cookie the browser had.
pub(crate) async fn sign_in(api: &Api, mut request: Request<'_>) -> HandlerResult {
    let Request { parts, peer, .. } = request;
    api.site.check_source(parts)?;
    let form = request.open_form().await?;
    let Some(code) = only_code(&form) else { return Err(api.attempts.wrong(peer)) };
    let token = SecretToken::make();
    match api.store.sign_in(code.digest(), token.digest(), None).await {
        Ok(None) => Err(api.attempts.wrong(peer)),
        Ok(Some(_)) => redirect(&api.site, "", Some(api.site.set_cookies(Some(&token))?)),
        Err(error) => Err(error.into()),
    }
}

/// `POST /sign-out`. Without a session it only removes the cookie.
pub(crate) async fn sign_out(api: &Api, request: Request<'_>) -> HandlerResult {
    match api.site.authenticate(request.parts, &*api.store).await {
        Ok(session) => match api.store.end_session(&session.caller(), session.id).await {
            // It was ended meanwhile.
            Ok(()) | Err(StoreError::KeyRevoked) => {}
            Err(error) => return Err(error.into()),
        },
        Err(ApiError::Auth(AuthError::NoSession)) => {
            api.site.check_source(request.parts)?;
        }
        Err(error) => return Err(error),
    }
    redirect(&api.site, "", Some(api.site.set_cookies(None)?))
}

/// The field `code` of a form, if there is one and it has the form of a code.
fn only_code(form: &[u8]) -> Option<SecretToken> {
    let mut codes = form_urlencoded::parse(form).filter(|(name, _)| name == "code");
    let (_, code) = codes.next().filter(|_| codes.next().is_none())?;
    SecretToken::read(&code)
}

/// The failure of a request for a page.
pub(crate) fn failure(
    error: &ApiError,
    target: RequestTarget,
    site: &Site,
    session: Option<&SessionRecord>,
    request_id: &str,
) -> Response {
    let problem = error.problem(target);
    let title = match problem.status.as_u16() {
        401 => "Not signed in",
        403 => "Not allowed",
        404 => "Not found",
        500.. => "The server could not do this",
        _ => "This did not work",
    };
    let content = html! {
        div .card {
            p .problem { (problem.text) "." }
            p .soft { "Request id: " code { (request_id) } }
        }
        @if session.is_none() { p { a href=(site.page("sign-in")) { "Sign in" } } }
    };
    let page = Page { session, ..Page::open(site, title) };
    let mut response = page.response(problem.status, &content);
    response::add_headers(&mut response, problem);
    response
}
