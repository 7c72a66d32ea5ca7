//! The body of an error response.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The body of an error response: a message, and details such as the failing fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Problem {
    /// The message (`error` on the wire).
    #[serde(rename = "error")]
    pub message: String,
    /// The details, of any form. By the specification an object, which may map failing fields to
    /// messages.
    #[serde(default)]
    pub details: Value,
}

impl Problem {
    /// A problem of this message and these details.
    pub fn new(message: impl Into<String>, details: Value) -> Self {
        Self { message: message.into(), details }
    }

    /// The failing fields in `details`, each with a message.
    ///
    /// A field with several messages comes several times. If a message is an object, its member
    /// `message` is used, and its JSON text if it has none. Nothing comes if `details` is not an
    /// object.
    ///
    /// ```
    /// # use serde_json::json;
    /// use promptarium::server::Problem;
    ///
    /// let problem = Problem::new("title is wrong", json!({ "title": "too long" }));
    /// assert_eq!(problem.field_errors().next(), Some(("title", "too long".into())));
    /// ```
    #[must_use]
    pub fn field_errors(&self) -> FieldErrors<'_> {
        let pairs = self.details.as_object().into_iter().flatten();
        FieldErrors(Box::new(pairs.flat_map(|(field, issues)| {
            let issues = match issues {
                Value::Array(list) => list.as_slice(),
                one => std::slice::from_ref(one),
            };
            issues.iter().map(move |issue| (field.as_str(), text(issue)))
        })))
    }
}

fn text(issue: &Value) -> Cow<'_, str> {
    let message = issue.as_str().or_else(|| issue.get("message").and_then(Value::as_str));
    message.map_or_else(|| Cow::Owned(issue.to_string()), Cow::Borrowed)
}

/// Failing fields with their messages; returned by [`Problem::field_errors`].
pub struct FieldErrors<'a>(Box<dyn Iterator<Item = (&'a str, Cow<'a, str>)> + Send + 'a>);

impl FieldErrors<'_> {
    /// No fields.
    #[cfg(feature = "client")]
    pub(crate) fn none() -> Self {
        Self(Box::new(std::iter::empty()))
    }
}

impl<'a> Iterator for FieldErrors<'a> {
    type Item = (&'a str, Cow<'a, str>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

impl std::fmt::Debug for FieldErrors<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FieldErrors").finish_non_exhaustive()
    }
}
