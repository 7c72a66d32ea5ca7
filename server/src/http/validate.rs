//! Validation of a request that reports every failing field at once.
//!
//! A [`Form`] holds the fields of a body or a query. A handler takes each field with a rule and
//! gets a valid value or nothing; the form collects the errors, and [`Form::finish`] returns
//! them. Rules know nothing of endpoints, and endpoints nothing of JSON.

mod fields;
mod rules;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

pub(crate) use self::fields::{BodyError, RawField, json_fields, query_fields};
pub(crate) use self::rules::{
    absolute_url, id, id_from_1, id_in_query, integer, integer_in_query, list, model_id, object,
    one_of, one_of_in_query, text,
};

/// What is wrong with one field, for a person: "must be …, but is …".
pub(crate) type FieldError = String;

/// The fields of one request that its endpoint knows, and their errors.
#[derive(Debug)]
pub(crate) struct Form<V> {
    fields: Vec<(&'static str, V)>,
    errors: FieldErrors,
}

/// Every failing field of one request with its error (ER-03).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FieldErrors(BTreeMap<&'static str, FieldError>);

impl<V> Form<V> {
    fn new() -> Self {
        Self { fields: Vec::new(), errors: FieldErrors::default() }
    }

    /// The value of a field, or `None` if it is absent, which is no error.
    fn take(&mut self, name: &'static str) -> Option<V> {
        let at = self.fields.iter().position(|(field, _)| *field == name)?;
        Some(self.fields.swap_remove(at).1)
    }

    fn check<T>(
        &mut self,
        name: &'static str,
        value: V,
        rule: impl FnOnce(V) -> Result<T, FieldError>,
    ) -> Option<T> {
        rule(value).map_err(|error| self.reject(name, error)).ok()
    }

    /// Takes a required field.
    pub(crate) fn required<T>(
        &mut self,
        name: &'static str,
        rule: impl FnOnce(V) -> Result<T, FieldError>,
    ) -> Option<T> {
        let Some(value) = self.take(name) else {
            self.reject(name, "is required".to_owned());
            return None;
        };
        self.check(name, value, rule)
    }

    /// Takes an optional field.
    pub(crate) fn optional<T>(
        &mut self,
        name: &'static str,
        rule: impl FnOnce(V) -> Result<T, FieldError>,
    ) -> Option<T> {
        let value = self.take(name)?;
        self.check(name, value, rule)
    }

    /// Adds an error of a field. The first error of a field stays.
    pub(crate) fn reject(&mut self, name: &'static str, error: FieldError) {
        self.errors.0.entry(name).or_insert(error);
    }

    /// Whether there is no error so far.
    pub(crate) fn is_clean(&self) -> bool {
        self.errors.0.is_empty()
    }

    /// Ends the validation.
    pub(crate) fn finish(self) -> Result<(), FieldErrors> {
        self.finish_with(Some(()))
    }

    /// Ends the validation of a request whose required fields are in `value`, which is `None`
    /// only after an error.
    pub(crate) fn finish_with<T>(self, value: Option<T>) -> Result<T, FieldErrors> {
        value.filter(|_| self.is_clean()).ok_or(self.errors)
    }
}

impl<'a> Form<RawField<'a>> {
    /// Takes an optional field that may be `null`, which is `Some(None)`.
    pub(crate) fn nullable<T>(
        &mut self,
        name: &'static str,
        rule: impl FnOnce(RawField<'a>) -> Result<T, FieldError>,
    ) -> Option<Option<T>> {
        let value = self.take(name)?;
        if value.is_null() { Some(None) } else { self.check(name, value, rule).map(Some) }
    }
}

impl FieldErrors {
    /// The error of one field.
    pub(crate) fn of(name: &'static str, error: impl Into<FieldError>) -> Self {
        Self(BTreeMap::from([(name, error.into())]))
    }

    /// Field and error, in the order of the fields' names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, error)| (*name, error.as_str()))
    }
}

/// A summary for a person: the fields, and the error if there is only one.
impl fmt::Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = self.iter();
        match (all.next(), all.next()) {
            (Some((name, error)), None) => write!(f, "{name} {error}"),
            _ => {
                let names = self.0.keys().copied().collect::<Vec<_>>().join(", ");
                write!(f, "{} fields are not valid: {names}; details says why", self.0.len())
            }
        }
    }
}

impl std::error::Error for FieldErrors {}

#[cfg(test)]
mod tests;
