//! The fields of a body, read one at a time; the first fault is the answer.
//!
//! Differs in: `null` is the same as a field left out (S-10), unknown fields
//! are refused and an empty body is an empty object (S-67), `1.0` is an integer
//! (S-65), strings are trimmed, counted in UTF-16 units and refused when blank (S-66),
//! addresses are `http` or `https` only and not repeated (S-11).

use serde_json::{Map, Value};

use super::answer::{Refusal, bad, unreadable};

/// The namespace that `modelId` has to be in.
pub(crate) const MODEL_NAMESPACE: &str = "contrary";
/// Longer addresses are refused.
const ADDRESS_BYTES_MAX: usize = 2000;

/// The fields of one body.
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    /// Reads a JSON object that has none but the `known` fields.
    pub(super) fn read(body: &[u8], known: &[&str]) -> Result<Self, Refusal> {
        if body.trim_ascii().is_empty() {
            return Ok(Self(Map::new()));
        }
        let Ok(Value::Object(fields)) = serde_json::from_slice(body) else {
            return Err(unreadable());
        };
        match fields.keys().find(|field| !known.contains(&field.as_str())) {
            Some(field) => Err(bad(field, "unknown")),
            None => Ok(Self(fields)),
        }
    }

    /// Whether the field is there, with a value or `null`.
    pub(super) fn has(&self, field: &str) -> bool {
        self.0.contains_key(field)
    }

    /// Whether the field is there and `null`.
    pub(super) fn is_null(&self, field: &str) -> bool {
        self.0.get(field).is_some_and(Value::is_null)
    }

    fn value(&self, field: &str) -> Option<&Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    /// A string without the space around it, blank or too long refused.
    pub(super) fn text(&self, field: &str, max: usize) -> Result<Option<String>, Refusal> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        let text = value.as_str().ok_or_else(|| bad(field, "no string"))?;
        match text.trim() {
            "" => Err(bad(field, "blank")),
            _ if text.encode_utf16().count() > max => Err(bad(field, "too long")),
            text => Ok(Some(text.to_owned())),
        }
    }

    /// An integer.
    pub(super) fn integer(&self, field: &str) -> Result<Option<i64>, Refusal> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        whole(value).map(Some).ok_or_else(|| bad(field, "no integer"))
    }

    /// An array of 1 to `max` integers, each one once.
    pub(super) fn integers(&self, field: &str, max: usize) -> Result<Option<Vec<i64>>, Refusal> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        let entries = value.as_array().ok_or_else(|| bad(field, "no array"))?;
        if entries.is_empty() || entries.len() > max {
            return Err(bad(field, "too few or too many"));
        }
        let integers: Option<Vec<_>> = entries.iter().map(whole).collect();
        let integers = integers.ok_or_else(|| bad(field, "not all integers"))?;
        if has_twins(&integers) { Err(bad(field, "repeats")) } else { Ok(Some(integers)) }
    }

    /// One of `choices`.
    pub(super) fn choice(
        &self,
        field: &str,
        choices: &[&'static str],
    ) -> Result<Option<&'static str>, Refusal> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        let choice = choices.iter().find(|choice| value.as_str() == Some(choice));
        choice.map(|choice| Some(*choice)).ok_or_else(|| bad(field, "no choice"))
    }

    /// A model of the namespace.
    pub(super) fn model(&self, field: &str) -> Result<Option<String>, Refusal> {
        let model = self.text(field, usize::MAX)?;
        let within = |model: &str| {
            let rest = model.strip_prefix(MODEL_NAMESPACE)?.strip_prefix('/')?;
            rest.chars().next().filter(|first| *first != '\n')
        };
        match model {
            Some(model) if within(&model).is_none() => Err(bad(field, "no such model")),
            model => Ok(model),
        }
    }

    /// An address.
    pub(super) fn address(&self, field: &str) -> Result<Option<String>, Refusal> {
        match self.text(field, usize::MAX)? {
            Some(text) if !is_address(&text) => Err(bad(field, "no address")),
            text => Ok(text),
        }
    }

    /// An array of at most `max` addresses, each one once.
    pub(super) fn addresses(
        &self,
        field: &str,
        max: usize,
    ) -> Result<Option<Vec<String>>, Refusal> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        let entries = value.as_array().ok_or_else(|| bad(field, "no array"))?;
        let texts = entries.iter().map(|entry| entry.as_str().map(ToOwned::to_owned));
        let texts: Option<Vec<_>> = texts.collect();
        let texts = texts.ok_or_else(|| bad(field, "not all strings"))?;
        let good = texts.len() <= max && texts.iter().all(|text| is_address(text));
        if good && !has_twins(&texts) { Ok(Some(texts)) } else { Err(bad(field, "not accepted")) }
    }
}

fn is_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    host.is_some_and(|host| !host.is_empty())
        && text.len() <= ADDRESS_BYTES_MAX
        && text.chars().all(|char| char.is_ascii_graphic())
}

fn whole(value: &Value) -> Option<i64> {
    let exact = |float: f64| (float.fract() == 0.0 && float.abs() < 9e15).then_some(float as i64);
    value.as_i64().or_else(|| value.as_f64().and_then(exact))
}

fn has_twins<T: PartialEq>(list: &[T]) -> bool {
    list.iter().enumerate().any(|(place, entry)| list[..place].contains(entry))
}
