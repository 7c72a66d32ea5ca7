//! The account's prompts: one method and one call for each endpoint.

mod write;

use http::Method;

use super::Client;
use super::call::{endpoint, optional};
use super::pages::{Paging, paginated};
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
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// use promptarium::PromptType;
    ///
    /// let newest = client.prompts().list().page_size(5).page().await?;
    /// let all = client.prompts().list().collect().await?;
    ///
    /// let mut images = client.prompts().list().prompt_type(PromptType::Image).items();
    /// while let Some(prompt) = images.try_next().await? {
    ///     println!("{}", prompt.title);
    /// }
    /// # Ok(())
    /// # }
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
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// let note = client.prompts().create("Tone", "Answer in two sentences.").await?;
    ///
    /// let image = client
    ///     .prompts()
    ///     .create("Dusk", "A harbour at dusk")
    ///     .image("local/plasma")
    ///     .aspect_ratio("16:9")
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn create(&self, title: impl Into<String>, text: impl Into<String>) -> CreatePrompt {
        CreatePrompt::new(self.client.context(), title.into(), text.into())
    }

    /// Reads one prompt.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::PromptId;
    /// let prompt = client.prompts().get(PromptId::new(7)).await?;
    /// println!("{}", prompt.text);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(&self, id: PromptId) -> GetPrompt {
        GetPrompt { context: self.client.context(), id }
    }

    /// Reads one prompt; `None` if the service does not have it.
    pub fn get_opt(&self, id: PromptId) -> GetPromptOpt {
        GetPromptOpt { context: self.client.context(), id }
    }

    /// Changes the fields that are set, and no others. Returns the whole prompt as it is
    /// afterwards.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::PromptId;
    /// let prompt =
    ///     client.prompts().update(PromptId::new(7)).title("Dawn").clear_platform().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn update(&self, id: PromptId) -> UpdatePrompt {
        UpdatePrompt::new(self.client.context(), id)
    }

    /// Deletes a prompt permanently, removes it from every vault and unlinks its images.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::PromptId;
    /// client.prompts().delete(PromptId::new(7)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(&self, id: PromptId) -> DeletePrompt {
        DeletePrompt { context: self.client.context(), id }
    }

    /// Adds a prompt to a vault; it stays in all others. Returns the prompt as it is afterwards.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::{PromptId, VaultId};
    /// let prompt = client.prompts().save(PromptId::new(7), VaultId::new(3)).await?;
    /// assert!(prompt.vault_ids.contains(&VaultId::new(3)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn save(&self, id: PromptId, vault: VaultId) -> SavePrompt {
        SavePrompt { context: self.client.context(), id, vault }
    }
}

endpoint! {
    /// Lists prompts: `GET /prompts`; returned by [`Prompts::list`].
    ListPrompts { paging: Paging, vault: Option<VaultId>, prompt_type: Option<PromptType> }
        -> Page<Prompt>,
    |call| {
        let request = Request::new(Method::GET, path::PROMPTS, path::PROMPTS);
        let request = call.paging.apply(request).query("vaultId", call.vault);
        Ok(request.query("type", call.prompt_type.as_ref()))
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

endpoint! {
    /// Reads one prompt: `GET /prompts/{promptId}`; returned by [`Prompts::get`].
    GetPrompt { id: PromptId } -> Prompt,
    |call| Ok(Request::new(Method::GET, path::PROMPT, path::prompt(call.id)))
}

endpoint! {
    /// Reads one prompt that may be absent: `GET /prompts/{promptId}`; returned by
    /// [`Prompts::get_opt`].
    GetPromptOpt { id: PromptId } -> Option<Prompt>,
    |call| Ok(Request::new(Method::GET, path::PROMPT, path::prompt(call.id))),
    |_, reply| reply.data_if_found()
}

endpoint! {
    /// Deletes a prompt: `DELETE /prompts/{promptId}`; returned by [`Prompts::delete`].
    DeletePrompt { id: PromptId } -> Deleted<PromptId>,
    |call| Ok(Request::new(Method::DELETE, path::PROMPT, path::prompt(call.id))),
    |call, reply| reply.data_or(|| Deleted { id: call.id, deleted: true })
}

endpoint! {
    /// Adds a prompt to a vault: `POST /prompts/{promptId}/save`; returned by [`Prompts::save`].
    SavePrompt { id: PromptId, vault: VaultId } -> Prompt,
    |call| {
        let request = Request::new(Method::POST, path::PROMPT_SAVE, path::prompt_save(call.id));
        request.json(&serde_json::json!({ "vaultId": call.vault }))
    }
}
