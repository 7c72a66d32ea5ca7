//! The W3C trace context of a request, by which other systems find it in the log.

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::http::headers::sole;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The header of the response (Trace Context Level 2).
pub(crate) const TRACERESPONSE: HeaderName = HeaderName::from_static("traceresponse");

/// The trace that a request belongs to, and the span of handling it.
pub(crate) struct Trace {
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
    /// The value of [`TRACERESPONSE`].
    pub(crate) response: HeaderValue,
}

impl Trace {
    /// The trace in the only header `traceparent`. A malformed one is ignored.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
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
