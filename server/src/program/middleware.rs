//! What the program does around the handler of each request: rate limits before it; compression,
//! CORS, trace context, metrics and one line of the log after it.

use http::header::HeaderName;
use http::{HeaderValue, StatusCode};

use crate::api::route::{Answered, Middleware};
use crate::domain::Caller;
use crate::error_chain::error_chain;
use crate::http::compression;
use crate::http::cors::{self, CorsOrigin};
use crate::http::error::ApiError;
use crate::http::rates::Rates;
use crate::http::response::Response;
use crate::http::trace::{TRACERESPONSE, Trace};
use crate::serve::metrics::RequestMetrics;

pub(super) struct ProgramMiddleware {
    pub(super) cors_origins: Vec<CorsOrigin>,
    pub(super) rates: Rates,
    /// If metrics are served.
    pub(super) metrics: Option<RequestMetrics>,
}

impl Middleware for ProgramMiddleware {
    fn admit(
        &self,
        caller: &Caller,
        route: &str,
        headers: &mut Vec<(HeaderName, HeaderValue)>,
    ) -> Result<(), ApiError> {
        Ok(self.rates.count(caller, route, headers)?)
    }

    fn finish(&self, answered: &Answered<'_>, response: Response) -> Response {
        let Answered { request, route, elapsed, error, .. } = *answered;
        let mut response = compression::for_client(request, response);
        if let Some(metrics) = &self.metrics {
            metrics.record(route, response.status(), elapsed, error);
        }
        let trace = Trace::of(&request.headers);
        log(answered, response.status(), trace.as_ref());
        let headers = response.headers_mut();
        cors::add_headers(&self.cors_origins, request, headers);
        headers.extend(trace.map(|trace| (TRACERESPONSE, trace.response)));
        response
    }
}

/// Headers and query are left out: a key may be in them.
fn log(answered: &Answered<'_>, status: StatusCode, trace: Option<&Trace>) {
    let Answered { request, request_id, route, elapsed, error } = *answered;
    let route = route.map_or("unknown", |route| route.path);
    let status = status.as_u16();
    let duration_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
    let trace_id = trace.map(|trace| &*trace.trace_id);
    let span_id = trace.map(|trace| &*trace.span_id);
    let cause = error.and_then(ApiError::cause).map(error_chain);
    let is_failure = status >= 500 && cause.is_some();
    // The message is a field, because a text costs less than format arguments.
    macro_rules! log {
        ($level:ident, $message:literal) => {
            tracing::$level!(
                message = $message,
                method = request.method.as_str(),
                route,
                status,
                duration_us,
                request_id,
                trace_id,
                span_id,
                cause,
            )
        };
    }
    if is_failure { log!(error, "failed") } else { log!(info, "answered") }
}
