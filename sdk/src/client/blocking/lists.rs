//! Lists over several pages, as iterators.

use super::Blocking;
use super::steps::Steps;
use crate::client::Error;
use crate::client::call::{Call, Paginated};
use crate::model::{Cursor, Page};

/// The pages of a list, each fetched when it is asked for.
///
/// Ends as [`promptarium::Pages`](crate::Pages) does: after the last page and after the
/// first error.
#[derive(Debug)]
#[must_use = "an iterator fetches only when it is asked"]
pub struct Pages<T>(Steps<crate::Pages<T>>);

impl<T> Pages<T> {
    /// Where the list goes on: the page that comes next, or after an error the page
    /// that failed.
    ///
    /// A later list takes it as its `from_cursor`, with the same filters. `None` is
    /// the beginning of the list, and the end when the iterator ended without error.
    #[must_use]
    pub fn cursor(&self) -> Option<&Cursor> {
        self.0.stream()?.cursor()
    }

    /// Lets an iterator that ended with an error ask for the page that failed once
    /// more; as [`promptarium::Pages::retry`](crate::Pages::retry).
    pub fn retry(&mut self) -> bool {
        self.0.stream_mut().is_some_and(crate::Pages::retry)
    }
}

impl<T: Send> Iterator for Pages<T> {
    type Item = Result<Page<T>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

/// The entries of a list over all its pages, each page fetched when the one before is
/// used up.
///
/// Ends as [`Pages`] does: after the last entry and after the first error.
///
/// ```
/// # fn example(client: promptarium::blocking::Client) -> Result<(), promptarium::Error> {
/// for prompt in client.prompts().list().page_size(100).items() {
///     println!("{}", prompt?.title);
/// }
/// # Ok(())
/// # }
/// # promptarium::testing::demo::run_blocking(example);
/// ```
#[derive(Debug)]
#[must_use = "an iterator fetches only when it is asked"]
pub struct Items<T>(Steps<crate::Items<T>>);

impl<T> Items<T> {
    /// Where a later list can go on without missing an entry.
    ///
    /// While entries of a page are left it names that page, so that those of it
    /// which came already come again; otherwise it is [`Pages::cursor`].
    #[must_use]
    pub fn cursor(&self) -> Option<&Cursor> {
        self.0.stream()?.cursor()
    }

    /// Lets an iterator that ended with an error ask for the page that failed once
    /// more; as [`Pages::retry`]. The entries go on after the last that came.
    pub fn retry(&mut self) -> bool {
        self.0.stream_mut().is_some_and(crate::Items::retry)
    }
}

impl<T: Send> Iterator for Items<T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

/// Of a [`blocking::Client`](crate::blocking::Client).
impl<E: Paginated> Call<E, Blocking> {
    /// One page, with the cursor of the next; [`send`](Self::send) does the same.
    ///
    /// # Errors
    ///
    /// As for every [`Call`].
    pub fn page(self) -> Result<Page<E::Item>, Error> {
        self.send()
    }

    /// Every page from here on, each fetched when it is asked for.
    pub fn pages(self) -> Pages<E::Item> {
        let (call, mode) = self.into_async();
        Pages(Steps::new(call.pages(), mode))
    }

    /// Every entry from here on, over all pages.
    pub fn items(self) -> Items<E::Item> {
        let (call, mode) = self.into_async();
        Items(Steps::new(call.stream(), mode))
    }
}
