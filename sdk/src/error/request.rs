//! What an error tells of its request: the route, and the time limit that ended it.

use std::borrow::Cow;
use std::time::Duration;

use http::Method;

/// Method and path template of a call, for errors and logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) template: Cow<'static, str>,
}

impl Route {
    pub(crate) const UPLOAD: &str = "{uploadUrl}";

    pub(crate) const ASSET: &str = "{url}";

    pub(crate) fn new(method: Method, template: impl Into<Cow<'static, str>>) -> Self {
        Self { method, template: template.into() }
    }
}

/// The setting whose time limit expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeLimit {
    /// `idle_timeout` of the client or the call.
    Idle,
    /// `request_timeout` of the client or the call.
    Attempt,
    /// `overall_timeout` of the client.
    Call,
    /// `timeout` of the call.
    Whole,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TimedOut {
    pub(crate) limit: TimeLimit,
    pub(crate) after: Duration,
}
