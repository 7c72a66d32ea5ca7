//! Pagination of every list: a function from cursor to page becomes a stream of pages.

mod items;
mod list;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::mem;
use std::task::{Context, Poll};

use futures_core::future::BoxFuture;

use super::Error;
use super::methods::stream;
use crate::model::{Cursor, Page};
pub use items::Items;
pub(super) use list::{Paging, paginated};

type Fetch<T> = dyn FnMut(Option<Cursor>) -> Fetching<T> + Send;
type Fetching<T> = BoxFuture<'static, Result<Page<T>, Error>>;

/// A stream of the pages of a list. A page is requested when the stream is polled for it, or
/// [one page earlier](crate::request::ListPrompts::prefetch).
///
/// It ends after the last page, after `max_items`, and after an error, from which
/// [`retry`](Self::retry) resumes. An empty page with a cursor does not end it; a cursor that the
/// service returns a second time ends it with [`Error::is_pagination_loop`]. It owns its client;
/// dropping it cancels the request in flight.
///
/// ```
/// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
/// let mut pages = client.prompts().list().page_size(100).pages();
/// while let Some(page) = pages.next().await {
///     println!("{} prompts, resume from {:?}", page?.items.len(), pages.cursor());
/// }
/// # Ok(()) }
/// ```
#[must_use = "a stream fetches only when it is polled"]
pub struct Pages<T> {
    fetch: Box<Fetch<T>>,
    state: State<T>,
    /// The cursor of the page that comes next.
    cursor: Option<Cursor>,
    used: Used,
    /// Items that may still come.
    left: Option<usize>,
    prefetch: bool,
}

enum State<T> {
    Idle,
    Fetching(Fetching<T>),
    /// Received, but not yet returned.
    Fetched(Result<Page<T>, Error>),
    Failed,
    Looping,
    Ended,
}

impl<T> Pages<T> {
    pub(super) fn new(
        paging: Paging,
        fetch: impl FnMut(Option<Cursor>) -> Fetching<T> + Send + 'static,
    ) -> Self {
        let Paging { cursor, max_items, prefetch, .. } = paging;
        let mut used = Used::default();
        if let Some(cursor) = &cursor {
            used.insert(cursor);
        }
        let state = if max_items == Some(0) { State::Ended } else { State::Idle };
        Self { fetch: Box::new(fetch), state, cursor, used, left: max_items, prefetch }
    }

    /// The cursor of the next page, or after an error of the page that failed. A prefetched page
    /// is still the next one.
    ///
    /// Give it to [`cursor`](crate::request::ListPrompts::cursor) of a later list with the same
    /// filters, also in another process: it is text and implements serde. `None` is the beginning
    /// of the list, and the end if the stream ended without error. If `max_items` cut a page, it
    /// is the cursor of that page, so that no item is missed.
    #[must_use]
    pub const fn cursor(&self) -> Option<&Cursor> {
        self.cursor.as_ref()
    }

    /// After an error: requests the page that failed again when the stream is polled next. Nothing
    /// comes twice and nothing is skipped.
    ///
    /// `false`, without effect, if the stream did not end with an error, or with
    /// [`Error::is_pagination_loop`], which a retry does not mend.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let mut pages = client.prompts().list().pages();
    /// while let Some(page) = pages.next().await {
    ///     match page {
    ///         Ok(page) => println!("{} prompts", page.items.len()),
    ///         Err(error) if error.is_retryable() && pages.retry() => {
    ///             tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    ///         }
    ///         Err(error) => return Err(error),
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn retry(&mut self) -> bool {
        let failed = matches!(self.state, State::Failed);
        if failed {
            self.state = State::Idle;
        }
        failed
    }

    fn poll_page(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Page<T>, Error>>> {
        self.advance(cx);
        match mem::replace(&mut self.state, State::Ended) {
            State::Fetched(Ok(mut page)) => {
                self.finish_page(&mut page);
                self.prefetch_page(cx);
                Poll::Ready(Some(Ok(page)))
            }
            State::Fetched(Err(error)) => {
                self.state = State::Failed;
                Poll::Ready(Some(Err(error)))
            }
            State::Looping => Poll::Ready(Some(Err(Error::pagination_loop(self.cursor.as_ref())))),
            unready => {
                let pending = matches!(unready, State::Fetching(_));
                self.state = unready;
                if pending { Poll::Pending } else { Poll::Ready(None) }
            }
        }
    }

    /// Starts or advances the request for the next page, if pages are prefetched. There is no task
    /// that would poll it, so this is called with each item.
    fn prefetch_page(&mut self, cx: &mut Context<'_>) {
        if self.prefetch {
            self.advance(cx);
        }
    }

    fn advance(&mut self, cx: &mut Context<'_>) {
        if matches!(self.state, State::Idle) {
            self.state = State::Fetching((self.fetch)(self.cursor.clone()));
        }
        if let State::Fetching(page) = &mut self.state
            && let Poll::Ready(page) = page.as_mut().poll(cx)
        {
            self.state = State::Fetched(page);
        }
    }

    /// Cuts the page to `max_items` and finds what comes after it.
    fn finish_page(&mut self, page: &mut Page<T>) {
        if let Some(left) = &mut self.left {
            if page.items.len() > *left {
                page.items.truncate(*left);
                page.next_cursor.clone_from(&self.cursor);
            }
            *left -= page.items.len();
        }
        self.cursor.clone_from(&page.next_cursor);
        self.state = match &page.next_cursor {
            None => State::Ended,
            Some(_) if self.left == Some(0) => State::Ended,
            Some(cursor) if self.used.insert(cursor) => State::Idle,
            Some(_) => State::Looping,
        };
    }
}

stream!([T] Pages<T> -> Page<T>, poll_page);

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").field("cursor", &self.cursor).finish_non_exhaustive()
    }
}

/// The cursors that were used, eight bytes of each, so that a long list does not fill
/// the memory.
///
/// Two cursors with the same hash would end a list with an error although it does not
/// loop: no entry would be wrong, and none would come twice. Among 10,000 cursors that
/// happens once in some 10¹¹ lists. The keys of the hash are new for each list, so no
/// service can bring it about, and the list that goes on from there does not meet it
/// again.
#[derive(Default)]
struct Used {
    keys: RandomState,
    hashes: HashSet<u64>,
}

impl Used {
    /// Whether the cursor is new.
    fn insert(&mut self, cursor: &Cursor) -> bool {
        self.hashes.insert(self.keys.hash_one(cursor))
    }
}
