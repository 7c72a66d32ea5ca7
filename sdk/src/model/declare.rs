//! Declarations of models: objects with the fields that they do not know, enums that keep unknown
//! values, so that a value added to the API later is not a decode error, and types of one text.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The fields of a response that this version of the crate does not know, by name.
///
/// They are kept when a model is decoded and serialized again, and count in comparisons. `Debug`
/// shows names only, since values may be secret.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExtraFields(BTreeMap<String, Value>);

impl ExtraFields {
    /// No fields.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }
}

impl From<Map<String, Value>> for ExtraFields {
    /// The names are those of no field of the model.
    fn from(fields: Map<String, Value>) -> Self {
        Self(fields.into_iter().collect())
    }
}

impl Deref for ExtraFields {
    type Target = BTreeMap<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl fmt::Debug for ExtraFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Declares a model: a struct that is an object of JSON, and keeps other members in `extra`.
macro_rules! model {
    ($(#[$meta:meta])* pub struct $name:ident $(<$generic:ident>)? { $($fields:tt)+ }) => {
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        #[non_exhaustive]
        $(#[$meta])*
        pub struct $name $(<$generic>)? {
            $($fields)+
            /// Fields that this version of the crate does not know.
            #[serde(flatten)]
            pub extra: $crate::model::ExtraFields,
        }
    };
}

/// A value of an enum that this version of the crate does not know.
///
/// It is opaque, since a later version may have a variant for the same text. Compare the text of
/// the enum, which stays the same, such as `PromptType::from("audio") == "audio"`. A pattern cannot
/// match the text of the variant:
///
/// ```compile_fail,E0532
/// # use promptarium::{PromptType, UnknownValue};
/// # let kind = PromptType::from("audio");
/// if let PromptType::Unknown(UnknownValue("audio")) = kind {
///     println!("a sound");
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct UnknownValue(pub(crate) Box<str>);

impl fmt::Debug for UnknownValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Declares an enum that is a string on the wire, with a variant `Unknown`.
macro_rules! open_enum {
    (
        $(#[$doc:meta])*
        $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $text:literal ),+ $(,)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_meta])* #[doc = concat!("\n\nOn the wire: `", $text, "`.")] $variant, )+
            /// A value that this version of the crate does not know.
            Unknown($crate::model::UnknownValue),
        }

        impl $name {
            /// All known values, in the order of the specification.
            pub const KNOWN: &'static [Self] = &[$( Self::$variant ),+];

            /// The text on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $text, )+
                    Self::Unknown($crate::model::UnknownValue(text)) => text,
                }
            }
        }

        impl From<&str> for $name {
            /// Unknown text is kept as [`Unknown`](Self::Unknown).
            fn from(text: &str) -> Self {
                let known = Self::KNOWN.iter().find(|value| value.as_str() == text);
                let unknown = || Self::Unknown($crate::model::UnknownValue(text.into()));
                known.cloned().unwrap_or_else(unknown)
            }
        }

        impl<T: AsRef<str> + ?Sized> PartialEq<T> for $name {
            fn eq(&self, text: &T) -> bool {
                self.as_str() == text.as_ref()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = $crate::model::lenient::Text::deserialize(deserializer)?;
                Ok(Self::from(&*text.0))
            }
        }
    };
}

/// Declares what types of one text have in common.
macro_rules! text {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<T: Into<String>> From<T> for $name {
            fn from(text: T) -> Self {
                Self(text.into())
            }
        }

        impl From<&$name> for $name {
            fn from(text: &Self) -> Self {
                text.clone()
            }
        }
    };
}

pub(crate) use {model, open_enum, text};
