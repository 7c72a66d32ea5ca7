//! The pages: signing in and out here, the dashboard behind it in the modules. The table of routes
//! names the path of each handler.
//!
//! A page loads no scripts or styles from elsewhere and works without scripts. The script of the
//! sign-in copies a code from the fragment of a link into the form. It does not submit the form:
//! somebody else's link would sign the reader in to that person's account unnoticed.

pub(crate) mod account;
pub(crate) mod chosen;
mod forms;
pub(crate) mod generate;
pub(crate) mod home;
pub(crate) mod jobs;
pub(crate) mod keys;
mod layout;
mod parts;
mod pictures;
mod prelude;
pub(crate) mod prompt;
pub(crate) mod prompts;
pub(crate) mod public;
pub(crate) mod sessions;
mod uploads;
pub(crate) mod vaults;
mod visit;

use http::Method;
use http::header::REFERER;
use http::request::Parts;
use maud::html;

use self::forms::{Entered, Field, Form, Input};
use self::layout::{Page, redirect};
use self::parts::address;
use self::sessions::browser;
pub(crate) use self::visit::Visit;
use self::visit::query_bytes;
use crate::api::{Api, HandlerResult, Request};
use crate::domain::{SecretToken, SessionRecord};
use crate::http::auth::AuthError;
use crate::http::body::OPEN_FORM;
use crate::http::browser::Site;
use crate::http::error::{ApiError, Problem};
use crate::http::headers::sole;
use crate::http::response::{self, Response};
use crate::store::StoreError;

pub(crate) const SIGN_IN: &str = "/sign-in";
pub(crate) const SIGN_OUT: &str = "/sign-out";
/// A longer address is not returned to.
const NEXT_BYTES_MAX: usize = 2_000;

/// Without a session, or with a key in its place, a page of the dashboard leads to the sign-in, and
/// that back to the page.
pub(crate) fn or_sign_in(site: &Site, parts: &Parts, outcome: HandlerResult) -> HandlerResult {
    match outcome {
        Err(
            ApiError::Auth(AuthError::NoSession | AuthError::KeyForSession)
            | ApiError::Store(StoreError::KeyRevoked),
        ) => {
            let next = next_page(site, parts);
            redirect(site, &address("sign-in", [("next", &*next.unwrap_or_default())]), None)
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

/// A page to return to, without the root of the site. A text that a browser could take for an address
/// of another site is none.
fn return_page(text: &str) -> Option<&str> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let is_page = is_plain && text.len() <= NEXT_BYTES_MAX && !text.starts_with('/');
    Some(text).filter(|_| is_page)
}

/// `GET /sign-in`. A link to it has the code in its fragment, which browsers send to nobody.
pub(crate) async fn sign_in_form(api: &Api, request: Request<'_>) -> HandlerResult {
    let query = Entered::parse(query_bytes(&request));
    let mut entered = Entered::default();
    entered.set("next", return_page(query.value("next")).unwrap_or_default());
    let code = Field::new("code", "Code", Input::WideLine).required().help(html! {
        "Whoever runs this server gets a code with the command "
        code { "promptarium-server sign-in ACCOUNT" } ", as text and as a link to this page. A server "
        "without a database prints a link when it starts, and again when it gets the signal SIGUSR1."
    });
    let form = Form::new("Sign in", vec![Field::hidden("next"), code]);
    Page::open(&api.site, "Sign in").show(&html! {
        p { "Enter a sign-in code. A code can be used once, within 15 minutes." }
        (entered.form(&api.site, &form))
    })
}

/// `POST /sign-in`. The session gets a new id, whatever cookie the browser had.
pub(crate) async fn sign_in(api: &Api, mut request: Request<'_>) -> HandlerResult {
    let Request { parts, peer, .. } = request;
    api.site.check_source(parts)?;
    let form = request.body(OPEN_FORM).await?;
    let entered = Entered::parse(&form);
    let mut codes = entered.all("code");
    // Of two it would not be clear which one counts.
    let code = codes.next().filter(|_| codes.next().is_none()).and_then(SecretToken::read);
    let Some(code) = code else { return Err(api.attempts.wrong(peer).into()) };
    let (token, browser) = (SecretToken::make(), browser(&parts.headers));
    let session = api.store.sign_in(code.digest(), token.digest(), browser.as_deref()).await?;
    if session.is_none() {
        return Err(api.attempts.wrong(peer).into());
    }
    let next = return_page(entered.value("next")).unwrap_or_default();
    redirect(&api.site, next, Some(api.site.set_cookies(Some(&token))?))
}

/// `POST /sign-out`. Without a session it only removes the cookie.
pub(crate) async fn sign_out(api: &Api, request: Request<'_>) -> HandlerResult {
    api.site.check_source(request.parts)?;
    match api.site.session(&request.parts.headers, &*api.store).await {
        Ok(session) => match api.store.end_session(&session.caller(), session.id).await {
            // It was ended meanwhile.
            Ok(()) | Err(StoreError::KeyRevoked) => {}
            Err(error) => return Err(error.into()),
        },
        Err(AuthError::NoSession) => {}
        Err(error) => return Err(error.into()),
    }
    redirect(&api.site, "", Some(api.site.set_cookies(None)?))
}

/// The failure of a request for a page.
pub(crate) fn failure(
    problem: Problem,
    site: &Site,
    session: Option<&SessionRecord>,
    request_id: &str,
) -> Response {
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

#[cfg(test)]
mod tests {
    use super::return_page;

    #[test]
    fn only_a_page_of_this_site_is_returned_to() {
        for page in ["", "prompts", "prompts/5?done=x&q=a%20b", "v/alice/sky#top", "vaults/1//2"] {
            assert_eq!(return_page(page), Some(page), "{page}");
        }
        for other in [
            "/",
            "//evil.example",
            "/\\evil.example",
            "\\evil.example",
            "prompts\\..",
            "a b",
            "a\tb",
            "a\r\nset-cookie:b",
            "\u{fc}",
            &"x".repeat(super::NEXT_BYTES_MAX + 1),
        ] {
            assert_eq!(return_page(other), None, "{other:?}");
        }
    }
}
