//! One request, from its head to its answer.
//!
//! Here a request gets its id, its route, its caller and its handler, and a
//! failure becomes an answer. Nothing below logs a request or knows of metrics;
//! nothing here knows of sockets.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use http::request::Parts;
use http::{HeaderName, Method, Request, StatusCode, Version};
use hyper::body::Incoming;
use tracing::Instrument;

use crate::api::{Api, Call, Visit};
use crate::domain::{Caller, Vendor};
use crate::error_chain::error_chain;
use crate::http::auth::{self, AuthRefusal};
use crate::http::body::RequestBody;
use crate::http::error::ApiError;
use crate::http::host;
use crate::http::path::{Asked, RouteRefusal};
use crate::http::response::{self, Reply};
use crate::serve::listener::Answer;
use crate::serve::metrics::Metrics;
use crate::serve::request_id::RequestId;
use crate::serve::routes::{Found, Handler, Routes};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The service as a function from request to answer.
pub struct App {
    /// Every address, and who answers there.
    pub routes: Routes,
    /// What the handlers work with.
    pub api: Api,
    /// Whose keys are taken.
    pub vendor: Vendor,
    /// Where requests are counted, if anybody looks.
    pub metrics: Option<Metrics>,
}

impl App {
    /// Answers one request. It has an answer for everything, a panic included.
    pub async fn handle(&self, request: Request<Incoming>) -> Reply {
        let started = Instant::now();
        let (parts, incoming) = request.into_parts();
        let id = RequestId::of(&parts.headers.get_all(&REQUEST_ID));
        let mut body = RequestBody::new(incoming);

        let found = self.routes.find(&parts.method, parts.uri.path());
        let span = tracing::debug_span!("request", id = id.as_str());
        let answer = self.answer(found.clone(), &parts, &mut body);
        // A panic may leave nothing half done: state lives behind the store, whose
        // steps are atomic, and everything else here ends with the request.
        let outcome = AssertUnwindSafe(answer).catch_unwind().instrument(span).await;
        let outcome = outcome.unwrap_or_else(|panic| Err(ApiError::Panic(said(&*panic))));
        if parts.version < Version::HTTP_2 {
            body.linger();
        }

        let found = found.ok();
        let asked = found.map_or(Asked::NOTHING, |found| found.route.asked());
        let (mut reply, error) = match outcome {
            Ok(reply) => (reply, None),
            Err(error) => (response::failure(&error, asked), Some(error)),
        };
        if parts.method == Method::HEAD {
            reply = response::only_the_head(reply);
        }
        let elapsed = started.elapsed();
        self.record(&parts.method, found, reply.status(), elapsed, &id, error.as_ref());
        reply.headers_mut().insert(REQUEST_ID, id.into_header());
        reply
    }

    async fn answer(
        &self,
        found: Result<Found<'_>, RouteRefusal>,
        parts: &Parts,
        body: &mut RequestBody,
    ) -> Result<Reply, ApiError> {
        host::check(parts)?;
        let Found { route, params, .. } = found?;
        let store = &*self.api.store;
        let caller = auth::admit(&parts.headers, route.needs, &self.vendor, store).await?;
        match (route.handler, caller) {
            (Handler::Open(handler), _) => handler(&self.api).await,
            (Handler::ForVisitor(handler), _) => {
                handler(&self.api, Visit { params, parts, body }).await
            }
            (Handler::ForCaller(handler), Some(caller)) => {
                let call = Call { caller: caller.clone(), params, parts, body };
                let outcome = handler(&self.api, call).await;
                self.confirmed(&caller, outcome).await
            }
            (Handler::ForCaller(_), None) => Err(AuthRefusal::Missing.into()),
        }
    }

    /// A step of the store refuses a key that was revoked meanwhile. Where a request
    /// was refused without one, or because of one, the store is asked here.
    async fn confirmed(
        &self,
        caller: &Caller,
        outcome: Result<Reply, ApiError>,
    ) -> Result<Reply, ApiError> {
        if outcome.as_ref().is_err_and(ApiError::leaves_key_open) {
            self.api.store.confirm_key(caller).await?;
        }
        outcome
    }

    /// The one line of this request, and its place in the metrics. Headers and
    /// query stay out: a key may be in them.
    fn record(
        &self,
        method: &Method,
        found: Option<Found<'_>>,
        status: StatusCode,
        elapsed: Duration,
        id: &RequestId,
        error: Option<&ApiError>,
    ) {
        if let Some(metrics) = &self.metrics {
            metrics.count(found.map(|found| found.at), status, elapsed);
        }
        let route = found.map_or("unknown", |found| found.route.path);
        let (status, duration_us) = (status.as_u16(), elapsed.as_micros());
        let request_id = id.as_str();
        match error.and_then(ApiError::cause).map(error_chain) {
            Some(cause) if status >= 500 => {
                tracing::error!(%method, route, status, duration_us, request_id, cause, "failed");
            }
            Some(cause) => {
                tracing::info!(%method, route, status, duration_us, request_id, cause, "answered");
            }
            None => tracing::info!(%method, route, status, duration_us, request_id, "answered"),
        }
    }
}

impl Answer for Arc<App> {
    async fn answer(&self, request: Request<Incoming>) -> Reply {
        self.handle(request).await
    }
}

/// What a panic said, if it was text.
fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no text)")
        .to_owned()
}
