//! The items of all pages of a list as one stream.

use std::task::{Context, Poll, ready};
use std::{mem, vec};

use super::Pages;
use crate::error::Error;
use crate::macros::{debug, stream};
use crate::model::Cursor;

/// A stream of the items of a list over all its pages. A page is requested when the items of the
/// page before are used up, or [earlier](crate::request::ListPrompts::prefetch).
///
/// It ends after the last item, after `max_items`, and after an error, from which
/// [`retry`](Self::retry) resumes.
#[must_use = "a stream fetches only when it is polled"]
pub struct Items<T> {
    pages: Pages<T>,
    page: vec::IntoIter<Result<T, Error>>,
    /// Where the page in `page` was fetched from.
    page_cursor: Option<Cursor>,
    /// The last item could not be decoded.
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
