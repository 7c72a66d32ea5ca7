//! The options of one call, in place of those of its client.

use std::time::Duration;

use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::Error;
use super::config::{Config, Limits};
use super::error::TimeLimit;
use super::retry::RetryPolicy;

/// Headers that the client sets.
const RESERVED: [HeaderName; 6] =
    [AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING];

/// The options of one call; most calls have none.
#[derive(Debug, Clone, Default)]
pub(super) struct CallOptions(Option<Box<Options>>);

#[derive(Debug, Clone, Default)]
pub(super) struct Options {
    pub(super) timeout: Option<Duration>,
    pub(super) request_timeout: Option<Duration>,
    pub(super) idle_timeout: Option<Duration>,
    pub(super) retry: Option<RetryPolicy>,
    headers: HeaderMap,
    /// What is wrong with a header; the error of the call when it is sent.
    invalid: Option<String>,
}

impl CallOptions {
    /// No error repeats the value, which may be secret.
    pub(super) fn header(&mut self, name: &str, value: &str) {
        let own = self.set();
        let Ok(known) = HeaderName::try_from(name) else {
            own.invalid = Some(format!("{name:?} is not a valid header name"));
            return;
        };
        if RESERVED.contains(&known) {
            own.invalid = Some(format!("the header {known} is set by the client"));
            return;
        }
        match HeaderValue::try_from(value) {
            Ok(mut value) => {
                value.set_sensitive(true);
                own.headers.append(known, value);
            }
            Err(_) => {
                own.invalid = Some(format!(
                    "the value of the header {known} contains a character that is not allowed"
                ));
            }
        }
    }

    pub(super) fn set(&mut self) -> &mut Options {
        self.0.get_or_insert_default()
    }

    pub(super) fn limits(&self, config: &Config) -> Limits {
        let mut limits = config.limits;
        if let Some(own) = &self.0 {
            if let Some(timeout) = own.timeout {
                (limits.call, limits.call_setting) = (timeout, TimeLimit::Whole);
            }
            limits.attempt = own.request_timeout.unwrap_or(limits.attempt);
            limits.idle = own.idle_timeout.unwrap_or(limits.idle);
            // A call that may take longer than usual may wait longer for the first byte.
            let longer = own.request_timeout.or(own.timeout).unwrap_or_default();
            limits.first_byte = limits.idle.max(longer);
        }
        limits
    }

    pub(super) fn policy<'a>(&'a self, config: &'a Config) -> &'a RetryPolicy {
        self.0.as_ref().and_then(|own| own.retry.as_ref()).unwrap_or(&config.retry)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let invalid = self.0.as_ref().and_then(|own| own.invalid.as_ref());
        invalid.map_or(Ok(()), |problem| Err(Error::input(problem.clone())))
    }

    pub(super) fn add_headers(&self, headers: &mut HeaderMap) {
        if let Some(own) = &self.0 {
            headers.extend(own.headers.clone());
        }
    }
}
