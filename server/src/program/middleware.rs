//! What the program does around the handler of each request: rate limits before it; compression,
//! CORS, trace context, metrics and one line of the log after it.

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::api::{Answered, Middleware};
use crate::domain::Caller;
use crate::error_chain::error_chain;
use crate::http::compression;
use crate::http::cors::{self, CorsOrigin};
use crate::http::error::ApiError;
use crate::http::rates::Rates;
use crate::http::response::Response;
use crate::http::sole;
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
        self.rates.count(caller, route, headers)
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

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The header of the response (Trace Context Level 2).
const TRACERESPONSE: HeaderName = HeaderName::from_static("traceresponse");

/// The trace of a request (W3C Trace Context), and the span of handling it.
struct Trace {
    trace_id: String,
    span_id: String,
    /// The value of [`TRACERESPONSE`].
    response: HeaderValue,
}

impl Trace {
    /// The trace in the only header `traceparent`. A malformed one is ignored.
    fn of(headers: &HeaderMap) -> Option<Self> {
        let mut fields = sole(headers, &TRACEPARENT)?.to_str().ok()?.split('-');
        let mut hex = |length| {
            let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            fields.next().filter(|field| field.len() == length && field.bytes().all(is_hex))
        };
        let (version, trace, parent, flags) = (hex(2)?, hex(32)?, hex(16)?, hex(2)?);
        let is_zero = |id: &str| id.bytes().all(|byte| byte == b'0');
        // A later version may have more fields. Version ff is invalid.
        let is_long = version == "00" && fields.next().is_some();
        if version == "ff" || is_zero(trace) || is_zero(parent) || is_long {
            return None;
        }
        let span_id = format!("{:016x}", rand::random_range(1..=u64::MAX));
        let response = HeaderValue::try_from(format!("00-{trace}-{span_id}-{flags}")).ok()?;
        Some(Self { trace_id: trace.to_owned(), span_id, response })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_traceparent_is_taken_up_and_a_malformed_one_ignored() {
        const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
        let of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(TRACEPARENT, HeaderValue::from_str(value).unwrap());
            }
            Trace::of(&headers)
        };
        let good = format!("00-{TRACE}-00f067aa0ba902b7-01");
        let trace = of(&[&good]).unwrap();
        assert_eq!(trace.trace_id, TRACE);
        assert_ne!(trace.span_id, "00f067aa0ba902b7");
        assert_eq!(trace.response, format!("00-{TRACE}-{}-01", trace.span_id));
        // A later version.
        assert!(of(&[&good.replacen("00", "cc", 1)]).is_some());
        assert!(of(&[&(good.replacen("00", "cc", 1) + "-more")]).is_some());

        for bad in [
            "",
            &good.to_uppercase(),
            &good.replacen("00", "ff", 1),
            &good.replace(TRACE, &"0".repeat(32)),
            &good.replace("-01", ""),
            &good.replace("4b", "g4"),
            &(good.clone() + "-more"),
        ] {
            assert!(of(&[bad]).is_none(), "{bad}");
        }
        assert!(of(&[&good, &good]).is_none());
        assert!(of(&[]).is_none());
    }
}
