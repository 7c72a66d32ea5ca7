//! Pages of lists, and cursors.

use serde::{Deserialize, Serialize};

use crate::model::id::text;

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
