//! The values of forms and queries, and why a form was refused.

use http::StatusCode;
use http::request::Parts;
use serde::Serialize;
use url::form_urlencoded;

use crate::generate::SubmitError;
use crate::generate::submit::SubmissionError;
use crate::http::error::{ApiError, Problem};
use crate::http::path::RequestTarget;

/// The values of a form, and why it was refused.
#[derive(Clone, Debug, Default)]
pub(super) struct Entered {
    values: Vec<(String, String)>,
    pub(super) problem: Option<Problem>,
}

impl Entered {
    /// The fields of something that exists, as the form for it shows them.
    pub(super) fn of(record: impl Serialize) -> Self {
        let fields = serde_json::to_value(record).unwrap_or_default();
        let fields = fields.as_object().into_iter().flatten();
        let fields = fields.filter(|(_, value)| !value.is_null()).map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name.clone(), text)
        });
        Self { values: fields.collect(), problem: None }
    }

    /// The values of a query or of a form that was sent.
    pub(super) fn parse(form: &[u8]) -> Self {
        Self { values: form_urlencoded::parse(form).into_owned().collect(), problem: None }
    }

    /// Gives a field this value only.
    pub(super) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.values.retain(|(field, _)| field != name);
        self.values.push((name.into(), value.into()));
    }

    /// The same values with the reason of a refusal.
    ///
    /// # Errors
    /// The refusal, if another attempt with other values is no help.
    pub(super) fn refused(self, error: ApiError, parts: &Parts) -> Result<Self, ApiError> {
        let mut problem = error.problem(RequestTarget::new(parts.uri.path(), &parts.method));
        if let ApiError::Submission(SubmissionError::Provider(SubmitError::Refused(_))) = error {
            problem.status = StatusCode::BAD_REQUEST;
        }
        match problem.status.as_u16() {
            400 | 409 | 429 | 502 | 503 => Ok(Self { problem: Some(problem), ..self }),
            _ => Err(error),
        }
    }

    /// The value of a field, or nothing.
    pub(super) fn value(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// The values of a field that may be given more than once.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.values.iter().filter(move |(field, _)| field == name).map(|(_, value)| &**value)
    }

    /// The id in a field.
    pub(super) fn id<Id: From<i64>>(&self, name: &str) -> Option<Id> {
        self.value(name).parse().ok().map(Id::from)
    }

    /// The ids in a field that may be given more than once, if all are some and there are at most so
    /// many.
    pub(super) fn ids<Id: From<i64>>(&self, name: &str, most: usize) -> Option<Vec<Id>> {
        let ids = self.all(name).map(|id| id.parse().ok().map(Id::from));
        ids.collect::<Option<Vec<_>>>().filter(|ids| ids.len() <= most)
    }

    /// The status of the page with this form.
    pub(super) fn status(&self) -> StatusCode {
        self.problem.as_ref().map_or(StatusCode::OK, |problem| problem.status)
    }
}
