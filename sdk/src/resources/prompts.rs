//! The account's prompts: one method and one call for each endpoint.

mod list;

use http::Method;
use serde_json::json;

use super::Prompts;
use crate::call::Call;
use crate::macros::{body, call, optional, url_list};
use crate::model::{AssetUrl, Deleted, ExtraFields, Prompt, PromptId, PromptType, VaultId};
use crate::path;
use crate::send::reply::Reply;
use crate::send::request::Request;
pub use list::ListPrompts;

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
        ListPrompts::new(self.client.context())
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
        let body = PromptFields { title, prompt, ..PromptFields::default() };
        CreatePrompt { context: self.client.context(), body }
    }

    /// Reads one prompt.
    pub fn get(&self, id: PromptId) -> Call<Prompt> {
        self.client.call(Request::new(Method::GET, path::PROMPT, path::prompt(id)))
    }

    /// Reads one prompt; `None` if the service does not have it.
    pub fn get_opt(&self, id: PromptId) -> Call<Option<Prompt>> {
        let request = Request::new(Method::GET, path::PROMPT, path::prompt(id));
        Call::new(self.client.context(), request, Reply::data_if_found)
    }

    /// Changes the fields that are set, and no others. Returns the whole prompt as it is
    /// afterwards.
    pub fn update(&self, id: PromptId) -> UpdatePrompt {
        UpdatePrompt { context: self.client.context(), id, body: PromptFields::default() }
    }

    /// Deletes a prompt permanently, removes it from every vault and unlinks its images.
    pub fn delete(&self, id: PromptId) -> Call<Deleted<PromptId>> {
        let request = Request::new(Method::DELETE, path::PROMPT, path::prompt(id));
        Call::new(self.client.context(), request, move |reply| {
            reply.data_or(Deleted { id, deleted: true, extra: ExtraFields::new() })
        })
    }

    /// Adds a prompt to a vault; it stays in all others. Returns the prompt as it is afterwards.
    pub fn save(&self, id: PromptId, vault: VaultId) -> Call<Prompt> {
        let request = Request::new(Method::POST, path::PROMPT_SAVE, path::prompt_save(id));
        self.client.call(request.json(&json!({ "vaultId": vault })))
    }
}

body! {
    PromptFields {
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

/// The fields that create and update share.
macro_rules! fields {
    () => {
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
            platform, set_platform => body.platform: String;
            /// The type. Image and video prompts need a model too.
            prompt_type, set_prompt_type => body.prompt_type: PromptType;
            /// The model it is meant for; its id starts with the namespace of the provider. Input
            /// only: no response shows it.
            model_id, set_model_id => body.model_id: String;
            /// The aspect ratio, such as `16:9`. Input only: no response shows it.
            aspect_ratio, set_aspect_ratio => body.aspect_ratio: String;
            /// Adds the prompt to this vault. An update removes it from none.
            vault, set_vault => body.vault_id: VaultId;
            /// An image that belongs to the prompt: a URL, or that of an upload. Input only: no
            /// response shows it, and [`Prompt::images`](crate::Prompt::images) are generated ones.
            image_url, set_image_url => body.image_url: AssetUrl;
        }

        url_list! {
            /// Reference media, in place of those set before. Input only: no response shows them.
            reference_media_urls => body.reference_media_urls
        }
    };
}

/// Fields of the prompt; [`limits`](crate::limits) has the limits of each.
impl CreatePrompt {
    fields!();
}

call! {
    /// Stores a prompt: `POST /prompts`; returned by [`Prompts::create`].
    CreatePrompt { body: PromptFields } -> Prompt,
    |call| Request::new(Method::POST, path::PROMPTS, path::PROMPTS).json(&call.body),
    Reply::data
}

/// Fields to change.
impl UpdatePrompt {
    optional! {
        /// A new title.
        title, set_title => body.title: String;
        /// A new text.
        text, set_text => body.prompt: String;
    }

    /// Removes the label.
    pub fn clear_platform(mut self) -> Self {
        self.body.platform = Some(None);
        self
    }

    fields!();
}

call! {
    /// Changes a prompt: `PATCH /prompts/{promptId}`; returned by [`Prompts::update`].
    UpdatePrompt { id: PromptId, body: PromptFields } -> Prompt,
    |call| Request::new(Method::PATCH, path::PROMPT, path::prompt(call.id)).json(&call.body),
    Reply::data
}
