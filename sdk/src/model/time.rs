//! Timestamps as `#[serde(with = "time")]`: serialized as RFC 3339 in UTC.
//!
//! The specification says only «ISO 8601 strings». So any offset and any number of fractional
//! digits are accepted, and a missing offset means UTC.

use std::borrow::Cow;

use jiff::civil::DateTime;
use jiff::tz::Offset;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

#[doc(no_inline)]
pub use jiff::Timestamp;

pub(crate) fn serialize<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(time)
}

pub(crate) fn serialize_optional<S: Serializer>(
    time: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    time.map(|time| time.to_string()).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Timestamp, D::Error> {
    let text = Cow::<'de, str>::deserialize(deserializer)?;
    parse(&text).map_err(|error| D::Error::custom(format!("not an ISO 8601 timestamp: {error}")))
}

/// The error is that of the strict form, which services should send.
fn parse(text: &str) -> Result<Timestamp, jiff::Error> {
    text.parse().or_else(|strict| {
        let civil: DateTime = text.parse().map_err(|_| strict)?;
        Offset::UTC.to_timestamp(civil)
    })
}
