//! The account's prompts: one method and one call for each endpoint.

mod list;

use http::Method;
use serde_json::json;

use super::Prompts;
use crate::call::{Call, Write};
use crate::macros::{body, optional, urls};
use crate::model::{AssetUrl, Deleted, ExtraFields, Prompt, PromptId, PromptType, VaultId};
use crate::path;
use crate::send::reply::RawResponse;
use crate::send::request::Request;
pub use list::ListPrompts;
use list::PromptQuery;

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
