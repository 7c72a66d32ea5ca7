//! The pages: signing in and out, and the first page behind it.
//!
//! A page loads nothing and works without scripts. The only script moves a code from the fragment
//! of a sign-in link into the form. It does not send the form: a link of someone else would sign
//! the reader in to that person's account unnoticed.

use std::sync::LazyLock;

use data_encoding::BASE64;
use http::header::{CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY, SET_COOKIE};
use http::{HeaderName, HeaderValue, StatusCode};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use url::form_urlencoded;

use crate::api::{Api, HandlerResult, Request};
use crate::domain::SecretToken;
use crate::http::auth::AuthError;
use crate::http::body::read_form;
use crate::http::browser::Site;
use crate::http::error::ApiError;
use crate::http::path::RequestTarget;
use crate::http::response::{self, Response, ResponseBody};
use crate::store::StoreError;

pub(crate) const HOME: &str = "/";
pub(crate) const SIGN_IN: &str = "/sign-in";
pub(crate) const SIGN_OUT: &str = "/sign-out";

/// A second link in the same tab changes the fragment only and does not load the page again.
const FILL_IN: &str = "\
function fillIn() {
  if (location.hash.length < 2) return;
  document.querySelector('input').value = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  document.querySelector('button').focus();
}
addEventListener('hashchange', fillIn);
fillIn();
";

static POLICY: LazyLock<String> = LazyLock::new(|| {
    let script = BASE64.encode(&Sha256::digest(FILL_IN));
    format!(
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; \
         script-src 'sha256-{script}'"
    )
});

/// `GET /`.
pub(crate) async fn home(api: &Api, request: Request<'_>) -> HandlerResult {
    let session = match api.site.session(&request.parts.headers, &*api.store).await {
        Ok(session) => session,
        Err(AuthError::Store(error)) => return Err(AuthError::Store(error).into()),
        Err(_) => return redirect(&api.site, "sign-in", None),
    };
    let content = html! {
        p { "You are signed in to the account " strong { (session.account_name) } "." }
        form method="post" action=(api.site.page("sign-out")) { button { "Sign out" } }
    };
    Ok(page(StatusCode::OK, &content))
}

/// `GET /sign-in`. A link to it has the code in its fragment, which browsers send to nobody.
pub(crate) async fn sign_in_form(api: &Api, _: Request<'_>) -> HandlerResult {
    let content = html! {
        p { "Enter a sign-in code. A code can be used once." }
        form method="post" action=(api.site.page("sign-in")) {
            label { "Code " input name="code" autocomplete="off" spellcheck="false" required; }
            " "
            button { "Sign in" }
        }
        script { (PreEscaped(FILL_IN)) }
    };
    Ok(page(StatusCode::OK, &content))
}

/// `POST /sign-in`. The session gets a new id, whatever cookie the browser had.
pub(crate) async fn sign_in(api: &Api, request: Request<'_>) -> HandlerResult {
    let Request { parts, body, peer, .. } = request;
    api.site.check_source(&parts.method, &parts.headers)?;
    let form = read_form(body, &parts.headers).await?;
    let Some(code) = only_code(&form) else { return Err(api.attempts.wrong(peer)) };
    let token = SecretToken::make();
    match api.store.sign_in(code.digest(), token.digest()).await {
        Ok(None) => Err(api.attempts.wrong(peer)),
        Ok(Some(_)) => redirect(&api.site, "", Some(api.site.cookie_of(&token)?)),
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
            api.site.check_source(&request.parts.method, &request.parts.headers)?;
        }
        Err(error) => return Err(error),
    }
    redirect(&api.site, "", Some(api.site.no_cookie()?))
}

/// The field `code` of a form, if there is one and it has the form of a code.
fn only_code(form: &[u8]) -> Option<SecretToken> {
    let mut codes = form_urlencoded::parse(form).filter(|(name, _)| name == "code");
    let (_, code) = codes.next().filter(|_| codes.next().is_none())?;
    SecretToken::read(&code)
}

/// The failure of a request for a page.
pub(crate) fn failure(error: &ApiError, target: RequestTarget, site: &Site) -> Response {
    let problem = error.problem(target);
    let content = html! {
        p { "This did not work: " (problem.text) "." }
        p { a href=(site.page("sign-in")) { "Sign in" } }
    };
    let mut response = page(problem.status, &content);
    response::add_headers(&mut response, problem);
    response
}

fn page(status: StatusCode, content: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { "Promptarium" }
            }
            body { h1 { "Promptarium" } (content) }
        }
    };
    let body = ResponseBody::Left(page.into_string().into());
    let mut response = response::with_type(status, "text/html; charset=utf-8", body);
    let headers = response.headers_mut();
    headers.extend(HeaderValue::from_str(&POLICY).map(|policy| (CONTENT_SECURITY_POLICY, policy)));
    // With `no-referrer` browsers would send `Origin: null` with the forms.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

fn redirect(site: &Site, page: &str, cookie: Option<HeaderValue>) -> HandlerResult {
    let mut response = http::Response::builder()
        .status(StatusCode::SEE_OTHER)
        .header(LOCATION, site.page(page))
        .body(response::no_body())?;
    let cookie = cookie.map(|cookie| (SET_COOKIE, cookie));
    response.headers_mut().extend::<Option<(HeaderName, HeaderValue)>>(cookie);
    Ok(response)
}
