//! The account's prompts: one method and one call for each endpoint.

use http::Method;
use serde::Serialize;
use serde_json::json;

use super::Client;
use super::call::{Call, Context};
use super::methods::{endpoint, optional, url_list};
use super::pages::{Paging, paginated};
use super::reply::Reply;
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

        url_list! {
            /// Reference media: at most
            /// [`PROMPT_REFERENCE_MEDIA_URLS_MAX`](crate::limits::PROMPT_REFERENCE_MEDIA_URLS_MAX)
            /// URLs, in place of those set before.
            reference_media_urls => body.fields.reference_media_urls
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
    /// Stores a prompt: `POST /prompts`; returned by [`Prompts::create`](Prompts::create).
    CreatePrompt { body: NewPrompt } -> Prompt,
    |call| Request::new(Method::POST, path::PROMPTS, path::PROMPTS).json(&call.body)
}

/// Fields of the prompt.
impl CreatePrompt {
    fn new(context: Context, title: String, prompt: String) -> Self {
        let body = NewPrompt { title, prompt, platform: None, fields: Fields::default() };
        Self { context, body }
    }

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
    /// Changes a prompt: `PATCH /prompts/{promptId}`; returned by [`Prompts::update`](Prompts::update).
    UpdatePrompt { id: PromptId, body: PromptPatch } -> Prompt,
    |call| Request::new(Method::PATCH, path::PROMPT, path::prompt(call.id)).json(&call.body)
}

/// Fields to change.
impl UpdatePrompt {
    fn new(context: Context, id: PromptId) -> Self {
        Self { context, id, body: PromptPatch::default() }
    }

    optional! {
        /// A new title of [`PROMPT_TITLE_CHARS`](crate::limits::PROMPT_TITLE_CHARS) characters.
        title, set_title => body.title: String;
        /// A new text of [`PROMPT_TEXT_CHARS`](crate::limits::PROMPT_TEXT_CHARS) characters.
        text, set_text => body.prompt: String;
        /// A new label for the platform or tool the prompt is meant for.
        platform, set_platform => body.platform: String;
    }

    /// Removes the label.
    pub fn clear_platform(mut self) -> Self {
        self.body.platform = Some(None);
        self
    }

    fields!();
}
