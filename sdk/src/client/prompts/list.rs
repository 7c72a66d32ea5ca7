//! The list of the caller's prompts.

use http::Method;

use crate::client::call::{Call, Endpoint, sealed::Sealed};
use crate::client::reply::Reply;
use crate::client::request::Request;
use crate::client::{Error, Items, Pages};
use crate::model::{Cursor, Page, Prompt, PromptType, VaultId};
use crate::path;

/// `GET /prompts`.
#[derive(Debug, Clone, Default)]
pub struct ListPrompts {
    page_size: Option<u32>,
    vault: Option<VaultId>,
    prompt_type: Option<PromptType>,
    cursor: Option<Cursor>,
}

impl Call<ListPrompts> {
    /// Entries a page may hold: [`PAGE_SIZE`](crate::limits::PAGE_SIZE), or
    /// [`PAGE_SIZE_DEFAULT`](crate::limits::PAGE_SIZE_DEFAULT) unless told (`PG-02`,
    /// `LI-01`). It bounds a page, not the list.
    pub const fn page_size(mut self, entries: u32) -> Self {
        self.endpoint.page_size = Some(entries);
        self
    }

    /// Only prompts that are in this vault (`PR-15`).
    pub const fn vault(mut self, vault: VaultId) -> Self {
        self.endpoint.vault = Some(vault);
        self
    }

    /// Only prompts of this type (`PR-16`).
    pub fn prompt_type(mut self, prompt_type: PromptType) -> Self {
        self.endpoint.prompt_type = Some(prompt_type);
        self
    }

    /// Starts where an earlier list with the same filters stopped (`PG-06`).
    pub fn from_cursor(mut self, cursor: impl Into<Cursor>) -> Self {
        self.endpoint.cursor = Some(cursor.into());
        self
    }

    /// One page, with the cursor of the next. Awaiting the call itself is the same.
    ///
    /// # Errors
    ///
    /// As for every [`Call`].
    pub async fn page(self) -> Result<Page<Prompt>, Error> {
        self.await
    }

    /// Every page from here on, each fetched when it is asked for.
    pub fn pages(self) -> Pages<Prompt> {
        Pages::new(self.endpoint.cursor.clone(), move |cursor| {
            let mut call = self.clone();
            call.endpoint.cursor = cursor;
            call.into_future()
        })
    }

    /// Every prompt from here on, over all pages.
    pub fn stream(self) -> Items<Prompt> {
        Items::new(self.pages())
    }
}

impl Sealed for ListPrompts {}

impl Endpoint for ListPrompts {
    type Output = Page<Prompt>;

    fn request(&self) -> Result<Request, Error> {
        Ok(Request::new(Method::GET, path::PROMPTS, path::PROMPTS)
            .query("limit", self.page_size)
            .query("cursor", self.cursor.as_ref())
            .query("vaultId", self.vault)
            .query("type", self.prompt_type.as_ref()))
    }

    fn read(reply: Reply) -> Result<Page<Prompt>, Error> {
        reply.page()
    }
}
