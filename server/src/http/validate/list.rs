//! Rules for arrays, each entry by a rule of its own.

use std::fmt;
use std::ops::RangeInclusive;

use serde::Deserializer;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::http::validate::text::span;
use crate::http::validate::{Given, Refusal};

/// An array of so many entries. Every entry that fails is told, counting from 1.
pub fn list<T>(
    length: RangeInclusive<usize>,
    entry: impl for<'a> Fn(Given<'a>) -> Result<T, Refusal>,
) -> impl for<'a> Fn(Given<'a>) -> Result<Vec<T>, Refusal> {
    move |given| {
        if !given.raw().starts_with('[') {
            return Err(format!("must be an array, but is {}", given.kind()));
        }
        let read = serde_json::Deserializer::from_str(given.raw())
            .deserialize_seq(AtMost(*length.end()))
            .map_err(|error| format!("must be an array, but does not parse: {error}"))?;
        if !length.contains(&read.count) {
            return Err(format!("must have {}, but has {}", span(&length, "entries"), read.count));
        }
        checked(&read.first, &entry)
    }
}

fn checked<'a, T>(
    given: &[Given<'a>],
    entry: impl Fn(Given<'a>) -> Result<T, Refusal>,
) -> Result<Vec<T>, Refusal> {
    let mut values = Vec::with_capacity(given.len());
    let mut refusals = Vec::new();
    for (at, given) in given.iter().enumerate() {
        match entry(*given) {
            Ok(value) => values.push(value),
            Err(refusal) => refusals.push(format!("entry {} {refusal}", at + 1)),
        }
    }
    if refusals.is_empty() { Ok(values) } else { Err(refusals.join("; ")) }
}

/// Keeps the first entries and counts the others, so that an array of millions
/// takes no memory before it is refused.
struct AtMost(usize);

struct Read<'a> {
    first: Vec<Given<'a>>,
    count: usize,
}

impl<'de> Visitor<'de> for AtMost {
    type Value = Read<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Self::Value, S::Error> {
        let mut first = Vec::new();
        while first.len() < self.0 {
            match seq.next_element::<&RawValue>()? {
                Some(raw) => first.push(Given::new(raw)),
                None => {
                    return Ok(Read { count: first.len(), first });
                }
            }
        }
        let mut count = first.len();
        while seq.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Read { first, count })
    }
}
