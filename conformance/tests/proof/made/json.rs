//! The types of JSON values, to be told apart and exchanged.

use serde_json::Value;

/// A type of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Json {
    Text,
    Number,
    Fraction,
    Boolean,
    List,
    Object,
    Null,
}

impl Json {
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::String(_) => Self::Text,
            Value::Number(number) if number.as_f64().is_some_and(|n| n.fract() != 0.0) => {
                Self::Fraction
            }
            Value::Number(_) => Self::Number,
            Value::Bool(_) => Self::Boolean,
            Value::Array(_) => Self::List,
            Value::Object(_) => Self::Object,
            Value::Null => Self::Null,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Number => "number",
            Self::Fraction => "fraction",
            Self::Boolean => "boolean",
            Self::List => "array",
            Self::Object => "object",
            Self::Null => "null",
        }
    }
}
