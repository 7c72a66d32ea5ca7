//! Ids and cursors: one type for each kind; and the page that a cursor leads to.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::model::declare::text;
use crate::model::lenient::integer;

macro_rules! integer_ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(#[serde(deserialize_with = "integer")] i64);

        impl $name {
            /// The id of this integer.
            pub const fn new(value: i64) -> Self {
                Self(value)
            }

            /// The integer of this id.
            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<i64> for $name {
            fn from(value: i64) -> Self {
                Self(value)
            }
        }

        impl From<$name> for i64 {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl FromStr for $name {
            type Err = ParseIntError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )*};
}

integer_ids! {
    /// The id of a prompt.
    PromptId
    /// The id of a vault.
    VaultId
    /// The id of the membership of a prompt in a vault (`vaultPromptId`).
    ///
    /// It is not the id of the prompt, and it changes when the prompt is moved.
    VaultPromptId
    /// The id of a webhook.
    WebhookId
}

text! {
    /// The id of a generation job (`clientJobId`): the caller's own text, or a UUID.
    #[derive(Debug, PartialOrd, Ord)]
    JobId
}

/// One page of a list, which iterates over its items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Page<T> {
    /// The items. A page may be empty although others follow.
    pub items: Vec<T>,
    /// The cursor of the next page; `None` on the last page.
    pub next_cursor: Option<Cursor>,
}

impl<T> Page<T> {
    /// A page of these items.
    pub const fn new(items: Vec<T>, next_cursor: Option<Cursor>) -> Self {
        Self { items, next_cursor }
    }
}

impl<T> IntoIterator for Page<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

text! {
    /// A position in a list, opaque to clients.
    ///
    /// It can be stored as text and used in another process, with the filters of the list that
    /// returned it.
    #[derive(Debug)]
    Cursor
}
