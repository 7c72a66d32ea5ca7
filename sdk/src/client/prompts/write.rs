//! Creating and changing a prompt.

use http::Method;
use serde::Serialize;

use crate::client::call::Context;
use crate::client::methods::{endpoint, optional, url_list};
use crate::client::request::Request;
use crate::model::{AssetUrl, Prompt, PromptId, PromptType, VaultId};
use crate::path;

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
    /// Stores a prompt: `POST /prompts`; returned by [`Prompts::create`](super::Prompts::create).
    CreatePrompt { body: NewPrompt } -> Prompt,
    |call| Request::new(Method::POST, path::PROMPTS, path::PROMPTS).json(&call.body)
}

/// Fields of the prompt.
impl CreatePrompt {
    pub(super) fn new(context: Context, title: String, prompt: String) -> Self {
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
    /// Changes a prompt: `PATCH /prompts/{promptId}`; returned by [`Prompts::update`](super::Prompts::update).
    UpdatePrompt { id: PromptId, body: PromptPatch } -> Prompt,
    |call| Request::new(Method::PATCH, path::PROMPT, path::prompt(call.id)).json(&call.body)
}

/// Fields to change.
impl UpdatePrompt {
    pub(super) fn new(context: Context, id: PromptId) -> Self {
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
