//! The caller's prompts: one method an endpoint, one type a call.

mod list;
mod write;

use http::Method;
use serde::Serialize;

use super::Error;
use super::call::{Call, Endpoint, sealed::Sealed};
use super::mode::{Async, Bound, Mode};
use super::reply::Reply;
use super::request::Request;
use crate::model::{Deleted, Prompt, PromptId, VaultId};
use crate::path;
pub use list::ListPrompts;
pub use write::{CreatePrompt, PromptInput, UpdatePrompt};

/// The caller's prompts; made by [`Client::prompts`](crate::Client::prompts).
#[derive(Debug, Clone)]
pub struct Prompts<M = Async> {
    client: Bound<M>,
}

impl<M: Mode> Prompts<M> {
    pub(super) const fn new(client: Bound<M>) -> Self {
        Self { client }
    }

    /// Lists the caller's prompts (`PR-13`), as pages or as one stream.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// use promptarium::PromptType;
    ///
    /// let newest = client.prompts().list().page_size(5).page().await?;
    ///
    /// let mut pictures = client.prompts().list().prompt_type(PromptType::Image).stream();
    /// while let Some(prompt) = pictures.next().await {
    ///     println!("{}", prompt?.title);
    /// }
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn list(&self) -> Call<ListPrompts, M> {
        self.client.call(ListPrompts::default())
    }

    /// Stores a prompt (`PR-19`): a text prompt, unless
    /// [`image`](Call::image) or [`video`](Call::video) says otherwise (`PR-21`).
    ///
    /// The title has [`PROMPT_TITLE_CHARS`](crate::limits::PROMPT_TITLE_CHARS), the
    /// text [`PROMPT_TEXT_CHARS`](crate::limits::PROMPT_TEXT_CHARS) characters
    /// (`LI-02`, `LI-03`); the service refuses others with
    /// [`Error::is_invalid`].
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// let note = client.prompts().create("Tone", "Answer in two sentences.").await?;
    ///
    /// let picture = client
    ///     .prompts()
    ///     .create("Dusk", "A harbour at dusk")
    ///     .image("local/plasma")
    ///     .aspect_ratio("16:9")
    ///     .await?;
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn create(
        &self,
        title: impl Into<String>,
        text: impl Into<String>,
    ) -> Call<CreatePrompt, M> {
        self.client.call(CreatePrompt::new(title.into(), text.into()))
    }

    /// Reads one prompt (`PR-30`).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::PromptId;
    /// match client.prompts().get(PromptId::new(7)).await {
    ///     Ok(prompt) => println!("{}", prompt.text),
    ///     Err(error) if error.is_not_found() => println!("no such prompt"),
    ///     Err(error) => return Err(error),
    /// }
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn get(&self, id: PromptId) -> Call<GetPrompt, M> {
        self.client.call(GetPrompt { id })
    }

    /// Changes what is chained, and leaves the rest as it is (`PR-32`). Gives the
    /// whole prompt as it is afterwards (`PR-31`).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::PromptId;
    /// let prompt =
    ///     client.prompts().update(PromptId::new(7)).title("Dawn").clear_platform().await?;
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn update(&self, id: PromptId) -> Call<UpdatePrompt, M> {
        self.client.call(UpdatePrompt::new(id))
    }

    /// Deletes a prompt for good, takes it out of every vault and unlinks its
    /// pictures (`PR-40` to `PR-43`).
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::PromptId;
    /// client.prompts().delete(PromptId::new(7)).await?;
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn delete(&self, id: PromptId) -> Call<DeletePrompt, M> {
        self.client.call(DeletePrompt { id })
    }

    /// Adds a prompt to a vault and leaves it in all others (`PR-44` to `PR-46`).
    /// Gives the prompt as it is afterwards.
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::{PromptId, VaultId};
    /// let prompt = client.prompts().save(PromptId::new(7), VaultId::new(3)).await?;
    /// assert!(prompt.vault_ids.contains(&VaultId::new(3)));
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub fn save(&self, id: PromptId, vault: VaultId) -> Call<SavePrompt, M> {
        self.client.call(SavePrompt { id, vault_id: vault })
    }
}

/// `GET /prompts/{promptId}`.
#[derive(Debug, Clone)]
pub struct GetPrompt {
    id: PromptId,
}

impl Sealed for GetPrompt {}

impl Endpoint for GetPrompt {
    type Output = Prompt;

    fn request(&self) -> Result<Request, Error> {
        Ok(Request::new(Method::GET, path::PROMPT, path::prompt(self.id)))
    }

    fn read(reply: Reply) -> Result<Prompt, Error> {
        reply.data()
    }
}

/// `DELETE /prompts/{promptId}`.
#[derive(Debug, Clone)]
pub struct DeletePrompt {
    id: PromptId,
}

impl Sealed for DeletePrompt {}

impl Endpoint for DeletePrompt {
    type Output = Deleted<PromptId>;

    fn request(&self) -> Result<Request, Error> {
        Ok(Request::new(Method::DELETE, path::PROMPT, path::prompt(self.id)))
    }

    fn read(reply: Reply) -> Result<Deleted<PromptId>, Error> {
        reply.data()
    }
}

/// `POST /prompts/{promptId}/save`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SavePrompt {
    #[serde(skip)]
    id: PromptId,
    vault_id: VaultId,
}

impl Sealed for SavePrompt {}

impl Endpoint for SavePrompt {
    type Output = Prompt;

    fn request(&self) -> Result<Request, Error> {
        Request::new(Method::POST, path::PROMPT_SAVE, path::prompt_save(self.id)).json(self)
    }

    fn read(reply: Reply) -> Result<Prompt, Error> {
        reply.data()
    }
}
