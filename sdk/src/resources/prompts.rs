//! The account's prompts: one method and one call for each endpoint.

use http::Method;
use serde_json::json;

use super::Prompts;
use crate::call::{Call, Endpoint, Prepared, Write};
use crate::error::Error;
use crate::limits::PAGE_SIZE;
use crate::macros::{body, optional, settings, urls};
use crate::model::{
    AssetUrl, Cursor, Deleted, ExtraFields, Page, Prompt, PromptId, PromptType, VaultId,
};
use crate::pages::{Items, Pages};
use crate::path;
use crate::send::reply::RawResponse;
use crate::send::request::Request;

impl Prompts {
    /// Lists prompts, newest first: one page, a stream of pages, or a stream of prompts.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let newest = client.prompts().list().page_size(5).page().await?;
    /// let mut images = client.prompts().list().prompt_type(PromptType::Image).items();
    /// while let Some(prompt) = images.try_next().await? {
    ///     println!("{}", prompt.title);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn list(&self) -> ListPrompts {
        Call::of(self.client.context(), PromptQuery::default())
    }

    /// Stores a prompt: a text prompt, unless [`image`](CreatePrompt::image) or
    /// [`video`](CreatePrompt::video) says otherwise.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let note = client.prompts().create("Tone", "Answer in two sentences.").await?;
    /// let dusk = client.prompts().create("Dusk", "A harbour at dusk").image("local/plasma").await?;
    /// # Ok(()) }
    /// ```
    pub fn create(&self, title: impl Into<String>, text: impl Into<String>) -> CreatePrompt {
        let (title, prompt) = (Some(title.into()), Some(text.into()));
        let fields = PromptFields { title, prompt, ..PromptFields::default() };
        let request = Request::new(Method::POST, path::PROMPTS, path::PROMPTS);
        self.client.write(request, fields)
    }

    /// Reads one prompt.
    pub fn get(&self, id: PromptId) -> Call<Prompt> {
        self.client.call(Request::new(Method::GET, path::PROMPT, path::prompt(id)))
    }

    /// Reads one prompt; `None` if the service does not have it.
    pub fn get_opt(&self, id: PromptId) -> Call<Option<Prompt>> {
        let request = Request::new(Method::GET, path::PROMPT, path::prompt(id));
        Call::new(self.client.context(), request, RawResponse::data_if_found)
    }

    /// Changes the fields that are set, and no others. Returns the whole changed prompt.
    pub fn update(&self, id: PromptId) -> UpdatePrompt {
        let request = Request::new(Method::PATCH, path::PROMPT, path::prompt(id));
        self.client.write(request, PromptFields::default())
    }

    /// Deletes a prompt permanently, removes it from every vault and unlinks its images.
    pub fn delete(&self, id: PromptId) -> Call<Deleted<PromptId>> {
        let request = Request::new(Method::DELETE, path::PROMPT, path::prompt(id));
        self.client.call_or(request, Deleted { id, deleted: true, extra: ExtraFields::new() })
    }

    /// Adds a prompt to a vault; it stays in all others. Returns the prompt as it is afterwards.
    pub fn save(&self, id: PromptId, vault: VaultId) -> Call<Prompt> {
        let request = Request::new(Method::POST, path::PROMPT_SAVE, path::prompt_save(id));
        self.client.call(request.json(&json!({ "vaultId": vault })))
    }
}

body! {
    /// Fields of a prompt.
    pub PromptFields {
        title: String,
        prompt: String,
        platform: Option<String>,
        prompt_type: PromptType,
        model_id: String,
        aspect_ratio: String,
        vault_id: VaultId,
        image_url: AssetUrl,
        reference_media_urls: Vec<AssetUrl>,
    }
}

/// Stores a prompt: `POST /prompts`; returned by [`Prompts::create`].
pub type CreatePrompt = Call<Prompt, Write<PromptFields>>;

/// Changes a prompt: `PATCH /prompts/{promptId}`; returned by [`Prompts::update`].
pub type UpdatePrompt = Call<Prompt, Write<PromptFields, PromptId>>;

/// Fields of a prompt; [`limits`](crate::limits) has the limits of each.
impl<Id> Call<Prompt, Write<PromptFields, Id>> {
    /// Makes it an image prompt for this model, such as `local/plasma`.
    pub fn image(self, model_id: impl Into<String>) -> Self {
        self.prompt_type(PromptType::Image).model_id(model_id)
    }

    /// Makes it a video prompt for this model, such as `local/plasma-video`.
    pub fn video(self, model_id: impl Into<String>) -> Self {
        self.prompt_type(PromptType::Video).model_id(model_id)
    }

    optional! {
        /// A free label for the platform or tool that the prompt is meant for.
        platform, set_platform => builder.fields.platform: String;
        /// The type. Image and video prompts need a model too.
        prompt_type, set_prompt_type => builder.fields.prompt_type: PromptType;
        /// The model it is meant for; its id starts with the namespace of the provider. Input
        /// only: no response shows it.
        model_id, set_model_id => builder.fields.model_id: String;
        /// The aspect ratio, such as `16:9`. Input only: no response shows it.
        aspect_ratio, set_aspect_ratio => builder.fields.aspect_ratio: String;
        /// Adds the prompt to this vault. An update removes it from none.
        vault, set_vault => builder.fields.vault_id: VaultId;
        /// An image that belongs to the prompt: a URL, or that of an upload. Input only: no
        /// response shows it, and [`Prompt::images`](crate::Prompt::images) are generated ones.
        image_url, set_image_url => builder.fields.image_url: AssetUrl;
    }

    urls! {
        /// Reference media, in place of those set before. Input only: no response shows them.
        reference_media_urls => builder.fields.reference_media_urls;
    }
}

/// Fields to change.
impl Call<Prompt, Write<PromptFields, PromptId>> {
    optional! {
        /// A new title.
        title, set_title => builder.fields.title: String;
        /// A new text.
        text, set_text => builder.fields.prompt: String;
    }

    /// Removes the label.
    pub fn clear_platform(mut self) -> Self {
        self.builder.fields.platform = Some(None);
        self
    }
}

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
