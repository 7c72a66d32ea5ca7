//! An answer, and the questions a scenario asks of it. Each question checks
//! one thing, so that a broken rule turns only its own scenarios red.

use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::ops::RangeInclusive;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use http::header::AsHeaderName;
use serde_json::Value;

use crate::Failure;
use crate::exchange::{RawExchange, Request, Response};

/// An answer as it came. `place`s are JSON pointers such as `/data/title`. Its
/// `Debug` tells the status only: the rest may hold secrets.
#[derive(Clone)]
pub struct ApiResponse {
    request: Arc<Request>,
    response: Arc<Response>,
    json: Option<Value>,
}

impl ApiResponse {
    pub(super) fn new(request: Arc<Request>, response: Arc<Response>, json: Option<Value>) -> Self {
        Self { request, response, json }
    }

    /// The reply of an exchange.
    ///
    /// # Errors
    /// If there was none.
    pub(crate) fn of(exchange: &RawExchange) -> Result<Self, Failure> {
        let response = exchange
            .response
            .clone()
            .ok_or_else(|| Failure::error("a response", "none").on(exchange.clone()))?;
        let json = serde_json::from_slice(&response.body).ok();
        Ok(Self { request: Arc::clone(&exchange.request), response, json })
    }

    /// The status as a number.
    pub fn status_code(&self) -> u16 {
        self.response.status.as_u16()
    }

    /// The headers as they came.
    pub fn headers(&self) -> &HeaderMap {
        &self.response.headers
    }

    /// The first value of a header; empty if there is none, or it is no text.
    pub fn header(&self, name: impl AsHeaderName) -> &str {
        self.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The body as it came.
    pub fn body(&self) -> &Bytes {
        &self.response.body
    }

    pub(crate) fn exchange(&self) -> RawExchange {
        RawExchange {
            request: Arc::clone(&self.request),
            response: Some(Arc::clone(&self.response)),
        }
    }

    /// A failure that shows this exchange.
    pub fn failure(&self, expected: impl Display, got: impl Display) -> Failure {
        Failure::failed(expected.to_string(), got.to_string()).on(self.exchange())
    }

    /// Fails unless `holds`.
    pub fn ensure(
        &self,
        holds: bool,
        expected: impl Display,
        got: impl Display,
    ) -> Result<&Self, Failure> {
        if holds { Ok(self) } else { Err(self.failure(expected, got)) }
    }

    /// The status is exactly this one.
    pub fn status(&self, expected: u16) -> Result<&Self, Failure> {
        let status = self.status_code();
        self.ensure(status == expected, format!("status {expected}"), format!("status {status}"))
    }

    /// The status is one of these.
    pub fn status_in(&self, expected: RangeInclusive<u16>) -> Result<&Self, Failure> {
        let status = self.status_code();
        let (first, last) = (expected.start(), expected.end());
        self.ensure(
            expected.contains(&status),
            format!("a status from {first} to {last}"),
            format!("status {status}"),
        )
    }

    /// Whether the status is one of the 2xx.
    pub fn is_success(&self) -> bool {
        self.response.status.is_success()
    }

    /// The status is one of the 2xx.
    pub fn success(&self) -> Result<&Self, Failure> {
        self.status_in(200..=299)
    }

    /// The whole body as JSON.
    pub fn json(&self) -> Result<&Value, Failure> {
        self.json.as_ref().ok_or_else(|| self.failure("a JSON body", "a body that is no JSON"))
    }

    /// The body is an object with these keys and no others.
    pub fn has_keys(&self, expected: &[&str]) -> Result<&Self, Failure> {
        let object = self.json()?.as_object();
        let keys: Vec<_> = object.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        self.ensure(keys == expected, format!("the keys {expected:?}"), format!("{keys:?}"))
    }

    /// The value at a place.
    pub fn at(&self, place: &str) -> Result<&Value, Failure> {
        let value = self.json()?.pointer(place);
        value.ok_or_else(|| self.failure(format!("a value at {place}"), "nothing there"))
    }

    /// `data` of an answer with this status.
    pub fn data(&self, status: u16) -> Result<&Value, Failure> {
        self.status(status)?.at("/data")
    }

    /// The value at a place is this one.
    pub fn equals(&self, place: &str, expected: impl Into<Value>) -> Result<&Self, Failure> {
        let (value, expected) = (self.at(place)?, expected.into());
        self.ensure(*value == expected, format!("{place} to be {expected}"), value)
    }

    /// The integer at a place.
    pub fn integer(&self, place: &str) -> Result<i64, Failure> {
        let value = self.at(place)?;
        value.as_i64().ok_or_else(|| self.failure(format!("an integer at {place}"), value))
    }

    /// The string at a place.
    pub fn string(&self, place: &str) -> Result<&str, Failure> {
        let value = self.at(place)?;
        value.as_str().ok_or_else(|| self.failure(format!("a string at {place}"), value))
    }

    /// The boolean at a place.
    pub fn boolean(&self, place: &str) -> Result<bool, Failure> {
        let value = self.at(place)?;
        value.as_bool().ok_or_else(|| self.failure(format!("a boolean at {place}"), value))
    }

    /// The array at a place.
    pub fn array(&self, place: &str) -> Result<Vec<Value>, Failure> {
        let value = self.at(place)?;
        let array = value.as_array().cloned();
        array.ok_or_else(|| self.failure(format!("an array at {place}"), value))
    }

    /// The ISO 8601 timestamp at a place.
    pub fn timestamp(&self, place: &str) -> Result<jiff::Timestamp, Failure> {
        let text = self.string(place)?;
        crate::check::timestamp(text)
            .ok_or_else(|| self.failure(format!("an ISO 8601 timestamp at {place}"), text))
    }

    /// The integers at `key` of every entry of the array at `place`.
    pub fn integers(&self, place: &str, key: &str) -> Result<Vec<i64>, Failure> {
        let entries = self.array(place)?;
        let integers: Option<Vec<_>> = entries.iter().map(|entry| entry[key].as_i64()).collect();
        integers.ok_or_else(|| {
            self.failure(format!("an integer {key:?} in every entry of {place}"), "none in some")
        })
    }
}

impl ApiResponse {
    /// Refused with 400. `what` names the field and the value for the report.
    pub fn is_bad_request(&self, what: impl Display) -> Result<&Self, Failure> {
        let status = self.status_code();
        self.ensure(status == 400, format!("status 400 for {what}"), format!("status {status}"))
    }

    /// Refused with 400, and details have a message for the field.
    pub fn is_bad_request_naming(&self, field: &str, what: impl Display) -> Result<&Self, Failure> {
        self.is_bad_request(what)?.string(&format!("/details/{field}"))?;
        Ok(self)
    }

    /// The object at a place has these keys and no others; the empty place is the whole body.
    pub fn has_only(&self, place: &str, keys: &[&str]) -> Result<&Self, Failure> {
        let object = self.at(place)?.as_object().into_iter().flatten();
        let got: BTreeSet<_> = object.map(|(key, _)| key.as_str()).collect();
        let expected: BTreeSet<_> = keys.iter().copied().collect();
        self.ensure(
            got == expected,
            format!("the keys {expected:?} at {place:?}"),
            format!("{got:?}"),
        )
    }

    /// Refused with any status of the 4xx. `what` says for what.
    pub fn is_client_error(&self, what: impl Display) -> Result<&Self, Failure> {
        let status = self.status_code();
        self.ensure(
            (400..=499).contains(&status),
            format!("a status from 400 to 499 for {what}"),
            format!("status {status}"),
        )
    }

    /// Accepted with this status. `what` names the field and the value for the report.
    pub fn has_status(&self, status: u16, what: impl Display) -> Result<&Self, Failure> {
        let got = self.status_code();
        self.ensure(got == status, format!("status {status} for {what}"), format!("status {got}"))
    }

    /// It has this header with this value.
    pub fn has_header(&self, name: &str, value: &str) -> Result<&Self, Failure> {
        let got = self.header(name);
        self.ensure(got == value, format!("{name}: {value}"), format!("{name}: {got}"))
    }

    /// The entry of the list at `/data` whose `id` is this one.
    pub fn entry(&self, id: i64) -> Result<Value, Failure> {
        let found = self.array("/data")?.into_iter().find(|entry| entry["id"] == id);
        found
            .ok_or_else(|| self.failure(format!("an entry with id {id} in /data"), "no such entry"))
    }
}

impl fmt::Debug for ApiResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiResponse").field("status", &self.response.status).finish_non_exhaustive()
    }
}
