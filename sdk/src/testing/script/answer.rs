//! What a script says to one request.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;
use serde_json::{Value, json};

use crate::server::Problem;
use crate::{Asset, Page};

/// An answer of a [`Script`](super::Script), or what happens in place of one.
///
/// ```
/// use std::time::Duration;
/// use promptarium::testing::{Answer, fixture};
///
/// Answer::data(&fixture::prompt()).after(Duration::from_secs(3));
/// Answer::error(400, "title is wrong").field("title", "must not be empty");
/// Answer::error(429, "slow down").retry_after(Duration::from_secs(2));
/// Answer::raw(502, "text/html", "<h1>Bad Gateway</h1>");
/// Answer::no_connection();
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Answer {
    pub(super) what: What,
    pub(super) after: Duration,
}

#[derive(Debug, Clone)]
pub(super) enum What {
    Said(Said),
    NoConnection,
    HangUp,
    Never,
    /// The script is wrong itself.
    Wrong(String),
}

/// An answer that comes.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Body,
    pub(super) ends: Ends,
}

#[derive(Debug, Clone)]
pub(super) enum Body {
    Bytes(Bytes),
    /// In the form of the API (`ER-01`).
    Problem {
        message: String,
        fields: Vec<(String, String)>,
    },
}

/// How the body of an answer ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ends {
    Whole,
    /// The connection breaks after so many bytes.
    Broken(usize),
    /// Nothing more comes after so many bytes.
    Stalled(usize),
}

impl Answer {
    /// Success with this as its `data`, in the envelope of the API (`EN-03`).
    pub fn data(data: &(impl Serialize + ?Sized)) -> Self {
        Self::json(serde_json::to_value(data).map(|data| json!({ "data": data, "error": null })))
    }

    /// Success with this page of a list.
    pub fn page<T: Serialize>(page: &Page<T>) -> Self {
        Self::json(serde_json::to_value(&page.items).map(|data| {
            let next = &page.next_cursor;
            json!({ "data": data, "error": null, "pagination": { "nextCursor": next } })
        }))
    }

    /// The bytes of an asset.
    pub fn asset(asset: &Asset) -> Self {
        let content_type = asset.content_type.as_deref();
        Self::raw(200, content_type.unwrap_or_default(), asset.bytes.clone())
    }

    /// The service says no, in the form of the API (`ER-01`).
    pub fn error(status: u16, message: impl Into<String>) -> Self {
        let body = Body::Problem { message: message.into(), fields: Vec::new() };
        Self::said(status, "application/json", body)
    }

    /// The service says no with this problem, whatever its details are.
    pub fn problem(status: u16, problem: &Problem) -> Self {
        let Problem { message, details } = problem;
        Self::json(Ok(json!({ "data": null, "error": message, "details": details }))).status(status)
    }

    /// These very bytes: the page of a proxy, half a JSON text, nothing. An empty content
    /// type is none.
    pub fn raw(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self::said(status, content_type, Body::Bytes(body.into()))
    }

    /// No connection comes about: the request is not sent.
    pub fn no_connection() -> Self {
        Self::of(What::NoConnection)
    }

    /// The connection breaks after the request was sent, and before an answer.
    pub fn disconnect() -> Self {
        Self::of(What::HangUp)
    }

    /// No answer comes. Without a time limit the call never ends, nor does the test.
    pub fn never() -> Self {
        Self::of(What::Never)
    }

    /// The same with this status.
    pub fn status(self, status: u16) -> Self {
        self.change("status", |said| said.status = status)
    }

    /// The same refusal, naming a field and what is wrong with it (`ER-03`). A field that
    /// is named again has several texts.
    pub fn field(self, name: &str, text: &str) -> Self {
        match self.what {
            What::Said(Said { body: Body::Problem { .. }, .. }) => {}
            _ => return self.wrong("only a refusal names fields"),
        }
        self.change("field", |said| {
            if let Body::Problem { fields, .. } = &mut said.body {
                fields.push((name.to_owned(), text.to_owned()));
            }
        })
    }

    /// The same with this header, which comes beside others of its name.
    pub fn header(self, name: &str, value: &str) -> Self {
        let (Ok(known), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value))
        else {
            return self.wrong(&format!("the header {name:?} cannot be sent"));
        };
        self.change("header", |said| {
            said.headers.append(known, value);
        })
    }

    /// The same with the wish to be left alone for a while: in whole seconds as
    /// `Retry-After`, else as `retry-after-ms`.
    pub fn retry_after(self, wish: Duration) -> Self {
        if wish.subsec_nanos() == 0 {
            return self.header(RETRY_AFTER.as_str(), &wish.as_secs().to_string());
        }
        self.header("retry-after-ms", &wish.as_millis().to_string())
    }

    /// The same with what the service calls the request in its own logs (`x-request-id`).
    pub fn request_id(self, id: &str) -> Self {
        self.header("x-request-id", id)
    }

    /// The same after this much time of the script's clock, counted from when all of the
    /// request has come.
    pub fn after(mut self, delay: Duration) -> Self {
        self.after = delay;
        self
    }

    /// The same, but the connection breaks after so many bytes of the body.
    pub fn cut_at(self, bytes: usize) -> Self {
        self.change("end", |said| said.ends = Ends::Broken(bytes))
    }

    /// The same, but after so many bytes of the body nothing more comes.
    pub fn stall_at(self, bytes: usize) -> Self {
        self.change("end", |said| said.ends = Ends::Stalled(bytes))
    }

    const fn of(what: What) -> Self {
        Self { what, after: Duration::ZERO }
    }

    fn json(value: serde_json::Result<Value>) -> Self {
        match value {
            Ok(value) => Self::said(200, "application/json", Body::Bytes(value.to_string().into())),
            Err(error) => Self::of(What::Wrong(format!("it cannot be written as JSON: {error}"))),
        }
    }

    fn said(status: u16, content_type: &str, body: Body) -> Self {
        let (headers, ends) = (HeaderMap::new(), Ends::Whole);
        let said = Self::of(What::Said(Said { status, headers, body, ends }));
        if content_type.is_empty() {
            said
        } else {
            said.header(CONTENT_TYPE.as_str(), content_type)
        }
    }

    fn change(mut self, what: &str, change: impl FnOnce(&mut Said)) -> Self {
        match &mut self.what {
            What::Said(said) => change(said),
            What::Wrong(_) => {}
            _ => return self.wrong(&format!("what is no answer has no {what}")),
        }
        self
    }

    /// The first mistake is the one that is told.
    fn wrong(mut self, text: &str) -> Self {
        if !matches!(self.what, What::Wrong(_)) {
            self.what = What::Wrong(text.to_owned());
        }
        self
    }
}

impl Said {
    /// The body as it goes over the wire.
    pub(super) fn bytes(&self) -> Bytes {
        match &self.body {
            Body::Bytes(bytes) => bytes.clone(),
            Body::Problem { message, fields } => {
                let details = details(fields);
                json!({ "data": null, "error": message, "details": details }).to_string().into()
            }
        }
    }
}

/// Each field with its text, or with all of them if there are several.
fn details(fields: &[(String, String)]) -> Value {
    let texts = |name: &str| {
        let texts = fields.iter().filter(|(field, _)| field == name).map(|(_, text)| json!(text));
        let mut texts: Vec<_> = texts.collect();
        if texts.len() == 1 { texts.swap_remove(0) } else { Value::from(texts) }
    };
    fields.iter().map(|(name, _)| (name.clone(), texts(name))).collect()
}
