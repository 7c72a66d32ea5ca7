//! The options of a list that has pages, and the ways to read it.

use crate::client::request::Request;
use crate::limits::PAGE_SIZE_DEFAULT;
use crate::model::Cursor;

#[derive(Debug, Clone, Default)]
pub(in crate::client) struct Paging {
    pub(in crate::client) page_size: Option<u32>,
    pub(in crate::client) cursor: Option<Cursor>,
    pub(in crate::client) max_items: Option<usize>,
    pub(in crate::client) prefetch: bool,
}

impl Paging {
    pub(in crate::client) fn apply(&self, request: Request) -> Request {
        request.query("limit", self.page_size).query("cursor", self.cursor.as_ref())
    }

    /// Makes pages no larger than the number of items that are wanted. The size stays the same
    /// for all pages, as a service may refuse a cursor with another one.
    pub(in crate::client) fn fit_page_size(&mut self) {
        let max = self.max_items.and_then(|max| u32::try_from(max).ok());
        if let Some(max) = max.filter(|max| *max > 0)
            && max < self.page_size.unwrap_or(PAGE_SIZE_DEFAULT)
        {
            self.page_size = Some(max);
        }
    }
}

/// The methods of a call that lists pages of `$item`.
macro_rules! paginated {
    ($name:ident, $item:ty) => {
        /// Pagination.
        impl $name {
            $crate::client::methods::optional! {
                /// Resumes where an earlier list with the same filters stopped.
                cursor, set_cursor => paging.cursor: crate::Cursor;
            }

            /// Items per page: [`PAGE_SIZE`](crate::limits::PAGE_SIZE), by default
            /// [`PAGE_SIZE_DEFAULT`](crate::limits::PAGE_SIZE_DEFAULT). It bounds a page, not
            /// the list; [`max_items`](Self::max_items) bounds the list.
            pub const fn page_size(mut self, items: u32) -> Self {
                self.paging.page_size = Some(items);
                self
            }

            /// Ends the list after this many items: pages are no larger, the last page is cut to
            /// it, and no request is sent that is not needed for them (none at all for 0).
            ///
            /// It bounds [`items`](Self::items), [`pages`](Self::pages) and
            /// [`collect`](Self::collect), not [`page`](Self::page).
            pub const fn max_items(mut self, items: usize) -> Self {
                self.paging.max_items = Some(items);
                self
            }

            /// Whether streams request the next page while the items of this one are used; off
            /// by default.
            ///
            /// At most one page is requested ahead. There is no background task: the request
            /// advances when the stream is polled. If it fails, the error comes after the items
            /// of the page before it.
            pub const fn prefetch(mut self, on: bool) -> Self {
                self.paging.prefetch = on;
                self
            }

            /// One page, with the cursor of the next. Awaiting the call does the same.
            ///
            /// # Errors
            ///
            /// As [`send`](Self::send).
            pub async fn page(self) -> Result<crate::Page<$item>, crate::Error> {
                self.await
            }

            /// The call for the page after this one; `None` if it was the last.
            pub fn next_page(&self, page: &crate::Page<$item>) -> Option<Self> {
                page.next_cursor.clone().map(|cursor| self.clone().cursor(cursor))
            }

            /// A stream of the pages.
            pub fn pages(mut self) -> crate::Pages<$item> {
                self.paging.fit_page_size();
                crate::Pages::new(self.paging.clone(), move |cursor| {
                    let mut call = self.clone();
                    call.paging.cursor = cursor;
                    call.into_future()
                })
            }

            /// A stream of the items of all pages.
            pub fn items(self) -> crate::Items<$item> {
                crate::Items::new(self.pages())
            }

            /// All items of all pages in one vector.
            ///
            /// # Errors
            ///
            /// As [`send`](Self::send); the items before the error are lost. Use
            /// [`items`](Self::items) to keep them.
            pub async fn collect(self) -> Result<Vec<$item>, crate::Error> {
                self.items().collect().await
            }
        }
    };
}

pub(in crate::client) use paginated;
