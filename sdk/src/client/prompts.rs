//! The account's prompts: one method and one call for each endpoint.

mod write;

use http::Method;
use serde_json::json;

use super::Client;
use super::call::Call;
use super::methods::{endpoint, optional};
use super::pages::{Paging, paginated};
use super::reply::Reply;
use super::request::Request;
use crate::model::{Deleted, Page, Prompt, PromptId, PromptType, VaultId};
use crate::path;
pub use write::{CreatePrompt, UpdatePrompt};

/// The account's prompts; returned by [`Client::prompts`].
#[derive(Debug, Clone)]
pub struct Prompts {
    pub(super) client: Client,
}

impl Prompts {
    /// Lists prompts, newest first: one page, a stream of pages, or a stream of prompts.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// use promptarium::PromptType;
    ///
    /// let newest = client.prompts().list().page_size(5).page().await?;
    /// let all = client.prompts().list().collect().await?;
    ///
    /// let mut images = client.prompts().list().prompt_type(PromptType::Image).items();
    /// while let Some(prompt) = images.try_next().await? {
    ///     println!("{}", prompt.title);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn list(&self) -> ListPrompts {
        ListPrompts {
            context: self.client.context(),
            paging: Paging::default(),
            vault: None,
            prompt_type: None,
        }
    }

    /// Stores a prompt: a text prompt, unless [`image`](CreatePrompt::image) or
    /// [`video`](CreatePrompt::video) says otherwise.
    ///
    /// The title has [`PROMPT_TITLE_CHARS`](crate::limits::PROMPT_TITLE_CHARS), the text
    /// [`PROMPT_TEXT_CHARS`](crate::limits::PROMPT_TEXT_CHARS) characters; the service refuses
    /// others with [`Error::is_invalid`](crate::Error::is_invalid).
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let note = client.prompts().create("Tone", "Answer in two sentences.").await?;
    ///
    /// let image = client
    ///     .prompts()
    ///     .create("Dusk", "A harbour at dusk")
    ///     .image("local/plasma")
    ///     .aspect_ratio("16:9")
    ///     .await?;
    /// # Ok(()) }
    /// ```
    pub fn create(&self, title: impl Into<String>, text: impl Into<String>) -> CreatePrompt {
        CreatePrompt::new(self.client.context(), title.into(), text.into())
    }

    /// Reads one prompt.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let prompt = client.prompts().get(PromptId::new(7)).await?;
    /// println!("{}", prompt.text);
    /// # Ok(()) }
    /// ```
    pub fn get(&self, id: PromptId) -> Call<Prompt> {
        self.client.call(Request::new(Method::GET, path::PROMPT, path::prompt(id)))
    }

    /// Reads one prompt; `None` if the service does not have it.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// if let Some(prompt) = client.prompts().get_opt(PromptId::new(7)).await? {
    ///     println!("{}", prompt.text);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn get_opt(&self, id: PromptId) -> Call<Option<Prompt>> {
        let request = Request::new(Method::GET, path::PROMPT, path::prompt(id));
        self.client.call_with(request, Reply::data_if_found)
    }

    /// Changes the fields that are set, and no others. Returns the whole prompt as it is
    /// afterwards.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let prompt =
    ///     client.prompts().update(PromptId::new(7)).title("Dawn").clear_platform().await?;
    /// # Ok(()) }
    /// ```
    pub fn update(&self, id: PromptId) -> UpdatePrompt {
        UpdatePrompt::new(self.client.context(), id)
    }

    /// Deletes a prompt permanently, removes it from every vault and unlinks its images.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// client.prompts().delete(PromptId::new(7)).await?;
    /// # Ok(()) }
    /// ```
    pub fn delete(&self, id: PromptId) -> Call<Deleted<PromptId>> {
        let request = Request::new(Method::DELETE, path::PROMPT, path::prompt(id));
        self.client.call_with(request, move |reply| reply.data_or(Deleted { id, deleted: true }))
    }

    /// Adds a prompt to a vault; it stays in all others. Returns the prompt as it is afterwards.
    ///
    /// ```
    /// # use promptarium::*; async fn example(client: Client) -> Result<(), Error> {
    /// let prompt = client.prompts().save(PromptId::new(7), VaultId::new(3)).await?;
    /// assert!(prompt.vault_ids.contains(&VaultId::new(3)));
    /// # Ok(()) }
    /// ```
    pub fn save(&self, id: PromptId, vault: VaultId) -> Call<Prompt> {
        let request = Request::new(Method::POST, path::PROMPT_SAVE, path::prompt_save(id));
        self.client.call(request.json(&json!({ "vaultId": vault })))
    }
}

endpoint! {
    /// Lists prompts: `GET /prompts`; returned by [`Prompts::list`].
    ListPrompts { paging: Paging, vault: Option<VaultId>, prompt_type: Option<PromptType> }
        -> Page<Prompt>,
    |call| {
        let request = Request::new(Method::GET, path::PROMPTS, path::PROMPTS);
        let request = call.paging.apply(request).query("vaultId", call.vault);
        request.query("type", call.prompt_type.as_ref())
    },
    |_, reply| reply.page()
}

impl ListPrompts {
    optional! {
        /// Only prompts in this vault.
        vault, set_vault => vault: VaultId;
        /// Only prompts of this type.
        prompt_type, set_prompt_type => prompt_type: PromptType;
    }
}

paginated!(ListPrompts, Prompt);
