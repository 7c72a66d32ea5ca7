//! Texts, integers, lists and timestamps, in every form with a certain meaning.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

/// Text that is borrowed from the JSON if that has no escapes in it.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// Decodes an integer, also one that is written as a float, such as `1024.0` and `7e0`.
pub(crate) fn integer<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: TryFrom<i128>,
    D: Deserializer<'de>,
{
    /// 2⁵⁰. Far larger floats may stand for several integers, and are not parsed exactly.
    const LIMIT: f64 = 1_125_899_906_842_624.0;
    let number = Number::deserialize(deserializer)?;
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < LIMIT);
    #[expect(clippy::cast_possible_truncation, reason = "it is integral and in range")]
    let integer = number.as_i128().or(float.map(|float| float as i128));
    integer.and_then(|integer| T::try_from(integer).ok()).ok_or_else(|| {
        let expected = std::any::type_name::<T>();
        D::Error::invalid_value(Unexpected::Other(&number.to_string()), &expected)
    })
}

/// A number of pixels, on which nothing depends: if it is not one, it is unknown.
pub(crate) fn pixels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    Value::deserialize(deserializer).map(|value| integer(value).ok())
}

/// A word of an open enum. `null` is an unknown one.
pub(crate) fn word<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: for<'a> From<&'a str>,
    D: Deserializer<'de>,
{
    let word = Option::<Text<'_>>::deserialize(deserializer)?;
    Ok(T::from(word.as_ref().map_or("null", |Text(text)| text)))
}

/// A list that is `null` is empty.
pub(crate) fn list<'de, T, D>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A timestamp, which the specification calls only an ISO 8601 string: with any offset and any
/// number of fractional digits, of which nine are kept. A missing offset means UTC. The last day of
/// the year 9999, which services use for "never", is later than any [`Timestamp`], and becomes the
/// last one.
pub(crate) fn timestamp<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let Text(text) = Text::deserialize(deserializer)?;
    parse(&text)
        .or_else(|error| parse(&with_nine_digits(&text).ok_or(error)?))
        .map_err(|error| D::Error::custom(format!("not an ISO 8601 timestamp: {error}")))
}

fn parse(text: &str) -> Result<Timestamp, jiff::Error> {
    text.parse().or_else(|strict| {
        // The error is that of the strict form, which services should send.
        let Ok(pieces) = Pieces::parse(text) else { return Err(strict) };
        let civil = pieces.date().to_datetime(pieces.time().unwrap_or(Time::midnight()));
        let offset = pieces.to_numeric_offset();
        match offset.unwrap_or(Offset::UTC).to_timestamp(civil) {
            Err(_) if civil.year() == 9999 => Ok(Timestamp::MAX),
            outcome => outcome,
        }
    })
}

/// The text without the fractional digits after the ninth; `None` if there are none.
fn with_nine_digits(text: &str) -> Option<String> {
    let (seconds, fraction) = text.split_once(['.', ','])?;
    let zone = fraction.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let digits = fraction.strip_suffix(zone)?;
    digits.get(9..).filter(|rest| !rest.is_empty())?;
    Some(format!("{seconds}.{}{zone}", digits.get(..9)?))
}
