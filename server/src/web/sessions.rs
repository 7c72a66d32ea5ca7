//! Signing in and out, and the sessions of the account.
//!
//! The script of the sign-in copies a code from the fragment of a link into the form. It does not submit
//! the form: somebody else's link would sign the reader in to that person's account unnoticed.

use http::header::USER_AGENT;

use super::prelude::*;
use super::return_page;
use super::visit::query_bytes;
use crate::api::Request;
use crate::http::auth::AuthError;
use crate::http::body::OPEN_FORM;

pub(crate) const SIGN_IN: &str = "/sign-in";
pub(crate) const SIGN_OUT: &str = "/sign-out";
/// How much of `User-Agent` names the browser of a session.
const BROWSER_CHARS: usize = 60;

/// `GET /sign-in`. A link to it has the code in its fragment, which browsers send to nobody.
pub(crate) async fn sign_in_form(api: &Api, request: Request<'_>) -> HandlerResult {
    let query = Entered::parse(query_bytes(&request));
    let mut entered = Entered::default();
    entered.set("next", return_page(query.value("next")).unwrap_or_default());
    let code = Field::new("code", "Code", Input::Line).required().help(html! {
        "Whoever runs this server gets a code with the command "
        code { "promptarium-server sign-in ACCOUNT" } ", as text and as a link to this page. A server "
        "in memory prints a link when it starts."
    });
    let form = Form::new("Sign in", vec![Field::hidden("next"), code]);
    Page::open(&api.site, "Sign in").show(&html! {
        p { "Enter a sign-in code. A code can be used once, within 15 minutes." }
        (entered.form(&api.site, &form))
    })
}

/// `POST /sign-in`. The session gets a new id, whatever cookie the browser had.
pub(crate) async fn sign_in(api: &Api, mut request: Request<'_>) -> HandlerResult {
    let parts = request.parts;
    api.site.check_source(parts)?;
    let form = request.body(OPEN_FORM).await?;
    let entered = Entered::parse(&form);
    let mut codes = entered.all("code");
    // Of two it would not be clear which one counts.
    let code = codes.next().filter(|_| codes.next().is_none()).and_then(SecretToken::read);
    let code = code.ok_or(AuthError::WrongCode)?;
    let token = SecretToken::make();
    let agent = parts.headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok());
    let browser = agent.map(|agent| agent.get(..BROWSER_CHARS).unwrap_or(agent));
    let session = api.store.sign_in(code.digest(), token.digest(), browser).await?;
    session.ok_or(AuthError::WrongCode)?;
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

pub(crate) async fn list(visit: Visit<'_>) -> HandlerResult {
    let sessions = visit.store().sessions(&visit.caller).await?;
    let content = html! {
        p { "Browsers signed in to this account. End any session you do not recognize." }
        (list_of(&sessions, |other| html! {
            li {
                strong {
                    bdi { (other.browser.as_deref().unwrap_or("Unknown browser")) }
                    @if other.id == visit.session.id { " (this browser)" }
                }
                p .soft {
                    "Signed in " (visit.ago(other.created_at)) " · last used " (visit.ago(other.last_seen_at))
                    " · ends " (visit.ago(other.expires_at)) " at the latest · session " (other.id.0)
                }
                @if other.id != visit.session.id {
                    (visit.post(&format!("sessions/{}/end", other.id.0), &html! {
                        button { "End session " (other.id.0) }
                    }))
                }
            }
        }))
        @if sessions.len() > 1 {
            h2 { "Other sessions" }
            (visit.post("sessions/end-others", &html! { button .danger { "End all other sessions" } }))
        }
    };
    visit.page("sessions", "Sessions").show(&content)
}

/// Ends the session in the path, or all but that of the request.
pub(crate) async fn end(visit: Visit<'_>) -> HandlerResult {
    let ended = match visit.path_id::<i64>()? {
        Some(id) => vec![KeyId(id)],
        None => {
            let all = visit.store().sessions(&visit.caller).await?;
            all.iter().map(|other| other.id).filter(|id| *id != visit.session.id).collect()
        }
    };
    for id in ended {
        visit.store().end_session(&visit.caller, id).await?;
    }
    visit.done("sessions", "sessions-ended")
}
