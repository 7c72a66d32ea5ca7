//! Pagination, once for every list: a function from cursor to page becomes a
//! stream of pages. Knows no resource and sends nothing itself.

mod items;
mod list;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::future::poll_fn;
use std::hash::{BuildHasher, RandomState};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::future::BoxFuture;

use super::Error;
use crate::model::{Cursor, Page};
pub use items::Items;
pub use list::Paginated;
pub(super) use list::Paging;

type Fetch<T> = dyn FnMut(Option<Cursor>) -> Fetching<T> + Send;
type Fetching<T> = BoxFuture<'static, Result<Page<T>, Error>>;

/// The pages of a list, each fetched when it is asked for, or
/// [one ahead](crate::call::Call::look_ahead).
///
/// Ends after the last page, after the [limit](crate::call::Call::limit), and after an
/// error, from which [`retry`](Self::retry) goes on. Owns its client, so it can be moved
/// to another task; there is no task behind it, and dropping it stops its traffic. An
/// empty page that has a cursor does not end it (`PG-07`); a cursor that was used before
/// does, with [`Error::is_pagination_loop`], since the list would never end.
///
/// ```
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// let mut pages = client.prompts().list().page_size(100).pages();
/// while let Some(page) = pages.next().await {
///     println!("{} prompts, go on from {:?}", page?.items.len(), pages.cursor());
/// }
/// # Ok(())
/// # }
/// # promptarium::testing::demo::run(example);
/// ```
#[must_use = "a stream fetches only when it is polled"]
pub struct Pages<T> {
    fetch: Box<Fetch<T>>,
    state: State<T>,
    /// Where the page that was not handed out yet is asked from.
    cursor: Option<Cursor>,
    used: Used,
    /// Entries that may still come.
    left: Option<usize>,
    look_ahead: bool,
}

enum State<T> {
    Idle,
    Fetching(Fetching<T>),
    /// Not handed out yet.
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
        let Paging { cursor, limit, look_ahead, .. } = paging;
        let mut used = Used::default();
        if let Some(cursor) = &cursor {
            used.insert(cursor);
        }
        let state = if limit == Some(0) { State::Ended } else { State::Idle };
        Self { fetch: Box::new(fetch), state, cursor, used, left: limit, look_ahead }
    }

    /// Where the list goes on: the page that comes next, or after an error the page
    /// that failed. A page that was fetched ahead is still one that comes next.
    ///
    /// A later list takes it as its `from_cursor`, with the same filters, also in
    /// another process: it can be kept as text or by serde. `None` is the beginning of
    /// the list, and the end when the stream ended without error. It names the last
    /// page again if the limit cut that one, so that no entry is missed.
    #[must_use]
    pub const fn cursor(&self) -> Option<&Cursor> {
        self.cursor.as_ref()
    }

    /// The next page; `None` when the stream has ended.
    ///
    /// Nothing is lost if the future is dropped: the next call goes on with the same
    /// request.
    pub async fn next(&mut self) -> Option<Result<Page<T>, Error>> {
        poll_fn(|cx| self.poll_page(cx)).await
    }

    /// Lets a stream that ended with an error ask for the page that failed once more,
    /// when it is polled next. Nothing comes twice and nothing is left out.
    ///
    /// Whether there is such a page: `false`, without effect, if the last thing that
    /// came is no error, or is [`Error::is_pagination_loop`], which asking again does
    /// not mend.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
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
    /// # Ok(())
    /// # }
    /// # use promptarium::testing::{Answer, demo};
    /// # let trouble = Answer::refusal(503, "busy");
    /// # demo::run_with(
    /// #     |script| drop((0..3).fold(script.get("/prompts"), |on, _| on.answer(trouble.clone()))),
    /// #     |client| {
    /// #         tokio::time::pause();
    /// #         example(client)
    /// #     },
    /// # );
    /// ```
    pub fn retry(&mut self) -> bool {
        let failed = matches!(self.state, State::Failed);
        if failed {
            self.state = State::Idle;
        }
        failed
    }

    fn poll_page(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Page<T>, Error>>> {
        self.fetch_on(cx);
        match mem::replace(&mut self.state, State::Ended) {
            State::Fetched(Ok(mut page)) => {
                self.turn(&mut page);
                self.fetch_ahead(cx);
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

    /// Moves the request for the next page on, if pages are to be fetched ahead.
    ///
    /// A request needs to be polled to get anywhere, and there is no task that would do
    /// so; whoever hands out entries calls this with each of them.
    fn fetch_ahead(&mut self, cx: &mut Context<'_>) {
        if self.look_ahead {
            self.fetch_on(cx);
        }
    }

    fn fetch_on(&mut self, cx: &mut Context<'_>) {
        if matches!(self.state, State::Idle) {
            self.state = State::Fetching((self.fetch)(self.cursor.clone()));
        }
        if let State::Fetching(page) = &mut self.state
            && let Poll::Ready(page) = page.as_mut().poll(cx)
        {
            self.state = State::Fetched(page);
        }
    }

    /// What comes after this page, which is cut to the limit.
    fn turn(&mut self, page: &mut Page<T>) {
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

// No field is ever pinned, whatever `T` is.
impl<T> Unpin for Pages<T> {}

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
