//! The error response of the API.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The body of an error response: a message, and details such as the invalid fields.
#[derive(Debug, Deserialize)]
pub(crate) struct Problem {
    /// What went wrong, for people (`error` in JSON). It is also read from `error.message`.
    #[serde(rename = "error", deserialize_with = "message")]
    pub(crate) message: String,
    /// An object, which may map invalid fields to what is wrong with them, or any other JSON value.
    #[serde(default)]
    details: Value,
}

impl Problem {
    /// The invalid fields of `details`, each with what is wrong with it.
    ///
    /// A field with an array of texts is returned once for each. Of an object the `message` is
    /// returned, any other value as JSON.
    pub(crate) fn field_errors(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let pairs = self.details.as_object().into_iter().flatten();
        pairs.flat_map(|(field, issues)| {
            let issues = match issues {
                Value::Array(list) => list.as_slice(),
                one => std::slice::from_ref(one),
            };
            issues.iter().map(move |issue| (field.as_str(), text(issue)))
        })
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
