//! Pagination, once for every list: a function from cursor to page becomes a
//! stream. Knows no resource and sends nothing itself.

use std::collections::HashSet;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec;

use futures_core::Stream;
use futures_core::future::BoxFuture;

use super::Error;
use crate::model::{Cursor, Page};

type Fetch<T> = dyn FnMut(Option<Cursor>) -> Fetching<T> + Send;
type Fetching<T> = BoxFuture<'static, Result<Page<T>, Error>>;

/// The pages of a list, each fetched when it is asked for.
///
/// Ends after the last page and after the first error. Owns its client, so it can
/// be moved to another task. An empty page that has a cursor does not end it
/// (`PG-07`); a cursor that was used before does, with
/// [`Error::is_pagination_loop`], since the list would never end.
///
/// ```no_run
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// let mut pages = client.prompts().list().page_size(100).pages();
/// while let Some(page) = pages.next().await {
///     println!("{} prompts, go on from {:?}", page?.items.len(), pages.cursor());
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "a stream fetches only when it is polled"]
pub struct Pages<T> {
    fetch: Box<Fetch<T>>,
    state: State<T>,
    cursor: Option<Cursor>,
    used: HashSet<Cursor>,
}

enum State<T> {
    Idle,
    Fetching(Fetching<T>),
    Looping,
    Ended,
}

impl<T> Pages<T> {
    pub(super) fn new(
        start: Option<Cursor>,
        fetch: impl FnMut(Option<Cursor>) -> Fetching<T> + Send + 'static,
    ) -> Self {
        let used = start.iter().cloned().collect();
        Self { fetch: Box::new(fetch), state: State::Idle, cursor: start, used }
    }

    /// Where the list goes on: the page that comes next, or after an error the page
    /// that failed.
    ///
    /// A later list takes it as its `from_cursor`, with the same filters. `None` is
    /// the beginning of the list, and the end when the stream ended without error.
    #[must_use]
    pub const fn cursor(&self) -> Option<&Cursor> {
        self.cursor.as_ref()
    }

    /// The next page; `None` when the stream has ended.
    pub async fn next(&mut self) -> Option<Result<Page<T>, Error>> {
        poll_fn(|cx| self.poll_page(cx)).await
    }

    fn poll_page(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Page<T>, Error>>> {
        if matches!(self.state, State::Idle) {
            self.state = State::Fetching((self.fetch)(self.cursor.clone()));
        }
        let fetched = match &mut self.state {
            State::Fetching(page) => ready!(page.as_mut().poll(cx)),
            State::Looping => Err(Error::pagination_loop(self.cursor.as_ref())),
            State::Idle | State::Ended => return Poll::Ready(None),
        };
        Poll::Ready(Some(match fetched {
            Ok(page) => {
                self.turn_to(page.next_cursor.clone());
                Ok(page)
            }
            Err(error) => {
                self.state = State::Ended;
                Err(error)
            }
        }))
    }

    fn turn_to(&mut self, next: Option<Cursor>) {
        self.state = match &next {
            None => State::Ended,
            Some(cursor) if self.used.insert(cursor.clone()) => State::Idle,
            Some(_) => State::Looping,
        };
        self.cursor = next;
    }
}

impl<T> Stream for Pages<T> {
    type Item = Result<Page<T>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_page(cx)
    }
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").field("cursor", &self.cursor).finish_non_exhaustive()
    }
}

/// The entries of a list over all its pages, each page fetched when the one before
/// is used up.
///
/// Ends as [`Pages`] does: after the last entry and after the first error.
///
/// ```no_run
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// let mut prompts = client.prompts().list().stream();
/// while let Some(prompt) = prompts.next().await {
///     println!("{}", prompt?.title);
/// }
/// # Ok(())
/// # }
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

    /// Where a later list can go on without missing an entry.
    ///
    /// While entries of a page are left it names that page, so that those of it
    /// which came already come again; otherwise it is [`Pages::cursor`].
    #[must_use]
    pub fn cursor(&self) -> Option<&Cursor> {
        if self.page.len() == 0 { self.pages.cursor() } else { self.page_cursor.as_ref() }
    }

    /// The next entry; `None` when the stream has ended.
    pub async fn next(&mut self) -> Option<Result<T, Error>> {
        poll_fn(|cx| self.poll_item(cx)).await
    }

    fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, Error>>> {
        loop {
            if let Some(item) = self.page.next() {
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

// No field is ever pinned, whatever `T` is.
impl<T> Unpin for Items<T> {}

impl<T> Stream for Items<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_item(cx)
    }
}

impl<T> fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items").field("cursor", &self.cursor()).finish_non_exhaustive()
    }
}
