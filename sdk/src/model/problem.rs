//! What a refusal is about: the error response of the API, and the permissions of keys.

use std::borrow::Cow;
use std::vec;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::model::open_enum::open_enum;

open_enum! {
    /// One permission of an API key.
    Scope {
        /// Permits all endpoints that write.
        PromptsWrite = "prompts:write",
    }
}

/// The body of an error response: a message, and details such as the invalid fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Problem {
    /// What went wrong, for people (`error` in JSON). It is also read from `error.message`.
    #[serde(rename = "error", deserialize_with = "message")]
    pub message: String,
    /// Details: an object, which may map invalid fields to what is wrong with them. Any other JSON
    /// value is kept.
    #[serde(default)]
    pub details: Value,
}

impl Problem {
    /// A problem with this message and these details.
    pub fn new(message: impl Into<String>, details: Value) -> Self {
        Self { message: message.into(), details }
    }

    /// The invalid fields of `details`, each with what is wrong with it.
    ///
    /// A field with an array of texts is returned once for each. Of an object the `message` is
    /// returned, any other value as JSON.
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
        let texts = pairs.flat_map(|(field, issues)| {
            let issues = match issues {
                Value::Array(list) => list.as_slice(),
                one => std::slice::from_ref(one),
            };
            issues.iter().map(move |issue| (field.as_str(), text(issue)))
        });
        FieldErrors(texts.collect::<Vec<_>>().into_iter())
    }
}

/// The text of a message: a string, or the `message` of an object.
fn message_of(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("message")?.as_str())
}

/// The text of a message, or the JSON of what has none.
pub(super) fn text(value: &Value) -> Cow<'_, str> {
    message_of(value).map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)
}

fn message<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let value = Value::deserialize(deserializer)?;
    message_of(&value).map(str::to_owned).ok_or_else(|| D::Error::custom("an error without text"))
}

/// Invalid fields with what is wrong with them; see [`Problem::field_errors`].
#[derive(Debug, Default)]
pub struct FieldErrors<'a>(vec::IntoIter<(&'a str, Cow<'a, str>)>);

impl<'a> Iterator for FieldErrors<'a> {
    type Item = (&'a str, Cow<'a, str>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}
