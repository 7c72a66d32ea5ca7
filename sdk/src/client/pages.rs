//! Pagination of every list: a function from cursor to page becomes a stream of pages, and that a
//! stream of items.

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::task::{Context, Poll, ready};
use std::{mem, vec};

use futures_core::future::BoxFuture;

use super::Error;
use super::methods::stream;
use crate::model::{Cursor, Page};

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
    cursor: Option<Cursor>,
    used: Used,
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
        cursor: Option<Cursor>,
        max_items: Option<usize>,
        prefetch: bool,
        fetch: impl FnMut(Option<Cursor>) -> Fetching<T> + Send + 'static,
    ) -> Self {
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

/// A stream of the items of a list over all its pages. A page is requested when the items of the
/// page before are used up, or [earlier](crate::request::ListPrompts::prefetch).
///
/// It ends after the last item, after `max_items`, and after an error, from which
/// [`retry`](Self::retry) resumes.
///
/// ```
/// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
/// let mut prompts = client.prompts().list().items();
/// while let Some(prompt) = prompts.try_next().await? {
///     println!("{}", prompt.title);
/// }
/// # Ok(()) }
/// ```
#[must_use = "a stream fetches only when it is polled"]
pub struct Items<T> {
    pages: Pages<T>,
    page: vec::IntoIter<T>,
    /// Where the page in `page` was fetched from.
    page_cursor: Option<Cursor>,
}

impl<T> Items<T> {
    pub(super) fn new(pages: Pages<T>) -> Self {
        Self { pages, page: Vec::new().into_iter(), page_cursor: None }
    }

    /// The cursor from which a later list misses no item.
    ///
    /// While items of a page are left it is the cursor of that page, so its first items come
    /// again; otherwise it is [`Pages::cursor`].
    #[must_use]
    pub fn cursor(&self) -> Option<&Cursor> {
        if self.page.len() == 0 { self.pages.cursor() } else { self.page_cursor.as_ref() }
    }

    /// The rest of the list in one vector.
    ///
    /// # Errors
    ///
    /// That of the first page that fails; the items before it are lost.
    pub async fn collect(mut self) -> Result<Vec<T>, Error> {
        let mut items = Vec::new();
        while let Some(item) = self.try_next().await? {
            items.push(item);
        }
        Ok(items)
    }

    /// After an error: requests the page that failed again when the stream is polled next, as
    /// [`Pages::retry`]. The items continue after the last one that came.
    pub fn retry(&mut self) -> bool {
        self.pages.retry()
    }

    fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, Error>>> {
        loop {
            if let Some(item) = self.page.next() {
                self.pages.prefetch_page(cx);
                return Poll::Ready(Some(Ok(item)));
            }
            let asked = self.pages.cursor().cloned();
            match ready!(self.pages.poll_page(cx)) {
                Some(Ok(page)) => {
                    self.page = page.items.into_iter();
                    self.page_cursor = asked;
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
    }
}

stream!([T] Items<T> -> T, poll_item);

impl<T> fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items").field("cursor", &self.cursor()).finish_non_exhaustive()
    }
}

/// The cursors that were used, eight bytes of each, so that memory stays small.
///
/// Two cursors with the same hash would end a list with an error although it does not loop. Among
/// 10,000 cursors that happens once in some 10¹¹ lists. The keys of the hash are random for each
/// list, so no service can bring it about.
#[derive(Default)]
struct Used {
    keys: RandomState,
    hashes: HashSet<u64>,
}

impl Used {
    fn insert(&mut self, cursor: &Cursor) -> bool {
        self.hashes.insert(self.keys.hash_one(cursor))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn ten_thousand_pages_keep_no_more_than_the_pages_at_hand() {
        const PAGES: usize = 10_000;
        for (prefetch, most) in [(false, 10), (true, 20)] {
            // Each item holds a clone, so the clones are the items that are alive.
            let alive = Arc::new(());
            let counted = alive.clone();
            let mut items = Items::new(Pages::new(None, None, prefetch, move |cursor| {
                let number = cursor.map_or(0, |cursor| cursor.as_str().parse().unwrap());
                let items = (number * 10..number * 10 + 10).map(|n| (n, counted.clone())).collect();
                // The last page starts over.
                let next = if number + 1 < PAGES { number + 1 } else { 1 };
                Box::pin(async move {
                    // Not ready at once, as no answer is.
                    tokio::task::yield_now().await;
                    Ok(Page::new(items, Some(Cursor::from(next.to_string()))))
                })
            }));
            let (mut count, mut peak) = (0, 0);
            let error = loop {
                match items.next().await.expect("the loop is an error") {
                    Ok((number, _)) => {
                        assert_eq!(number, count);
                        count += 1;
                        peak = peak.max(Arc::strong_count(&alive) - 2);
                    }
                    Err(error) => break error,
                }
            };
            assert!(error.is_pagination_loop());
            assert_eq!((count, peak), (PAGES * 10, most));
        }
    }
}
