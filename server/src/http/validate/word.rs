//! Rules for values out of a fixed set of words.

use std::borrow::Cow;

use crate::http::validate::text::{shown, string};
use crate::http::validate::{Given, Refusal};

/// One of some words, each standing for a value.
pub fn word<T: Copy>(
    words: &'static [(&'static str, T)],
) -> impl for<'a> Fn(Given<'a>) -> Result<T, Refusal> {
    move |given| one_of(words, &string(given)?)
}

/// One of some words in a query.
pub fn word_in_query<T: Copy>(
    words: &'static [(&'static str, T)],
) -> impl for<'a> Fn(Cow<'a, str>) -> Result<T, Refusal> {
    move |given| one_of(words, &given)
}

fn one_of<T: Copy>(words: &[(&'static str, T)], given: &str) -> Result<T, Refusal> {
    words.iter().find(|(word, _)| *word == given).map(|(_, value)| *value).ok_or_else(|| {
        let all = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        format!("must be one of {all}, but is {:?}", shown(given))
    })
}
