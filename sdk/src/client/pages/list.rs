//! What can be told to every list that comes in pages, and the ways to take one.

use super::{Items, Pages};
use crate::client::Error;
use crate::client::call::{Call, Endpoint};
use crate::client::request::Request;
use crate::limits::PAGE_SIZE_DEFAULT;
use crate::model::{Cursor, Page};

/// An endpoint that answers in pages. Implemented in this crate only.
///
/// [`Call`] can be taken as a stream for each of them.
pub trait Paginated: Endpoint<Output = Page<Self::Item>> + Clone {
    /// One entry of the list.
    type Item: Send + 'static;

    #[doc(hidden)]
    fn paging(&mut self) -> &mut Paging;
}

/// How a list is taken: where from, in what steps, how far.
#[derive(Debug, Clone, Default)]
pub struct Paging {
    pub(super) page_size: Option<u32>,
    pub(super) cursor: Option<Cursor>,
    pub(super) limit: Option<usize>,
    pub(super) look_ahead: bool,
}

impl Paging {
    /// The parameters of one page.
    pub(in crate::client) fn on(&self, request: Request) -> Request {
        request.query("limit", self.page_size).query("cursor", self.cursor.as_ref())
    }

    /// No page larger than all that is wanted. It is one size for the whole walk, since
    /// nothing says that a service takes a cursor with another.
    fn fit_page_to_limit(&mut self) {
        let limit = self.limit.and_then(|limit| u32::try_from(limit).ok());
        if let Some(limit) = limit.filter(|limit| *limit > 0)
            && limit < self.page_size.unwrap_or(PAGE_SIZE_DEFAULT)
        {
            self.page_size = Some(limit);
        }
    }
}

/// Lists that come in pages.
impl<E: Paginated, M> Call<E, M> {
    /// Entries a page may hold: [`PAGE_SIZE`](crate::limits::PAGE_SIZE), or
    /// [`PAGE_SIZE_DEFAULT`] unless told (`PG-02`, `LI-01`). It bounds a page, not the
    /// list; that is [`limit`](Self::limit).
    pub fn page_size(mut self, entries: u32) -> Self {
        self.endpoint.paging().page_size = Some(entries);
        self
    }

    /// Starts where an earlier list with the same filters stopped (`PG-06`).
    pub fn from_cursor(mut self, cursor: impl Into<Cursor>) -> Self {
        self.endpoint.paging().cursor = Some(cursor.into());
        self
    }

    /// Ends a stream after this many entries, without a request that is not needed
    /// for them: none at all for 0, and pages no larger than this. The last page is cut
    /// to it.
    ///
    /// It bounds [`stream`](Self::stream) and [`pages`](Self::pages), not
    /// [`page`](Self::page).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// let mut newest = client.prompts().list().limit(250).page_size(100).stream();
    /// while let Some(prompt) = newest.next().await {
    ///     println!("{}", prompt?.title);
    /// }
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn limit(mut self, entries: usize) -> Self {
        self.endpoint.paging().limit = Some(entries);
        self
    }

    /// Whether a stream fetches the next page while the one at hand is used; not
    /// unless told.
    ///
    /// Never more than one page ahead, and none past the limit. There is no task behind
    /// it: the request goes out with the page before it and moves on whenever the stream
    /// is polled, on a second connection where one carries one request at a time. If the
    /// page ahead fails, the error comes in its place, after the entries before it.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # async fn archive(_: promptarium::Prompt) {}
    /// let mut prompts = client.prompts().list().page_size(100).look_ahead(true).stream();
    /// while let Some(prompt) = prompts.next().await {
    ///     archive(prompt?).await;
    /// }
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn look_ahead(mut self, yes: bool) -> Self {
        self.endpoint.paging().look_ahead = yes;
        self
    }
}

impl<E: Paginated> Call<E> {
    /// One page, with the cursor of the next. Awaiting the call itself is the same.
    ///
    /// # Errors
    ///
    /// As for every [`Call`].
    pub async fn page(self) -> Result<Page<E::Item>, Error> {
        self.await
    }

    /// Every page from here on, each fetched when it is asked for.
    pub fn pages(mut self) -> Pages<E::Item> {
        let paging = self.endpoint.paging();
        paging.fit_page_to_limit();
        Pages::new(paging.clone(), move |cursor| {
            let mut call = self.clone();
            call.endpoint.paging().cursor = cursor;
            call.into_future()
        })
    }

    /// Every entry from here on, over all pages.
    pub fn stream(self) -> Items<E::Item> {
        Items::new(self.pages())
    }
}
