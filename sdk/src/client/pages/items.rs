//! The entries of a list, one by one, over whatever pages they come in.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec;

use futures_core::Stream;

use super::Pages;
use crate::client::Error;
use crate::model::Cursor;

/// The entries of a list over all its pages, each page fetched when the one before
/// is used up, or [while it is used](crate::call::Call::look_ahead).
///
/// Ends as [`Pages`] does: after the last entry, after the limit, and after an error,
/// from which [`retry`](Self::retry) goes on.
///
/// ```
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// let mut prompts = client.prompts().list().stream();
/// while let Some(prompt) = prompts.next().await {
///     println!("{}", prompt?.title);
/// }
/// # Ok(())
/// # }
/// # promptarium::testing::demo::run(example);
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
    ///
    /// Nothing is lost if the future is dropped: the next call goes on with the same
    /// request.
    pub async fn next(&mut self) -> Option<Result<T, Error>> {
        poll_fn(|cx| self.poll_item(cx)).await
    }

    /// Lets a stream that ended with an error ask for the page that failed once more;
    /// as [`Pages::retry`]. The entries go on after the last that came.
    pub fn retry(&mut self) -> bool {
        self.pages.retry()
    }

    fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, Error>>> {
        loop {
            if let Some(item) = self.page.next() {
                self.pages.fetch_ahead(cx);
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
