//! What a patch does to one field: nothing, a new value, or none at all.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a patch does to one optional field.
///
/// `Option` has two states and a patch needs three: a field that is absent stays
/// as it is, while `null` clears it.
///
/// A struct that holds one writes `#[serde(default, skip_serializing_if =
/// "Change::is_leave")]` above it; without the skip, [`Change::Leave`] would be
/// written as `null` and clear the field.
///
/// ```
/// use promptarium::Change;
///
/// assert_eq!(Change::from("new"), Change::Set("new"));
/// assert!(Change::<&str>::default().is_leave());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a field is left, set or cleared; users match on all three"
)]
pub enum Change<T> {
    /// The field stays as it is; it is absent from the body.
    #[default]
    Leave,
    /// The field gets this value.
    Set(T),
    /// The field loses its value; it is `null` in the body.
    Clear,
}

impl<T> Change<T> {
    /// Whether the field stays as it is.
    #[must_use]
    pub const fn is_leave(&self) -> bool {
        matches!(self, Self::Leave)
    }

    /// The same change of a converted value.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Change<U> {
        match self {
            Self::Leave => Change::Leave,
            Self::Set(value) => Change::Set(convert(value)),
            Self::Clear => Change::Clear,
        }
    }
}

impl<T> From<T> for Change<T> {
    fn from(value: T) -> Self {
        Self::Set(value)
    }
}

impl From<&str> for Change<String> {
    fn from(value: &str) -> Self {
        Self::Set(value.to_owned())
    }
}

impl<T: Serialize> Serialize for Change<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Set(value) => serializer.serialize_some(value),
            Self::Leave | Self::Clear => serializer.serialize_none(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<T>::deserialize(deserializer).map(|value| value.map_or(Self::Clear, Self::Set))
    }
}
