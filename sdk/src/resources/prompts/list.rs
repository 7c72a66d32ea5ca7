//! The list of prompts: its filters, its pages, and the ways to read it.

use http::Method;

use crate::call::{Call, Context, in_runtime};
use crate::error::Error;
use crate::limits::PAGE_SIZE;
use crate::macros::{call, optional};
use crate::model::{Cursor, Page, Prompt, PromptType, VaultId};
use crate::pages::{Items, Pages};
use crate::path;
use crate::send::reply::Reply;
use crate::send::request::Request;

/// Filters and pagination.
impl ListPrompts {
    pub(super) const fn new(context: Context) -> Self {
        Self {
            context,
            vault: None,
            prompt_type: None,
            search: None,
            page_size: None,
            cursor: None,
            max_items: None,
            prefetch: false,
        }
    }

    optional! {
        /// Only prompts in this vault.
        vault, set_vault => vault: VaultId;
        /// Only prompts of this type.
        prompt_type, set_prompt_type => prompt_type: PromptType;
        /// Only prompts with all these words in title, text or platform, in any case and without
        /// accents; `"two words"` is a phrase. Not every service has this search: one without it
        /// lists all. A page may be short and have a next one, because a service may stop early:
        /// streams go on.
        search, set_search => search: String;
        /// Resumes where an earlier list with the same filters stopped.
        cursor, set_cursor => cursor: Cursor;
    }

    /// Items per page: [`PAGE_SIZE`](crate::limits::PAGE_SIZE); 20 for one [`page`](Self::page) by
    /// default, and 100 for streams. [`max_items`](Self::max_items) bounds the list.
    pub const fn page_size(mut self, items: u32) -> Self {
        self.page_size = Some(items);
        self
    }

    /// Ends streams and [`collect`](Self::collect) after this many items. No request is sent that is
    /// not needed for them.
    pub const fn max_items(mut self, items: usize) -> Self {
        self.max_items = Some(items);
        self
    }

    /// Whether streams request the next page while the items of this one are used; off by default.
    /// There is no background task: the request advances when the stream is polled. If it fails, the
    /// page is requested again when it is needed.
    pub const fn prefetch(mut self, on: bool) -> Self {
        self.prefetch = on;
        self
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
    pub fn pages(mut self) -> Pages<Prompt> {
        // No larger than the number of items that are wanted. The size stays the same for all
        // pages, as a service may refuse a cursor with another one.
        let wanted = self.max_items.and_then(|max| u32::try_from(max).ok()).unwrap_or(u32::MAX);
        let largest = self.page_size.unwrap_or(*PAGE_SIZE.end());
        self.page_size = Some(largest.min(wanted.max(1)));
        let (cursor, max_items) = (self.cursor.take(), self.max_items);
        Pages::new(cursor, max_items, self.prefetch, move |cursor| {
            let list = Self { cursor, ..self.clone() };
            let request = list.request();
            Box::pin(in_runtime(Call::new(list.context, request, Reply::fetched_page).run()))
        })
    }

    fn request(&self) -> Request {
        let request = Request::new(Method::GET, path::PROMPTS, path::PROMPTS);
        let request = request.query("limit", self.page_size).query("cursor", self.cursor.as_ref());
        let request = request.query("vaultId", self.vault);
        request.query("type", self.prompt_type.as_ref()).query("q", self.search.as_ref())
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

call! {
    /// Lists prompts: `GET /prompts`; returned by [`Prompts::list`](crate::resources::Prompts::list).
    ListPrompts {
        vault: Option<VaultId>,
        prompt_type: Option<PromptType>,
        search: Option<String>,
        page_size: Option<u32>,
        cursor: Option<Cursor>,
        max_items: Option<usize>,
        prefetch: bool,
    } -> Page<Prompt>,
    ListPrompts::request,
    Reply::page
}
