//! The same names as in `spans`, for a build without `tracing`: nothing is kept, and
//! nothing is done.

use std::time::Duration;

use http::StatusCode;
use url::Url;

use crate::client::Error;
use crate::client::request::Route;
use crate::model::{GenerationStatus, JobId};

#[derive(Debug)]
pub(in crate::client) struct Span;

impl Span {
    pub(in crate::client) const fn none() -> Self {
        Self
    }

    pub(in crate::client) const fn call(_: &Route, _: &Url) -> Self {
        Self
    }

    pub(in crate::client) const fn upload() -> Self {
        Self
    }

    pub(in crate::client) const fn asset() -> Self {
        Self
    }

    pub(in crate::client) const fn wait(_: &JobId) -> Self {
        Self
    }

    pub(in crate::client) const fn attempt(&self, _: &Route, _: &Url, _: u32) -> Self {
        Self
    }

    pub(in crate::client) const fn put(&self, _: &Url, _: u32, _: u64) -> Self {
        Self
    }

    pub(in crate::client) const fn around<F: Future>(&self, work: F) -> F {
        work
    }

    pub(in crate::client) const fn answered(&self, _: StatusCode) {}

    pub(in crate::client) const fn failed(&self, _: &Error) {}

    pub(in crate::client) const fn ended(self, _: Result<StatusCode, &Error>) {}

    pub(in crate::client) const fn again(
        &self,
        _: u32,
        _: Duration,
        _: Result<StatusCode, &Error>,
    ) {
    }

    pub(in crate::client) const fn changed(&self, _: &GenerationStatus) {}
}
