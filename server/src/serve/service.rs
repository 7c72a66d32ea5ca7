//! One request, from its head to its response.
//!
//! A request gets its id, route, caller and handler here, and a failure becomes a response.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures::FutureExt;
use http::header::{
    ALLOW, AUTHORIZATION, CACHE_CONTROL, COOKIE, HOST, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderName, HeaderValue, Method, StatusCode, Version};
use hyper::body::Incoming;
use tokio::time::Instant;
use tracing::Instrument;

use crate::api::{Answered, Api, Handler, HandlerResult, Pages, Request, Route};
use crate::domain::SessionRecord;
use crate::http::auth::{Access, AuthError, authenticate};
use crate::http::error::ApiError;
use crate::http::path::RequestTarget;
use crate::http::response::{self, Response};
use crate::http::{REQUEST_ID, request_id, sole};
use crate::serve::listener::HttpService;
use crate::serve::routes::Routes;
use crate::store::StoreError;

/// The whole service as a function from request to response.
pub struct ApiService {
    pub(crate) routes: Routes,
    pub(crate) api: Api,
    pub(crate) pages: Option<Pages>,
}

impl HttpService for Arc<ApiService> {
    /// Every request gets a response, also if its handler panics.
    async fn handle(&self, parts: &Parts, body: &mut Incoming, peer: IpAddr) -> Response {
        let began = Instant::now();
        let id = request_id(&parts.headers);
        let id_text = id.to_str().unwrap_or_default();
        let span = tracing::debug_span!("request", id = id_text);
        let mut known = Known::default();
        let outcome = {
            let work = pin!(self.respond(parts, body, peer, &mut known));
            // Unwind safe: all shared state is behind the store, whose steps are atomic.
            AssertUnwindSafe(work).catch_unwind().instrument(span).await
        };
        let outcome = outcome.unwrap_or_else(|panic| {
            let text = panic.downcast::<String>().map(|text| *text);
            let text = text.or_else(|panic| panic.downcast::<&str>().map(|text| text.to_string()));
            Err(ApiError::Panic(text.unwrap_or_default()))
        });
        let (mut response, error) = match outcome {
            Ok(response) => (response, None),
            Err(error) => {
                let response = Box::pin(self.failure(&error, parts, &mut known, id_text)).await;
                (response, Some(error))
            }
        };
        let (elapsed, error) = (began.elapsed(), error.as_ref());
        let answered =
            Answered { request: parts, request_id: id_text, route: known.route, elapsed, error };
        response = self.api.middleware.finish(&answered, response);
        if parts.method == Method::HEAD {
            response = response::without_body(response);
        }
        let headers = response.headers_mut();
        headers.extend(known.rates);
        headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if self.api.site.origin.starts_with("https:") {
            // A year. Not for subdomains, which may be other services.
            let year = HeaderValue::from_static("max-age=31536000");
            headers.insert(STRICT_TRANSPORT_SECURITY, year);
        }
        headers.insert(REQUEST_ID, id);
        response
    }
}

/// What is known of a request when it succeeds or fails.
#[derive(Default)]
struct Known<'a> {
    route: Option<&'a Route>,
    session: Option<Box<SessionRecord>>,
    rates: Vec<(HeaderName, HeaderValue)>,
}

impl ApiService {
    /// Finds the route of a request and its caller, and runs its handler. What few requests do is
    /// in a box: otherwise each request allocates memory for it.
    async fn respond<'a>(
        &'a self,
        parts: &'a Parts,
        body: &mut Incoming,
        peer: IpAddr,
        known: &mut Known<'a>,
    ) -> HandlerResult {
        let api = &self.api;
        let found = self.routes.find(&parts.method, parts.uri.path());
        known.route = found.as_ref().ok().map(|(found, _)| *found);
        check_host(parts)?;
        let (route, params) = match found {
            Err(ApiError::WrongMethod(allow)) if parts.method == Method::OPTIONS => {
                let response = http::Response::builder().status(StatusCode::NO_CONTENT);
                return Ok(response.header(ALLOW, allow).body(response::no_body())?);
            }
            found => found?,
        };
        let memory = api.public_memory.of(peer);
        let mut request = Request { params, parts, peer, body, memory };
        match route.handler {
            Handler::Open(handler) | Handler::Page(handler) => handler(api, request).await,
            Handler::Dashboard(handler) => {
                let outcome = async {
                    let found = api.site.session(&parts.headers, &*api.store).await?;
                    let session = &**known.session.insert(Box::new(found));
                    api.middleware.admit(&session.caller(), route.name, &mut known.rates)?;
                    api.site.check_source(parts)?;
                    let memory = api.memory.of(session.account);
                    request.memory = memory;
                    let response = handler(api, session, request).await?;
                    Ok(response::within(memory, &parts.method, response)?)
                };
                let outcome = Box::pin(outcome).await;
                match self.pages {
                    Some(pages) => (pages.or_sign_in)(&api.site, parts, outcome),
                    None => outcome,
                }
            }
            Handler::Authed(handler) => {
                let has = |name| parts.headers.contains_key(name);
                let caller = match route.access {
                    Access::WriteOrSession if has(AUTHORIZATION) || !has(COOKIE) => {
                        authenticate(&parts.headers, &api.vendor, &*api.store).await?
                    }
                    Access::Session | Access::WriteOrSession => {
                        let session = api.site.session(&parts.headers, &*api.store);
                        let caller = Box::pin(session).await?.caller();
                        api.site.check_source(parts)?;
                        caller
                    }
                    _ => authenticate(&parts.headers, &api.vendor, &*api.store).await?,
                };
                api.middleware.admit(&caller, route.name, &mut known.rates)?;
                let memory = api.memory.of(caller.account);
                request.memory = memory;
                let outcome = match route.access {
                    Access::Write | Access::WriteOrSession if !caller.scopes.prompts_write => {
                        Err(AuthError::Scope.into())
                    }
                    _ => handler(api, &caller, request).await,
                };
                let outcome = outcome
                    .and_then(|response| Ok(response::within(memory, &parts.method, response)?));
                if outcome.as_ref().is_err_and(ApiError::needs_key_recheck) {
                    // It is 401 if no step of the store has checked the key and it is revoked.
                    api.store.confirm_key(&caller).await.map_err(|error| match error {
                        StoreError::KeyRevoked if route.access == Access::Session => {
                            AuthError::NoSession
                        }
                        error => error.into(),
                    })?;
                }
                outcome
            }
        }
    }

    /// The response to a failed request: a page for a page, or if a browser found no route.
    async fn failure(
        &self,
        error: &ApiError,
        parts: &Parts,
        known: &mut Known<'_>,
        request_id: &str,
    ) -> Response {
        let (site, store) = (&self.api.site, &*self.api.store);
        let template = known.route.map_or("", |route| route.path);
        let problem = error.problem(RequestTarget::new(template, &parts.method));
        let Some(pages) = self.pages else { return response::failure(problem) };
        let session = match known.route.map(|route| route.handler) {
            // Not asked for again: if it is not known, the store may be what failed.
            Some(Handler::Dashboard(_)) => known.session.take().map(|session| *session),
            Some(Handler::Page(_)) => site.session(&parts.headers, store).await.ok(),
            None if (pages.asks_for_page)(parts) => site.session(&parts.headers, store).await.ok(),
            _ => return response::failure(problem),
        };
        (pages.failure)(problem, site, session.as_ref(), request_id)
    }
}

/// Checks `Host` up to HTTP/1.1 (RFC 9112, section 3.2): a proxy in front may read a request
/// without, with two or with an invalid one otherwise. Of HTTP/2 hyper has checked `:authority`.
pub fn check_host(parts: &Parts) -> Result<(), ApiError> {
    let is_valid = match sole(&parts.headers, &HOST).map(HeaderValue::as_bytes) {
        _ if parts.version > Version::HTTP_11 => true,
        // It is empty where the target has no host.
        Some(host) => host.is_empty() || !host.contains(&b'@') && Authority::try_from(host).is_ok(),
        None => parts.version < Version::HTTP_11 && !parts.headers.contains_key(HOST),
    };
    if is_valid { Ok(()) } else { Err(ApiError::Host) }
}
