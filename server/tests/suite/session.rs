//! The browser session of each deployment (S-81). A sign-in link works once, so all scenarios share
//! the session that begins with the deployment, and none of them ends it.

use std::sync::{Arc, Mutex, PoisonError};

use http::header::{COOKIE, HeaderName, HeaderValue, ORIGIN, SET_COOKIE};
use promptarium_conformance::Target;

use crate::prelude::*;

static SESSIONS: Mutex<Vec<(String, Arc<Session>)>> = Mutex::new(Vec::new());

pub(crate) struct Session {
    code: String,
    /// Name and value, as the header `Cookie` has them.
    pub(crate) cookie: String,
    pub(crate) sign_in: ApiResponse,
}

impl Session {
    /// Signs in to a deployment by its link.
    pub(crate) async fn begin(target: &Arc<Target>, link: &str) -> Result {
        let case = Case::new(Arc::clone(target), "sign-in");
        let code = link.split_once('#').unwrap_or_default().1.to_owned();
        let sign_in = send_code(&case, &code).await?;
        let cookie = sign_in.headers().get(SET_COOKIE).and_then(|line| line.to_str().ok());
        let cookie = cookie.and_then(|line| line.split(';').next()).map(str::trim);
        let cookie = cookie.ok_or_else(|| sign_in.failure("a cookie from the sign-in", "none"))?;
        let session = Self { code, cookie: cookie.to_owned(), sign_in };
        let mut sessions = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.push((target.base_url().to_owned(), Arc::new(session)));
        Ok(())
    }

    /// That of the deployment under test.
    pub(crate) fn of(case: &Case) -> Result<Arc<Self>> {
        let sessions = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
        let own = sessions.iter().find(|(base_url, _)| base_url == case.target().base_url());
        let own = own.map(|(_, session)| Arc::clone(session));
        own.ok_or_else(|| Failure::error("a session", "this deployment has none"))
    }

    /// Calls as a page of the deployment sends them.
    pub(crate) fn wire(case: &Case) -> Result<Wire> {
        let unfit = |_| Failure::error("a cookie that fits a header", "one that does not");
        let cookie = HeaderValue::try_from(&Self::of(case)?.cookie).map_err(unfit)?;
        Ok(own_page(case)?.with_header(COOKIE, cookie))
    }

    pub(crate) async fn send_code_again(&self, case: &Case) -> Result<ApiResponse> {
        send_code(case, &self.code).await
    }
}

/// Calls of a page of the deployment that is not signed in.
fn own_page(case: &Case) -> Result<Wire> {
    let origin = case.target().config().base_url.origin().ascii_serialization();
    let unfit = |_| Failure::error("an origin that fits a header", "one that does not");
    let origin = HeaderValue::try_from(origin).map_err(unfit)?;
    let same = HeaderValue::from_static("same-origin");
    let site = HeaderName::from_static("sec-fetch-site");
    Ok(case.anonymous().with_header(ORIGIN, origin).with_header(site, same))
}

async fn send_code(case: &Case, code: &str) -> Result<ApiResponse> {
    // The HTTP client resolves the dots before it sends.
    let call = own_page(case)?.call(Method::POST, "/../../sign-in");
    // Its characters need no escapes.
    call.body("application/x-www-form-urlencoded", format!("code={code}")).send().await
}
