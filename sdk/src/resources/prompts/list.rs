//! The list of prompts: its filters, its pages, and the ways to read it.

use http::Method;

use crate::call::{Call, Endpoint, Prepared};
use crate::error::Error;
use crate::limits::PAGE_SIZE;
use crate::macros::{optional, settings};
use crate::model::{Cursor, Page, Prompt, PromptType, VaultId};
use crate::pages::{Items, Pages};
use crate::path;
use crate::send::reply::RawResponse;
use crate::send::request::Request;

/// Filters and pagination of a list of prompts.
#[derive(Debug, Clone, Default)]
pub struct PromptQuery {
    vault: Option<VaultId>,
    prompt_type: Option<PromptType>,
    search: Option<String>,
    page_size: Option<u32>,
    cursor: Option<Cursor>,
    max_items: Option<usize>,
    prefetch: bool,
}

/// Lists prompts: `GET /prompts`; returned by [`Prompts::list`](crate::resources::Prompts::list).
pub type ListPrompts = Call<Page<Prompt>, PromptQuery>;

/// Filters and pagination.
impl Call<Page<Prompt>, PromptQuery> {
    optional! {
        /// Only prompts in this vault.
        vault, set_vault => builder.vault: VaultId;
        /// Only prompts of this type.
        prompt_type, set_prompt_type => builder.prompt_type: PromptType;
        /// Only prompts with all these words in title, text or platform, in any case and without
        /// accents; `"two words"` is a phrase. Not every service has this search: one without it
        /// lists all. A page may be short and have a next one, which streams follow.
        search, set_search => builder.search: String;
        /// Resumes where an earlier list with the same filters stopped.
        cursor, set_cursor => builder.cursor: Cursor;
    }

    /// Items per page: [`PAGE_SIZE`](crate::limits::PAGE_SIZE); 20 for one [`page`](Self::page) by
    /// default, and 100 for streams. [`max_items`](Self::max_items) bounds the list.
    pub const fn page_size(mut self, items: u32) -> Self {
        self.builder.page_size = Some(items);
        self
    }

    /// Ends streams and [`collect`](Self::collect) after this many items, with no needless request.
    pub const fn max_items(mut self, items: usize) -> Self {
        self.builder.max_items = Some(items);
        self
    }

    settings! {
        /// Whether streams request the next page while the items of this one are used; off by
        /// default. There is no background task: the request advances when the stream is polled. If
        /// it fails, the page is requested again when it is needed.
        prefetch(on: bool) => builder.prefetch;
    }

    /// One page, with the cursor of the next. Awaiting the call does the same.
    pub async fn page(self) -> Result<Page<Prompt>, Error> {
        self.await
    }

    /// The call for the page after this one; `None` if it was the last.
    pub fn next_page(&self, page: &Page<Prompt>) -> Option<Self> {
        page.next_cursor.clone().map(|cursor| self.clone().cursor(cursor))
    }

    /// A stream of the pages.
    pub fn pages(self) -> Pages<Prompt> {
        let Self { context, builder: mut query, .. } = self;
        // No larger than the number of items that are wanted. The size stays the same for all
        // pages, as a service may refuse a cursor with another one.
        let wanted = query.max_items.and_then(|max| u32::try_from(max).ok()).unwrap_or(u32::MAX);
        let largest = query.page_size.unwrap_or(*PAGE_SIZE.end());
        query.page_size = Some(largest.min(wanted.max(1)));
        let (cursor, max_items) = (query.cursor.take(), query.max_items);
        Pages::new(cursor, max_items, query.prefetch, move |cursor| {
            let request = PromptQuery { cursor, ..query.clone() }.request();
            Call::new(context.clone(), request, RawResponse::fetched_page).into_future()
        })
    }

    /// A stream of the items of all pages.
    pub fn items(self) -> Items<Prompt> {
        Items::new(self.pages())
    }

    /// All items of all pages in one vector.
    pub async fn collect(self) -> Result<Vec<Prompt>, Error> {
        self.items().collect().await
    }
}

impl PromptQuery {
    fn request(&self) -> Request {
        let request = Request::new(Method::GET, path::PROMPTS, path::PROMPTS);
        let request = request.query("limit", self.page_size).query("cursor", self.cursor.as_ref());
        let request = request.query("vaultId", self.vault);
        request.query("type", self.prompt_type.as_ref()).query("q", self.search.as_ref())
    }
}

impl Endpoint<Page<Prompt>> for PromptQuery {
    fn prepare(self) -> Prepared<Page<Prompt>> {
        Prepared::new(self.request(), RawResponse::page)
    }
}
