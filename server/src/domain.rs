//! What the service is about: ids, records, generation requests, names and keys.
//!
//! It is the lowest module, and imports nothing else of this crate.

#![allow(missing_docs, reason = "a field has a comment if its name does not say all")]

/// Implements `Debug` for types with secrets: it shows these fields only.
macro_rules! debug_only {
    ($($name:ident $(<$life:lifetime>)? { $($field:ident),* })*) => {$(
        impl std::fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut text = f.debug_struct(stringify!($name));
                $(text.field(stringify!($field), &self.$field);)*
                text.finish_non_exhaustive()
            }
        }
    )*};
}
pub(crate) use debug_only;

/// Declares an enum of values that have names in the API and in databases.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($(#[$of:meta])* $value:ident = $text:literal),* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name { $($(#[$of])* $value),* }

        impl $name {
            /// All of them with their names, in the order of declaration.
            pub const ALL: &'static [(&'static str, Self)] = &[$(($text, Self::$value)),*];

            pub const fn as_str(self) -> &'static str {
                Self::ALL[self as usize].0
            }
        }
    };
}

mod asset;
mod credentials;
mod deployment;
mod generation;
mod records;
#[cfg(feature = "webhooks")]
pub(crate) mod webhook;

pub use self::{asset::*, credentials::*, deployment::*, generation::*, records::*};
