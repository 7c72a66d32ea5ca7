//! The pages: signing in and out here, the dashboard behind it in the modules.
//!
//! A page loads no scripts or styles from elsewhere and works without scripts. One inline script
//! reloads pages from the back/forward cache. The other copies a code from the fragment of a sign-in
//! link into the form. It does not submit the form: somebody else's link would sign the reader in
//! to that person's account unnoticed.

pub(crate) mod home;
pub(crate) mod jobs;
pub(crate) mod keys;
mod layout;
pub(crate) mod prompts;
pub(crate) mod sessions;
pub(crate) mod vaults;

use maud::{PreEscaped, html};
use url::form_urlencoded;

use self::layout::{FILL_IN, Page, redirect};
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{SecretToken, SessionRecord};
use crate::http::auth::AuthError;
use crate::http::browser::Site;
use crate::http::error::ApiError;
use crate::http::path::RequestTarget;
use crate::http::response::{self, Response};
use crate::store::StoreError;

pub(crate) const SIGN_IN: &str = "/sign-in";
pub(crate) const SIGN_OUT: &str = "/sign-out";

/// Without a session, or with a key in its place, a page of the dashboard leads to the sign-in.
pub(crate) fn or_sign_in(site: &Site, outcome: HandlerResult) -> HandlerResult {
    match outcome {
        Err(
            ApiError::Auth(AuthError::NoSession | AuthError::KeyForSession)
            | ApiError::Store(StoreError::KeyRevoked),
        ) => redirect(site, "sign-in", None),
        outcome => outcome,
    }
}

/// `GET /sign-in`. A link to it has the code in its fragment, which browsers send to nobody.
pub(crate) async fn sign_in_form(api: &Api, _: Request<'_>) -> HandlerResult {
    let content = html! {
        p { "Enter a sign-in code. A code can be used once." }
        form method="post" action=(api.site.page("sign-in")) {
            label { "Code " input name="code" autocomplete="off" spellcheck="false" required; }
            p { button .main { "Sign in" } }
        }
        script { (PreEscaped(FILL_IN)) }
    };
    Page::open(&api.site, "Sign in").show(&content)
}

/// `POST /sign-in`. The session gets a new id, whatever cookie the browser had.
pub(crate) async fn sign_in(api: &Api, mut request: Request<'_>) -> HandlerResult {
    let Request { parts, peer, .. } = request;
    api.site.check_source(parts)?;
    let form = request.form().await?;
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
