//! An answer, and the questions a scenario asks of it. Each question checks
//! one thing, so that a broken rule turns only its own scenarios red.

use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::ops::RangeInclusive;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use http::header::AsHeaderName;
use serde::Serialize;
use serde_json::Value;

use crate::check::{json_text, side_by_side};
use crate::exchange::{RawExchange, Request, Response};
use crate::failure::{Failure, Result};
use crate::{Verdict, trace};

/// An answer as it came. `place`s are JSON pointers such as `/data/title`. Its `Debug` shows the
/// status only: the rest may hold secrets.
#[derive(Clone)]
pub struct ApiResponse {
    request: Arc<Request>,
    response: Arc<Response>,
    json: Option<Value>,
}

impl ApiResponse {
    pub(super) fn new(request: Arc<Request>, response: Arc<Response>) -> Self {
        let json = serde_json::from_slice(&response.body).ok();
        Self { request, response, json }
    }

    /// The reply of an exchange, which must have one.
    pub fn of(exchange: &RawExchange) -> Result<Self> {
        let none = || Failure::error("a response", "none").on(exchange.clone());
        let response = exchange.response.clone().ok_or_else(none)?;
        Ok(Self::new(Arc::clone(&exchange.request), response))
    }

    /// The status as a number.
    pub fn status_code(&self) -> u16 {
        self.response.status.as_u16()
    }

    /// The headers as they came.
    pub fn headers(&self) -> &HeaderMap {
        &self.response.headers
    }

    /// The first value of a header; empty if there is none, or if it is not ASCII.
    pub fn header(&self, name: impl AsHeaderName) -> &str {
        self.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The body as it came.
    pub fn body(&self) -> &Bytes {
        &self.response.body
    }

    pub(crate) fn exchange(&self) -> RawExchange {
        let (request, response) = (Arc::clone(&self.request), Arc::clone(&self.response));
        RawExchange { request, response: Some(response) }
    }

    /// A failure that shows this exchange.
    pub fn failure(&self, expected: impl Display, got: impl Display) -> Failure {
        trace::checked(Some(&self.request), &expected, false);
        let failure = Failure::failed(expected.to_string(), got.to_string()).on(self.exchange());
        match self.response.is_of_gateway() {
            true => Failure { verdict: Verdict::Error, ..failure },
            false => failure,
        }
    }

    /// Fails unless `holds`.
    pub fn ensure(&self, holds: bool, expected: impl Display, got: impl Display) -> Result<&Self> {
        if !holds {
            return Err(self.failure(expected, got));
        }
        trace::checked(Some(&self.request), &expected, true);
        Ok(self)
    }

    /// The lists are equal; a failure shows them side by side. `what` says what they are of.
    pub fn lists<T: PartialEq + Serialize>(
        &self,
        got: &[T],
        expected: &[T],
        what: impl Display,
    ) -> Result<&Self> {
        let text = format!("{what} {}", json_text(expected));
        self.ensure(got == expected, text, side_by_side(got, expected))
    }

    /// Fails unless the status is right.
    pub fn status_is(&self, holds: bool, expected: impl Display) -> Result<&Self> {
        self.ensure(holds, expected, format!("status {}", self.status_code()))
    }

    /// The status is exactly this one.
    pub fn status(&self, expected: u16) -> Result<&Self> {
        self.status_is(self.status_code() == expected, format!("status {expected}"))
    }

    /// The status is one of these.
    pub fn status_in(&self, expected: RangeInclusive<u16>) -> Result<&Self> {
        let (first, last) = (expected.start(), expected.end());
        let range = format!("a status from {first} to {last}");
        let text = if first == last { format!("status {first}") } else { range };
        self.status_is(expected.contains(&self.status_code()), text)
    }

    /// The status is this one. `what` names the field and the value for the report.
    pub fn has_status(&self, status: u16, what: impl Display) -> Result<&Self> {
        self.status_is(self.status_code() == status, format!("status {status} for {what}"))
    }

    /// Whether the status is one of the 2xx.
    pub fn is_success(&self) -> bool {
        self.response.status.is_success()
    }

    /// The status is one of the 2xx.
    pub fn success(&self) -> Result<&Self> {
        self.status_in(200..=299)
    }

    /// Refused with 400. `what` names the field and the value for the report.
    pub fn is_bad_request(&self, what: impl Display) -> Result<&Self> {
        self.has_status(400, what)
    }

    /// Refused with 400, and details have a message for the field.
    pub fn is_bad_request_naming(&self, field: &str, what: impl Display) -> Result<&Self> {
        self.is_bad_request(what)?.string(&format!("/details/{field}"))?;
        Ok(self)
    }

    /// Refused with any status of the 4xx. `what` says for what.
    pub fn is_client_error(&self, what: impl Display) -> Result<&Self> {
        let expected = format!("a status from 400 to 499 for {what}");
        self.status_is(self.response.status.is_client_error(), expected)
    }

    /// The whole body as JSON.
    pub fn json(&self) -> Result<&Value> {
        self.json.as_ref().ok_or_else(|| {
            let why = serde_json::from_slice::<Value>(self.body()).err();
            let why = why.map(|error| error.to_string()).unwrap_or_default();
            self.failure("a JSON body", format!("a body that is no JSON: {why}"))
        })
    }

    /// The value at a place.
    pub fn at(&self, place: &str) -> Result<&Value> {
        let value = self.json()?.pointer(place);
        value.ok_or_else(|| self.failure(format!("a value at {place}"), "nothing there"))
    }

    /// `data` of an answer with this status.
    pub fn data(&self, status: u16) -> Result<&Value> {
        self.status(status)?.at("/data")
    }

    /// The value at a place is this one.
    pub fn equals(&self, place: &str, expected: impl Into<Value>) -> Result<&Self> {
        let (value, expected) = (self.at(place)?, expected.into());
        self.ensure(*value == expected, format!("{place} to be {expected}"), value)
    }

    /// `data` has these fields with these values, whatever else it has.
    pub fn shows(&self, fields: &Value) -> Result<&Self> {
        for (field, value) in fields.as_object().into_iter().flatten() {
            self.equals(&format!("/data/{field}"), value.clone())?;
        }
        Ok(self)
    }

    /// The answer to a call that may be refused: itself if it is a success, nothing if it is of the
    /// 4xx. `what` says for what.
    pub fn unless_refused(&self, what: impl Display) -> Result<Option<&Self>> {
        if self.is_success() { Ok(Some(self)) } else { self.is_client_error(what).map(|_| None) }
    }

    /// A JSON object with the two keys of every response.
    pub fn is_envelope(&self) -> Result<&Value> {
        let body = self.json()?;
        let both = body.get("data").is_some() && body.get("error").is_some();
        self.ensure(both, "a JSON object with the keys data and error", body)?;
        Ok(body)
    }

    /// The value at a place as what `read` makes of it; `kind` names that for the report.
    fn typed<'v, T>(
        &'v self,
        place: &str,
        kind: &str,
        read: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Result<T> {
        let (value, expected) = (self.at(place)?, format!("{kind} at {place}"));
        let typed = read(value);
        self.ensure(typed.is_some(), &expected, value)?;
        typed.ok_or_else(|| self.failure(expected, value))
    }

    /// The integer at a place.
    pub fn integer(&self, place: &str) -> Result<i64> {
        self.typed(place, "an integer", Value::as_i64)
    }

    /// The string at a place.
    pub fn string(&self, place: &str) -> Result<&str> {
        self.typed(place, "a string", Value::as_str)
    }

    /// The boolean at a place.
    pub fn boolean(&self, place: &str) -> Result<bool> {
        self.typed(place, "a boolean", Value::as_bool)
    }

    /// The array at a place.
    pub fn array(&self, place: &str) -> Result<Vec<Value>> {
        self.typed(place, "an array", |value| value.as_array().cloned())
    }

    /// The ISO 8601 timestamp at a place.
    pub fn timestamp(&self, place: &str) -> Result<jiff::Timestamp> {
        let text = self.string(place)?;
        crate::check::timestamp(text)
            .ok_or_else(|| self.failure(format!("an ISO 8601 timestamp at {place}"), text))
    }

    /// The integers at `key` of every entry of the array at `place`.
    pub fn integers(&self, place: &str, key: &str) -> Result<Vec<i64>> {
        let entries = self.array(place)?;
        let integers: Option<Vec<_>> = entries.iter().map(|entry| entry[key].as_i64()).collect();
        let expected = || format!("an integer {} in every entry of {place}", json_text(&key));
        integers.ok_or_else(|| self.failure(expected(), "none in some"))
    }

    /// The object at a place has these keys and no others; the empty place is the whole body.
    pub fn has_only(&self, place: &str, keys: &[&str]) -> Result<&Self> {
        let object = self.at(place)?.as_object().into_iter().flatten();
        let got: BTreeSet<_> = object.map(|(key, _)| key.as_str()).collect();
        let expected: BTreeSet<_> = keys.iter().copied().collect();
        let [got, expected] = [got, expected].map(Vec::from_iter);
        self.lists(&got, &expected, format!("at {} the keys", json_text(place)))
    }

    /// It has this header with this value.
    pub fn has_header(&self, name: &str, value: &str) -> Result<&Self> {
        let got = self.header(name);
        self.ensure(got == value, format!("{name}: {value}"), format!("{name}: {got}"))
    }

    /// No entry of the list at `/data` has this value of a field.
    pub fn lacks(&self, field: &str, value: impl Into<Value>) -> Result {
        let (entries, value) = (self.array("/data")?, value.into());
        let found = entries.iter().find(|entry| entry[field] == value);
        let expected = format!("no entry with the {field} {value} in /data");
        self.ensure(found.is_none(), expected, json_text(&found)).map(drop)
    }

    /// The entry of the list at `/data` whose `id` is this one.
    pub fn entry(&self, id: i64) -> Result<Value> {
        let found = self.array("/data")?.into_iter().find(|entry| entry["id"] == id);
        let expected = format!("an entry with id {id} in /data");
        found.ok_or_else(|| self.failure(expected, "no such entry"))
    }
}

impl fmt::Debug for ApiResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiResponse").field("status", &self.response.status).finish_non_exhaustive()
    }
}
