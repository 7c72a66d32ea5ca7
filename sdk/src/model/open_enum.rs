//! Enums that survive values this version does not know.
//!
//! A service grows; a client that refuses a whole answer over one new word is
//! broken by every growth. The unknown word is kept, opaque, and written back
//! byte for byte. It cannot be matched on as text, so that a later version can
//! give it a variant of its own without breaking anyone.

use std::fmt;

/// A value this version of the crate has no variant for.
///
/// It is opaque: a later version may have a variant for the same text, and then this
/// is not made of it any more. Compare the text of the enum, which stays the same:
///
/// ```
/// use promptarium::PromptType;
///
/// assert_eq!(PromptType::from("audio").as_str(), "audio");
/// assert_eq!(PromptType::from("audio"), "audio".into());
/// ```
///
/// The text cannot be matched inside the variant:
///
/// ```compile_fail,E0532
/// # use promptarium::{PromptType, UnknownValue};
/// # let kind = PromptType::from("audio");
/// if let PromptType::Unknown(UnknownValue("audio")) = kind {
///     println!("a sound");
/// }
/// ```
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
        ///
        /// Ordered by the text on the wire, which stays when a value becomes known.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
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

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.as_str().cmp(other.as_str())
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
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
