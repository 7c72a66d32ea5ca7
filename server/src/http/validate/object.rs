//! The rule for objects whose keys the service does not know.

use serde_json::{Map, Value};

use crate::http::validate::{Given, Refusal};

/// A JSON object of any keys, as it is. Strings in it keep the rule that they
/// hold no U+0000.
///
/// # Errors
/// If the value is none, or is nested more deeply than can be read.
pub fn object(given: Given<'_>) -> Result<Map<String, Value>, Refusal> {
    if !given.raw().starts_with('{') {
        return Err(format!("must be an object, but is {}", given.kind()));
    }
    let object: Map<String, Value> = serde_json::from_str(given.raw())
        .map_err(|error| format!("must be an object, but cannot be read: {error}"))?;
    if object.iter().any(|(name, value)| name.contains('\0') || holds_nul(value)) {
        return Err("must not hold the character U+0000".to_owned());
    }
    Ok(object)
}

/// The reader has bounded how deep this goes.
fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(holds_nul),
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| name.contains('\0') || holds_nul(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::validate::fields_of;

    fn read(value: &str) -> Result<Map<String, Value>, Refusal> {
        let body = format!(r#"{{"o":{value}}}"#);
        let mut form = fields_of(body.as_bytes(), &["o"]).unwrap();
        let object = form.required("o", object);
        object.ok_or_else(|| form.refusals().iter().next().unwrap().1.to_owned())
    }

    #[test]
    fn an_object_is_taken_as_it_is() {
        let object = read(r#"{"seed": 7, "a": {"b": [null, "c"]}}"#).unwrap();
        assert_eq!(Value::from(object).to_string(), r#"{"a":{"b":[null,"c"]},"seed":7}"#);
        assert!(read("{}").unwrap().is_empty());
    }

    #[test]
    fn nothing_else_is_an_object() {
        for (value, kind) in [
            ("[]", "an array"),
            ("null", "null"),
            ("\"{}\"", "a string"),
            ("1", "a number"),
            ("true", "a boolean"),
        ] {
            assert_eq!(read(value), Err(format!("must be an object, but is {kind}")));
        }
    }

    #[test]
    fn what_no_store_could_keep_is_refused() {
        for value in [r#"{"a":"\u0000"}"#, r#"{"\u0000":1}"#, r#"{"a":[{"b\u0000":1}]}"#] {
            assert_eq!(read(value).unwrap_err(), "must not hold the character U+0000");
        }
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(1000), "]".repeat(1000));
        assert!(read(&deep).unwrap_err().starts_with("must be an object, but cannot be read"));
        assert!(read(r#"{"a":1e999}"#).is_err());
    }
}
