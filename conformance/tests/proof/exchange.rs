//! A request and its response as a fault sees them: whole, and easy to change.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

/// The beginning of every address of the API.
pub(crate) const ROOT: &str = "/api/v1";

/// A request on its way to the server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Below the root of the API, without the query; the whole path of what is
    /// not below it, such as a storage address.
    pub(crate) path: String,
    /// Whether `path` is below the root of the API.
    pub(crate) of_api: bool,
    /// As it was sent, without the question mark.
    pub(crate) query: Option<String>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// A response on its way to the client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Request {
    /// The body, or null if it is no JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn set_json(&mut self, body: &Value) {
        self.body = body.to_string().into();
    }

    /// Changes the JSON body, if there is one.
    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut Value)) {
        if let Some(body) = edited(&self.body, change) {
            self.body = body;
        }
    }

    /// The text of a member of the body.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.json().get(name).and_then(Value::as_str).map(str::to_owned)
    }

    /// The `n`th segment of the path, from 0.
    pub(crate) fn segment(&self, n: usize) -> &str {
        self.path.trim_start_matches('/').split('/').nth(n).unwrap_or_default()
    }

    /// The `n`th segment of the path as an id; 0 if it is none.
    pub(crate) fn id(&self, n: usize) -> i64 {
        self.segment(n).parse().unwrap_or_default()
    }

    /// The value of a query parameter as it was sent.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let pairs = self.query.as_deref().unwrap_or_default().split('&');
        pairs.filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name).map(|(_, v)| v)
    }

    /// Leaves a query parameter out, or gives it another value.
    pub(crate) fn set_parameter(&mut self, name: &str, value: Option<&str>) {
        let query = self.query.take().unwrap_or_default();
        let of_name = |pair: &&str| pair.split('=').next() == Some(name);
        let mut pairs: Vec<String> = query
            .split('&')
            .filter(|pair| !pair.is_empty() && !of_name(pair))
            .map(Into::into)
            .collect();
        pairs.extend(value.map(|value| format!("{name}={value}")));
        self.query = (!pairs.is_empty()).then(|| pairs.join("&"));
    }

    /// The `Authorization` value; empty if there is none.
    pub(crate) fn authorization(&self) -> &str {
        let value = self.headers.get(http::header::AUTHORIZATION);
        value.and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Gives it the content type of JSON, in place of all that it has.
    pub(crate) fn set_json_type(&mut self) {
        let json = HeaderValue::from_static("application/json");
        self.headers.insert(http::header::CONTENT_TYPE, json);
    }

    pub(crate) fn set_authorization(&mut self, value: &str) {
        if let Ok(value) = value.parse() {
            self.headers.insert(http::header::AUTHORIZATION, value);
        }
    }

    /// Another request of the same caller, without a body.
    pub(crate) fn another(&self, method: Method, path: impl Into<String>) -> Self {
        let mut headers = self.headers.clone();
        headers.remove(http::header::CONTENT_TYPE);
        let (path, body) = (path.into(), Bytes::new());
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path.to_owned(), Some(query.to_owned())),
            None => (path, None),
        };
        Self { method, path, of_api: true, query, headers, body }
    }

    /// Another request of the same caller, with a JSON body.
    pub(crate) fn another_with(
        &self,
        method: Method,
        path: impl Into<String>,
        body: &Value,
    ) -> Self {
        let mut request = self.another(method, path);
        request.set_json_type();
        request.set_json(body);
        request
    }
}

impl Response {
    /// An answer of the fault's own.
    pub(crate) fn new(status: u16, body: &Value) -> Self {
        let mut headers = HeaderMap::new();
        let json = HeaderValue::from_static("application/json");
        headers.insert(http::header::CONTENT_TYPE, json);
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::IM_A_TEAPOT);
        Self { status, headers, body: body.to_string().into() }
    }

    /// A success with this `data`.
    pub(crate) fn data(status: u16, data: &Value) -> Self {
        Self::new(status, &json!({ "data": data, "error": null }))
    }

    /// An error as the server writes it.
    pub(crate) fn refusal(status: u16, error: &str) -> Self {
        Self::new(status, &json!({ "data": null, "error": error, "details": {} }))
    }

    pub(crate) fn code(&self) -> u16 {
        self.status.as_u16()
    }

    pub(crate) fn set_code(&mut self, status: u16) {
        self.status = StatusCode::from_u16(status).unwrap_or(StatusCode::IM_A_TEAPOT);
    }

    pub(crate) fn is_success(&self) -> bool {
        self.status.is_success()
    }

    /// The body, or null if it is no JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Gives it this content type.
    pub(crate) fn set_type(&mut self, kind: &'static str) {
        self.headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static(kind));
    }

    /// Changes the JSON body, if there is one.
    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut Value)) {
        if let Some(body) = edited(&self.body, change) {
            self.body = body;
        }
    }

    /// Changes the `data` of a success.
    pub(crate) fn edit_data(&mut self, change: impl FnOnce(&mut Value)) {
        if self.is_success() {
            self.edit(|body| {
                if let Some(data) = body.get_mut("data") {
                    change(data);
                }
            });
        }
    }

    /// Changes `data` of a success, or each entry of it where it is a list.
    pub(crate) fn each(&mut self, mut change: impl FnMut(&mut Value)) {
        self.edit_data(|data| match data {
            Value::Array(list) => list.iter_mut().for_each(change),
            one => change(one),
        });
    }

    /// `data.id` of a success; 0 if there is none.
    pub(crate) fn id(&self) -> i64 {
        self.json()["data"]["id"].as_i64().unwrap_or_default()
    }
}

/// The JSON object with a change; none if there is none or the change is none, so
/// that what a fault leaves alone stays as it was written.
fn edited(body: &[u8], change: impl FnOnce(&mut Value)) -> Option<Bytes> {
    let before: Value = serde_json::from_slice(body).ok().filter(Value::is_object)?;
    let mut after = before.clone();
    change(&mut after);
    (after != before).then(|| after.to_string().into())
}

/// Changes the entries of a success whose `data` is a list.
pub(crate) fn entries(response: &mut Response, change: impl FnOnce(&mut Vec<Value>)) {
    response.edit_data(|data| {
        if let Value::Array(entries) = data {
            change(entries);
        }
    });
}

/// A text member of an entry; empty if it is none.
pub(crate) fn text<'a>(entry: &'a Value, name: &str) -> &'a str {
    entry[name].as_str().unwrap_or_default()
}

/// A list that is a member of an object. Where it is not, nothing is put in.
pub(crate) fn list_of<'a>(object: &'a mut Value, name: &str) -> Option<&'a mut Vec<Value>> {
    object.get_mut(name)?.as_array_mut()
}

/// Leaves a member out.
pub(crate) fn without(object: &mut Value, name: &str) {
    if let Some(object) = object.as_object_mut() {
        object.remove(name);
    }
}

/// The whole numbers in a list that is a member of an object.
pub(crate) fn ids_of(object: &Value, name: &str) -> Vec<i64> {
    object[name].as_array().into_iter().flatten().filter_map(Value::as_i64).collect()
}
