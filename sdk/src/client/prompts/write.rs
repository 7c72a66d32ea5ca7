//! Creating and updating a prompt: two calls that take almost the same fields.

use http::Method;
use serde::Serialize;

use crate::client::Error;
use crate::client::call::{Call, Endpoint, sealed::Sealed};
use crate::client::reply::Reply;
use crate::client::request::Request;
use crate::model::{AssetUrl, Change, Prompt, PromptId, PromptType, VaultId};
use crate::path;

/// What create and update take alike.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fields {
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

/// A call that writes a prompt: [`CreatePrompt`] or [`UpdatePrompt`].
pub trait PromptInput: Endpoint {
    #[doc(hidden)]
    fn fields(&mut self) -> &mut Fields;
}

/// What creating and updating a prompt take alike.
///
/// A prompt does not show its model, aspect ratio, image and reference media
/// (`PR-12`).
impl<E: PromptInput, M> Call<E, M> {
    /// Makes it an image prompt for this model, whose id starts with the provider's
    /// namespace (`PR-25`), such as `local/plasma`.
    pub fn image(self, model_id: impl Into<String>) -> Self {
        self.prompt_type(PromptType::Image).model_id(model_id)
    }

    /// Makes it a video prompt for this model, whose id starts with the provider's
    /// namespace (`PR-25`), such as `local/plasma-video`.
    pub fn video(self, model_id: impl Into<String>) -> Self {
        self.prompt_type(PromptType::Video).model_id(model_id)
    }

    /// What the prompt asks for. Images and videos need a model too (`PR-24`,
    /// `PR-36`).
    pub fn prompt_type(mut self, prompt_type: PromptType) -> Self {
        self.endpoint.fields().prompt_type = Some(prompt_type);
        self
    }

    /// The model it is meant for, which starts with the provider's namespace
    /// (`PR-25`).
    pub fn model_id(mut self, model_id: impl Into<String>) -> Self {
        self.endpoint.fields().model_id = Some(model_id.into());
        self
    }

    /// The shape of what is to be made, such as `16:9`; at most
    /// [`PROMPT_ASPECT_RATIO_CHARS_MAX`](crate::limits::PROMPT_ASPECT_RATIO_CHARS_MAX)
    /// characters (`LI-04`).
    pub fn aspect_ratio(mut self, aspect_ratio: impl Into<String>) -> Self {
        self.endpoint.fields().aspect_ratio = Some(aspect_ratio.into());
        self
    }

    /// Adds the prompt to this vault (`PR-27`, `PR-38`). An update takes it out of
    /// none.
    pub fn vault(mut self, vault: VaultId) -> Self {
        self.endpoint.fields().vault_id = Some(vault);
        self
    }

    /// A picture that belongs to the prompt (`PR-28`): a URL, or the
    /// [`AssetUrl`](crate::AssetUrl) of an upload.
    pub fn image_url(mut self, url: impl Into<String>) -> Self {
        self.endpoint.fields().image_url = Some(url.into().into());
        self
    }

    /// Media to go by (`PR-29`): at most
    /// [`PROMPT_REFERENCE_MEDIA_URLS_MAX`](crate::limits::PROMPT_REFERENCE_MEDIA_URLS_MAX)
    /// addresses (`LI-05`). They replace those given before (`PR-39`).
    pub fn reference_media_urls<I>(mut self, urls: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        self.endpoint.fields().reference_media_urls = Some(AssetUrl::all(urls));
        self
    }
}

/// `POST /prompts`.
#[derive(Debug, Clone, Serialize)]
pub struct CreatePrompt {
    title: String,
    prompt: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    platform: Option<String>,
    #[serde(flatten)]
    fields: Fields,
}

impl CreatePrompt {
    pub(super) fn new(title: String, prompt: String) -> Self {
        Self { title, prompt, platform: None, fields: Fields::default() }
    }
}

impl<M> Call<CreatePrompt, M> {
    /// A free label for the platform or tool the prompt is meant for (`PR-23`).
    pub fn platform(mut self, platform: impl Into<String>) -> Self {
        self.endpoint.platform = Some(platform.into());
        self
    }
}

impl Sealed for CreatePrompt {}

impl PromptInput for CreatePrompt {
    fn fields(&mut self) -> &mut Fields {
        &mut self.fields
    }
}

impl Endpoint for CreatePrompt {
    type Output = Prompt;

    fn request(&self) -> Result<Request, Error> {
        Request::new(Method::POST, path::PROMPTS, path::PROMPTS).json(self)
    }

    fn read(reply: Reply) -> Result<Prompt, Error> {
        reply.data()
    }
}

/// `PATCH /prompts/{promptId}`.
#[derive(Debug, Clone, Serialize)]
pub struct UpdatePrompt {
    #[serde(skip)]
    id: PromptId,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    #[serde(skip_serializing_if = "Change::is_leave")]
    platform: Change<String>,
    #[serde(flatten)]
    fields: Fields,
}

impl UpdatePrompt {
    pub(super) fn new(id: PromptId) -> Self {
        let fields = Fields::default();
        Self { id, title: None, prompt: None, platform: Change::Leave, fields }
    }
}

impl<M> Call<UpdatePrompt, M> {
    /// A new title (`PR-33`), of
    /// [`PROMPT_TITLE_CHARS`](crate::limits::PROMPT_TITLE_CHARS) characters (`LI-02`).
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.endpoint.title = Some(title.into());
        self
    }

    /// A new text (`PR-33`), of
    /// [`PROMPT_TEXT_CHARS`](crate::limits::PROMPT_TEXT_CHARS) characters (`LI-03`).
    pub fn prompt(mut self, text: impl Into<String>) -> Self {
        self.endpoint.prompt = Some(text.into());
        self
    }

    /// A new label (`PR-33`): text sets it, `None` and [`Change::Clear`] clear it.
    pub fn platform(mut self, platform: impl Into<Change<String>>) -> Self {
        self.endpoint.platform = platform.into();
        self
    }

    /// Takes the label away.
    pub fn clear_platform(self) -> Self {
        self.platform(Change::Clear)
    }
}

impl Sealed for UpdatePrompt {}

impl PromptInput for UpdatePrompt {
    fn fields(&mut self) -> &mut Fields {
        &mut self.fields
    }
}

impl Endpoint for UpdatePrompt {
    type Output = Prompt;

    fn request(&self) -> Result<Request, Error> {
        Request::new(Method::PATCH, path::PROMPT, path::prompt(self.id)).json(self)
    }

    fn read(reply: Reply) -> Result<Prompt, Error> {
        reply.data()
    }
}
