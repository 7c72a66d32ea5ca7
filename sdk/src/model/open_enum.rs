//! Enums that survive values this version does not know.
//!
//! A service grows; a client that refuses a whole answer over one new word is
//! broken by every growth. The unknown word is kept, opaque, and written back
//! byte for byte. It cannot be matched on as text, so that a later version can
//! give it a variant of its own without breaking anyone.

use std::fmt;

/// A value this version of the crate has no variant for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnknownValue(Box<str>);

impl UnknownValue {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The value as it was on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for UnknownValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Makes an enum whose wire form is a string, with an `Unknown` variant.
macro_rules! open_enum {
    (
        $(#[$doc:meta])*
        $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $text:literal ),+ $(,)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_meta])* #[doc = concat!("\n\nOn the wire: `", $text, "`.")] $variant, )+
            /// A value that came after this version of the crate.
            Unknown($crate::model::UnknownValue),
        }

        impl $name {
            /// Every value this version knows, in the order of the specification.
            pub const KNOWN: &'static [Self] = &[$( Self::$variant ),+];

            /// The value as it is on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $text, )+
                    Self::Unknown(value) => value.as_str(),
                }
            }

            /// The variant of exactly this text; `None` if this version has none.
            #[must_use]
            pub fn known(text: &str) -> Option<Self> {
                match text {
                    $( $text => Some(Self::$variant), )+
                    _ => None,
                }
            }
        }

        impl From<&str> for $name {
            /// Never fails: an unknown text is kept as it is.
            fn from(text: &str) -> Self {
                Self::known(text)
                    .unwrap_or_else(|| Self::Unknown($crate::model::UnknownValue::new(text)))
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
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Ok(Self::from(text.as_ref()))
            }
        }
    };
}

pub(crate) use open_enum;
