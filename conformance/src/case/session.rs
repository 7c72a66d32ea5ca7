//! The browser session of a run (S-81). A sign-in link works once, so all scenarios share one
//! session, which begins when the first of them needs it, and none of them ends it.

use std::sync::Arc;

use http::Method;
use http::header::SET_COOKIE;
use url::form_urlencoded::Serializer;

use super::Case;
use crate::failure::{Failure, Verdict};
use crate::target::{Auth, Session, Target};
use crate::wire::{ApiResponse, Wire};

const FORM: &str = "application/x-www-form-urlencoded";

impl Case {
    /// Calls with the cookie of the run's session ([`crate::Need::Session`]).
    pub async fn session(&self) -> Result<Wire, Failure> {
        self.signed_in().await?;
        Ok(self.wire_as(Auth::Session))
    }

    /// The session, which the first call begins.
    pub(crate) async fn signed_in(&self) -> Result<&Session, Failure> {
        let begun = self.target().session.get_or_init(|| sign_in(self)).await;
        begun.as_ref().map_err(Clone::clone)
    }
}

/// A page of the target: the HTTP client resolves the dots before it sends.
fn page(name: &str) -> String {
    format!("/../../{name}")
}

pub(crate) async fn send_code(case: &Case) -> Result<ApiResponse, Failure> {
    let code = case.target().config.sign_in_code.as_deref().unwrap_or_default();
    let form = Serializer::new(String::new()).append_pair("code", code).finish();
    let call = case.anonymous().call(Method::POST, &page("sign-in")).sent_by_own_page();
    call.body(FORM, form).send().await
}

async fn sign_in(case: &Case) -> Result<Session, Failure> {
    let answer = send_code(case).await?;
    let status = answer.status_code();
    if status >= 400 {
        let got = format!(
            "the code of --sign-in-url is refused (status {status}): a link works once and for 15 \
             minutes; `promptarium-server sign-in ACCOUNT` makes a new one"
        );
        let failure = answer.failure("the code of --sign-in-url to sign in", got);
        return Err(Failure { verdict: Verdict::Error, ..failure });
    }
    let cookie = answer.headers().get(SET_COOKIE).and_then(|line| line.to_str().ok());
    let cookie = cookie.and_then(|line| line.split(';').next()).map(|pair| pair.trim().to_owned());
    let cookie = cookie.ok_or_else(|| answer.failure("a cookie from the sign-in", "none"))?;
    let value = cookie.split_once('=').map_or(cookie.as_str(), |(_, value)| value);
    case.target().secrets.keep("SESSION", "[session]", value, value);
    Ok(Session { cookie, sign_in: answer.exchange() })
}

/// Ends the session of a run, if it has one. The error is one line.
pub async fn sign_out(target: &Arc<Target>) -> Result<(), String> {
    if !target.session.get().is_some_and(Result::is_ok) {
        return Ok(());
    }
    let wire = Case::new(Arc::clone(target), "sign-out").wire_as(Auth::Session);
    let got = match wire.post_empty(&page("sign-out")).await {
        Ok(reply) if reply.status_code() < 400 => return Ok(()),
        Ok(reply) => format!("status {}", reply.status_code()),
        Err(failure) => target.secrets.redact(failure.got),
    };
    Err(format!("the session of the run has not ended: {got}"))
}
