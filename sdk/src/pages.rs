//! Pagination of lists: a function from cursor to page becomes a stream of pages, then of items.

use std::collections::HashSet;
use std::task::{Context, Poll, ready};
use std::{mem, vec};

use futures_core::future::BoxFuture;

use crate::error::Error;
use crate::macros::{debug, stream};
use crate::model::{Cursor, Page};
use crate::send::decode::FetchedPage;

type Fetch<T> = dyn FnMut(Option<Cursor>) -> Fetching<T> + Send;
type Fetching<T> = BoxFuture<'static, Result<FetchedPage<T>, Error>>;

/// A stream of the pages of a list. A page is requested when the stream is polled for it, or
/// [one page earlier](crate::request::ListPrompts::prefetch).
///
/// It ends after the last page, after `max_items`, and after an error, from which
/// [`retry`](Self::retry) resumes; an item that cannot be decoded is an error of its page, which
/// [`Items`] can skip. A cursor that the service returns a second time is
/// [`Error::is_pagination_loop`].
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
    used: HashSet<Cursor>,
    left: Option<usize>,
    prefetch: bool,
    /// A request that was sent ahead failed, so the page is requested when it is needed.
    prefetch_failed: bool,
}

enum State<T> {
    Idle,
    Fetching { page: Fetching<T>, is_prefetch: bool },
    Fetched(Result<FetchedPage<T>, Error>),
    Failed,
    Looping,
    Ended,
}

impl<T> Pages<T> {
    pub(crate) fn new(
        cursor: Option<Cursor>,
        max_items: Option<usize>,
        prefetch: bool,
        fetch: impl FnMut(Option<Cursor>) -> Fetching<T> + Send + 'static,
    ) -> Self {
        let used = cursor.iter().cloned().collect();
        let state = if max_items == Some(0) { State::Ended } else { State::Idle };
        let (fetch, left) = (Box::new(fetch), max_items);
        Self { fetch, state, cursor, used, left, prefetch, prefetch_failed: false }
    }

    /// The cursor of the next page, or of the one that failed or that `max_items` cut, for
    /// [`cursor`](crate::request::ListPrompts::cursor) of a later list with the same filters. `None`
    /// is the beginning of the list, and the end if the stream ended without error.
    pub const fn cursor(&self) -> Option<&Cursor> {
        self.cursor.as_ref()
    }

    /// After an error: requests the page that failed again when the stream is polled next. `false`,
    /// without effect, without an error and after [`Error::is_pagination_loop`].
    pub fn retry(&mut self) -> bool {
        let failed = matches!(self.state, State::Failed);
        if failed {
            self.state = State::Idle;
        }
        failed
    }

    fn poll_page(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Page<T>, Error>>> {
        let page = ready!(self.poll_fetched(cx, true));
        Poll::Ready(page.map(|page| page.and_then(FetchedPage::whole)))
    }

    /// The next page; with `whole`, an error if one of its items cannot be decoded.
    fn poll_fetched(
        &mut self,
        cx: &mut Context<'_>,
        whole: bool,
    ) -> Poll<Option<Result<FetchedPage<T>, Error>>> {
        self.advance(cx, false);
        match mem::replace(&mut self.state, State::Ended) {
            State::Fetched(Ok(page)) if whole && page.items.iter().any(Result::is_err) => {
                self.state = State::Failed;
                Poll::Ready(Some(Ok(page)))
            }
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
                let pending = matches!(unready, State::Fetching { .. });
                self.state = unready;
                if pending { Poll::Pending } else { Poll::Ready(None) }
            }
        }
    }

    /// Starts or advances the request for the next page, if pages are prefetched. There is no task
    /// that would poll it, so this is called with each item.
    fn prefetch_page(&mut self, cx: &mut Context<'_>) {
        if self.prefetch && !self.prefetch_failed {
            self.advance(cx, true);
        }
    }

    fn advance(&mut self, cx: &mut Context<'_>, is_prefetch: bool) {
        loop {
            if matches!(self.state, State::Idle) {
                let page = (self.fetch)(self.cursor.clone());
                self.state = State::Fetching { page, is_prefetch };
            }
            let State::Fetching { page, is_prefetch: sent_ahead } = &mut self.state else { return };
            let Poll::Ready(page) = page.as_mut().poll(cx) else { return };
            if *sent_ahead && page.is_err() {
                // Its timeouts expired while nobody polled it, or it failed some time ago.
                (self.state, self.prefetch_failed) = (State::Idle, true);
                if is_prefetch {
                    return;
                }
                continue;
            }
            self.state = State::Fetched(page);
            return;
        }
    }

    fn finish_page(&mut self, page: &mut FetchedPage<T>) {
        if let Some(left) = &mut self.left {
            if page.items.len() > *left {
                page.items.truncate(*left);
                page.next_cursor.clone_from(&self.cursor);
            }
            *left -= page.items.len();
        }
        self.cursor.clone_from(&page.next_cursor);
        self.prefetch_failed = false;
        self.state = match &self.cursor {
            None => State::Ended,
            Some(_) if self.left == Some(0) => State::Ended,
            Some(cursor) if self.used.insert(cursor.clone()) => State::Idle,
            Some(_) => State::Looping,
        };
    }
}

stream!([T] Pages<T> => Page<T>, Error, poll_page);

debug!([T] Pages<T>, |it| cursor = it.cursor);

/// A stream of the items of a list over all its pages. A page is requested when the items of the
/// page before are used up, or [earlier](crate::request::ListPrompts::prefetch).
///
/// It ends after the last item, after `max_items`, and after an error, from which
/// [`retry`](Self::retry) resumes.
#[must_use = "a stream fetches only when it is polled"]
pub struct Items<T> {
    pages: Pages<T>,
    page: vec::IntoIter<Result<T, Error>>,
    page_cursor: Option<Cursor>,
    item_failed: bool,
}

impl<T> Items<T> {
    pub(crate) fn new(pages: Pages<T>) -> Self {
        Self { pages, page: Vec::new().into_iter(), page_cursor: None, item_failed: false }
    }

    /// The cursor from which a later list misses no item: while items of a page are left that of
    /// this page, whose first items come again, and otherwise [`Pages::cursor`].
    pub fn cursor(&self) -> Option<&Cursor> {
        if self.page.len() == 0 { self.pages.cursor() } else { self.page_cursor.as_ref() }
    }

    /// The rest of the list in one vector. After an error the items before it are lost.
    pub async fn collect(mut self) -> Result<Vec<T>, Error> {
        let mut items = Vec::new();
        while let Some(item) = self.try_next().await? {
            items.push(item);
        }
        Ok(items)
    }

    /// As [`Pages::retry`]; the items continue after the last one that was returned. `false` after an
    /// item that cannot be decoded: [`skip_failed`](Self::skip_failed) it.
    pub fn retry(&mut self) -> bool {
        self.pages.retry()
    }

    /// After an item that cannot be decoded: continues with the item after it. `false`, without
    /// effect, after other errors.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let mut prompts = client.prompts().list().items();
    /// while let Some(prompt) = prompts.next().await {
    ///     match prompt {
    ///         Ok(prompt) => println!("{}", prompt.title),
    ///         Err(error) if prompts.skip_failed() => eprintln!("skipped: {error}"),
    ///         Err(error) => return Err(error),
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn skip_failed(&mut self) -> bool {
        mem::take(&mut self.item_failed)
    }

    fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, Error>>> {
        if self.item_failed {
            return Poll::Ready(None);
        }
        loop {
            if let Some(item) = self.page.next() {
                self.item_failed = item.is_err();
                self.pages.prefetch_page(cx);
                return Poll::Ready(Some(item));
            }
            let asked = self.pages.cursor().cloned();
            match ready!(self.pages.poll_fetched(cx, false)) {
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

stream!([T] Items<T> => T, Error, poll_item);

debug!([T] Items<T>, |it| cursor = it.cursor());

#[cfg(test)]
mod tests;
