//! Checking what a request says, so that every failing field is told at once.
//!
//! A [`Form`] is filled from a body or a query. A handler takes each field from
//! it with a rule and gets a checked value or nothing; what failed is written
//! down in the form. [`Form::refusals`] then says everything that was wrong, field
//! by field. Rules know nothing of endpoints, and endpoints nothing of JSON.

mod json;
mod list;
mod number;
mod object;
mod query;
mod text;
mod word;

use std::collections::BTreeMap;
use std::fmt;

pub use self::json::{Given, Malformed, fields_of};
pub use self::list::list;
pub use self::number::{id, id_from_1, id_in_query, integer, integer_in_query};
pub use self::object::object;
pub use self::query::fields_of_query;
pub use self::text::{absolute_url, any_text, model_id, some_text, text};
pub use self::word::{word, word_in_query};

/// What is wrong with one field, for a person: "must be …, but is …".
pub type Refusal = String;

/// The fields of one request that its endpoint knows, and what is wrong with them.
#[derive(Debug)]
pub struct Form<V> {
    fields: Vec<(&'static str, V)>,
    refusals: Refusals,
}

/// Every failing field of one request, with what is wrong with it (ER-03).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusals(BTreeMap<&'static str, Refusal>);

impl<V> Form<V> {
    fn new() -> Self {
        Self { fields: Vec::new(), refusals: Refusals::default() }
    }

    /// The value of a field, or `None` if it is absent; an absent field is no fault.
    fn take(&mut self, name: &'static str) -> Option<V> {
        let at = self.fields.iter().position(|(field, _)| *field == name)?;
        Some(self.fields.swap_remove(at).1)
    }

    fn check<T>(
        &mut self,
        name: &'static str,
        value: V,
        rule: impl FnOnce(V) -> Result<T, Refusal>,
    ) -> Option<T> {
        rule(value).map_err(|refusal| self.refuse(name, refusal)).ok()
    }

    /// Takes a field that must be there.
    pub fn required<T>(
        &mut self,
        name: &'static str,
        rule: impl FnOnce(V) -> Result<T, Refusal>,
    ) -> Option<T> {
        match self.take(name) {
            Some(value) => self.check(name, value, rule),
            None => {
                self.refuse(name, "is required".to_owned());
                None
            }
        }
    }

    /// Takes a field that may be left out.
    pub fn optional<T>(
        &mut self,
        name: &'static str,
        rule: impl FnOnce(V) -> Result<T, Refusal>,
    ) -> Option<T> {
        let value = self.take(name)?;
        self.check(name, value, rule)
    }

    /// Writes down what is wrong with a field; what was written first stays.
    pub fn refuse(&mut self, name: &'static str, refusal: Refusal) {
        self.refusals.0.entry(name).or_insert(refusal);
    }

    /// Whether nothing was refused so far.
    pub fn is_clean(&self) -> bool {
        self.refusals.is_empty()
    }

    /// The end of the check.
    ///
    /// # Errors
    /// All that was refused.
    pub fn finish(self) -> Result<(), Refusals> {
        if self.is_clean() { Ok(()) } else { Err(self.refusals) }
    }

    /// All that was refused, for a handler that lacks a value because of it.
    pub fn refusals(self) -> Refusals {
        self.refusals
    }
}

impl<'a> Form<Given<'a>> {
    /// Takes a field that may be left out or `null`; `Some(None)` is `null`.
    pub fn nullable<T>(
        &mut self,
        name: &'static str,
        rule: impl FnOnce(Given<'a>) -> Result<T, Refusal>,
    ) -> Option<Option<T>> {
        let value = self.take(name)?;
        if value.is_null() { Some(None) } else { self.check(name, value, rule).map(Some) }
    }
}

impl Refusals {
    /// One field that failed.
    pub fn of(name: &'static str, refusal: impl Into<Refusal>) -> Self {
        Self(BTreeMap::from([(name, refusal.into())]))
    }

    /// Whether no field failed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Field and message, in the order of the fields' names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, refusal)| (*name, refusal.as_str()))
    }
}

/// The summary for a person: which fields, and what is wrong if it is one only.
impl fmt::Display for Refusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = self.iter();
        match (all.next(), all.next()) {
            (Some((name, refusal)), None) => write!(f, "{name} {refusal}"),
            _ => {
                let names = self.0.keys().copied().collect::<Vec<_>>().join(", ");
                write!(f, "{} fields are not valid: {names}; details says why", self.0.len())
            }
        }
    }
}

impl std::error::Error for Refusals {}

#[cfg(test)]
mod tests;
