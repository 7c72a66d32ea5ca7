//! Rules for integers: JSON integers in bodies, plain decimal digits in queries.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::http::validate::text::shown;
use crate::http::validate::{Given, Refusal};

/// The id of something: any integer of 64 bits. One that no id can be names
/// nothing, which is for the store to say.
///
/// # Errors
/// If the value is none.
pub fn id<Id: From<i64>>(given: Given<'_>) -> Result<Id, Refusal> {
    whole_number(given).map(Id::from)
}

/// The id of something, an integer of at least 1.
///
/// # Errors
/// If the value is none.
pub fn id_from_1<Id: From<i64>>(given: Given<'_>) -> Result<Id, Refusal> {
    match whole_number(given)? {
        number @ 1.. => Ok(Id::from(number)),
        number => Err(format!("must be at least 1, but is {number}")),
    }
}

/// An integer between two bounds.
pub fn integer<T: TryFrom<i64> + PartialOrd + Display>(
    range: RangeInclusive<T>,
) -> impl for<'a> Fn(Given<'a>) -> Result<T, Refusal> {
    move |given| {
        let number = whole_number(given)?;
        T::try_from(number)
            .ok()
            .filter(|number| range.contains(number))
            .ok_or_else(|| format!("must be {} to {}, but is {number}", range.start(), range.end()))
    }
}

/// The id of something, in a query.
pub fn id_in_query<Id: From<i64>>() -> impl for<'a> Fn(Cow<'a, str>) -> Result<Id, Refusal> {
    |given| {
        if is_decimal(&given) {
            in_64_bits(&given).map(Id::from)
        } else {
            Err("must be an integer in decimal digits".to_owned())
        }
    }
}

/// An integer of a query between two bounds.
pub fn integer_in_query(
    range: RangeInclusive<u32>,
) -> impl for<'a> Fn(Cow<'a, str>) -> Result<u32, Refusal> {
    move |given| {
        if !is_decimal(&given) {
            return Err("must be an integer in decimal digits".to_owned());
        }
        given.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
            format!("must be {} to {}, but is {}", range.start(), range.end(), shown(&given))
        })
    }
}

fn whole_number(given: Given<'_>) -> Result<i64, Refusal> {
    match (given.kind(), given.raw()) {
        ("a number", text) if is_decimal(text) => in_64_bits(text),
        ("a number", text) => Err(format!("must be an integer, but is {}", shown(text))),
        (kind, _) => Err(format!("must be an integer, but is {kind}")),
    }
}

/// Digits, with an optional minus sign: no point, no exponent, no plus.
fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn in_64_bits(text: &str) -> Result<i64, Refusal> {
    text.parse().map_err(|_| format!("must be an integer of 64 bits, but is {}", shown(text)))
}
