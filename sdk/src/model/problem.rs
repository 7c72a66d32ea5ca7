//! What the service says when it refuses: one message, and what is wrong with
//! which field.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The body of an error answer, without its `data`, which is always `null`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Problem {
    /// What went wrong, for a person (`error` on the wire).
    #[serde(rename = "error")]
    pub message: String,
    /// More about it: by the specification an object, which may map fields to what
    /// is wrong with them. Kept as it came, whatever it is.
    #[serde(default)]
    pub details: Value,
}

impl Problem {
    /// Puts a problem together.
    pub fn new(message: impl Into<String>, details: Value) -> Self {
        Self { message: message.into(), details }
    }

    /// Each failing field with what is wrong with it, as far as `details` says so.
    ///
    /// A field with several texts comes several times. Of an object the `message`
    /// is taken; anything else is given as JSON. `details` that are no object name
    /// no field.
    ///
    /// ```
    /// # use serde_json::json;
    /// let problem = promptarium::Problem::new("title is wrong", json!({ "title": "too long" }));
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
    let said = issue.as_str().or_else(|| issue.get("message").and_then(Value::as_str));
    said.map_or_else(|| Cow::Owned(issue.to_string()), Cow::Borrowed)
}

/// Failing fields with what is wrong with them; see [`Problem::field_errors`].
pub struct FieldErrors<'a>(Box<dyn Iterator<Item = (&'a str, Cow<'a, str>)> + Send + 'a>);

impl FieldErrors<'_> {
    /// Of an error that names no field.
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
