//! The account's prompts: one method and one call for each endpoint.

use http::Method;
use serde::Serialize;

use super::Client;
use super::call::{endpoint, optional};
use super::pages::{Paging, paginated};
use super::request::Request;
use crate::model::{AssetUrl, Deleted, Page, Prompt, PromptId, PromptType, VaultId};
use crate::path;

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
        let body = NewPrompt {
            title: title.into(),
            prompt: text.into(),
            platform: None,
            fields: Fields::default(),
        };
        CreatePrompt { context: self.client.context(), body }
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
        UpdatePrompt { context: self.client.context(), id, body: PromptPatch::default() }
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

/// The fields that create and update share.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_type: Option<PromptType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aspect_ratio: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vault_id: Option<VaultId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image_url: Option<AssetUrl>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference_media_urls: Option<Vec<AssetUrl>>,
}

/// The setters of [`Fields`].
macro_rules! fields {
    () => {
        /// Makes it an image prompt for this model. The model's id starts with the namespace of
        /// the provider, such as `local/plasma`.
        pub fn image(self, model_id: impl Into<String>) -> Self {
            self.prompt_type(PromptType::Image).model_id(model_id)
        }

        /// Makes it a video prompt for this model. The model's id starts with the namespace of
        /// the provider, such as `local/plasma-video`.
        pub fn video(self, model_id: impl Into<String>) -> Self {
            self.prompt_type(PromptType::Video).model_id(model_id)
        }

        optional! {
            /// The type. Image and video prompts need a model too.
            prompt_type, set_prompt_type => body.fields.prompt_type: PromptType;
            /// The model it is meant for; the id starts with the namespace of the provider.
            model_id, set_model_id => body.fields.model_id: String;
            /// The aspect ratio, such as `16:9`; at most
            /// [`PROMPT_ASPECT_RATIO_CHARS_MAX`](crate::limits::PROMPT_ASPECT_RATIO_CHARS_MAX)
            /// characters.
            aspect_ratio, set_aspect_ratio => body.fields.aspect_ratio: String;
            /// Adds the prompt to this vault. An update removes it from none.
            vault, set_vault => body.fields.vault_id: VaultId;
            /// An image that belongs to the prompt: a URL, or that of an upload.
            image_url, set_image_url => body.fields.image_url: AssetUrl;
        }

        /// Reference media: at most
        /// [`PROMPT_REFERENCE_MEDIA_URLS_MAX`](crate::limits::PROMPT_REFERENCE_MEDIA_URLS_MAX)
        /// URLs, in place of those set before.
        pub fn reference_media_urls<I>(mut self, urls: I) -> Self
        where
            I: IntoIterator<Item: Into<AssetUrl>>,
        {
            self.body.fields.reference_media_urls =
                Some(urls.into_iter().map(Into::into).collect());
            self
        }
    };
}

#[derive(Debug, Clone, Serialize)]
struct NewPrompt {
    title: String,
    prompt: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    platform: Option<String>,
    #[serde(flatten)]
    fields: Fields,
}

endpoint! {
    /// Stores a prompt: `POST /prompts`; returned by [`Prompts::create`].
    CreatePrompt { body: NewPrompt } -> Prompt,
    |call| Request::new(Method::POST, path::PROMPTS, path::PROMPTS).json(&call.body)
}

/// Fields of the prompt.
impl CreatePrompt {
    optional! {
        /// A free label for the platform or tool the prompt is meant for.
        platform, set_platform => body.platform: String;
    }

    fields!();
}

#[derive(Debug, Clone, Default, Serialize)]
struct PromptPatch {
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    /// `Some(None)` is `null`, which clears it.
    #[serde(skip_serializing_if = "Option::is_none")]
    platform: Option<Option<String>>,
    #[serde(flatten)]
    fields: Fields,
}

endpoint! {
    /// Changes a prompt: `PATCH /prompts/{promptId}`; returned by [`Prompts::update`].
    UpdatePrompt { id: PromptId, body: PromptPatch } -> Prompt,
    |call| Request::new(Method::PATCH, path::PROMPT, path::prompt(call.id)).json(&call.body)
}

/// Fields to change.
impl UpdatePrompt {
    optional! {
        /// A new title of [`PROMPT_TITLE_CHARS`](crate::limits::PROMPT_TITLE_CHARS) characters.
        title, set_title => body.title: String;
        /// A new text of [`PROMPT_TEXT_CHARS`](crate::limits::PROMPT_TEXT_CHARS) characters.
        text, set_text => body.prompt: String;
    }

    /// A new label for the platform or tool the prompt is meant for.
    pub fn platform(mut self, platform: impl Into<String>) -> Self {
        self.body.platform = Some(Some(platform.into()));
        self
    }

    /// As [`platform`](Self::platform), if there is a value. `None` changes nothing.
    pub fn set_platform(self, platform: Option<impl Into<String>>) -> Self {
        match platform {
            Some(platform) => self.platform(platform),
            None => self,
        }
    }

    /// Removes the label.
    pub fn clear_platform(mut self) -> Self {
        self.body.platform = Some(None);
        self
    }

    fields!();
}
