//! Queueing a generation.

use http::Method;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::client::Error;
use crate::client::call::{Call, Endpoint, sealed::Sealed};
use crate::client::reply::Reply;
use crate::client::request::Request;
use crate::model::{AssetUrl, GenerationJob, GenerationType, JobId, VaultId};
use crate::path;

/// `POST /generations`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateGeneration {
    model_id: String,
    prompt: String,
    client_job_id: JobId,
    #[serde(flatten)]
    options: Options,
}

/// What a generation can do without.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Options {
    #[serde(skip_serializing_if = "Option::is_none")]
    generation_type: Option<GenerationType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    negative_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image_input: Option<AssetUrl>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image_inputs: Option<Vec<AssetUrl>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aspect_ratio: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch_count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vault_id: Option<VaultId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference_image_urls: Option<Vec<AssetUrl>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image_edit_endpoint_id: Option<String>,
}

impl CreateGeneration {
    pub(super) fn new(model_id: String, prompt: String) -> Self {
        let client_job_id = JobId::new(uuid::Uuid::new_v4().to_string());
        Self { model_id, prompt, client_job_id, options: Options::default() }
    }
}

impl<M> Call<CreateGeneration, M> {
    /// The id the job will have: the one given, or a UUID made with the call.
    ///
    /// Keep it before the call is sent, and the job can be found even when the answer
    /// is lost.
    ///
    /// ```
    /// # let client = promptarium::Client::new("https://prompts.example/api/v1", "k")?;
    /// let call = client.generations().create("local/plasma", "A harbour at dusk");
    /// assert_eq!(call.job_id().as_str().len(), 36);
    /// let call = call.client_job_id("invoice-17");
    /// assert_eq!(call.job_id().as_str(), "invoice-17");
    /// # Ok::<(), promptarium::Error>(())
    /// ```
    #[must_use]
    pub const fn job_id(&self) -> &JobId {
        &self.endpoint.client_job_id
    }

    /// The caller's own id for the job, in place of a made one (`GE-11`). Letters,
    /// digits, `-` and `_` are accepted everywhere.
    pub fn client_job_id(mut self, id: impl Into<JobId>) -> Self {
        self.endpoint.client_job_id = id.into();
        self
    }

    /// Makes a video (`GE-09`).
    pub fn video(self) -> Self {
        self.generation_type(GenerationType::Video)
    }

    /// What is made; an image unless told (`GE-09`).
    pub fn generation_type(mut self, generation_type: GenerationType) -> Self {
        self.endpoint.options.generation_type = Some(generation_type);
        self
    }

    /// What is not wanted (`GE-13`), in at most
    /// [`GENERATION_NEGATIVE_PROMPT_CHARS_MAX`](crate::limits::GENERATION_NEGATIVE_PROMPT_CHARS_MAX)
    /// characters (`LI-10`). A model that knows no such thing ignores it (`GE-14`).
    pub fn negative_prompt(mut self, text: impl Into<String>) -> Self {
        self.endpoint.options.negative_prompt = Some(text.into());
        self
    }

    /// An image to start from (`GE-15`): a public URL, or the
    /// [`AssetUrl`](crate::AssetUrl) of an upload.
    pub fn image_input(mut self, url: impl Into<String>) -> Self {
        self.endpoint.options.image_input = Some(url.into().into());
        self
    }

    /// Images to start from (`GE-16`): at most
    /// [`GENERATION_IMAGE_INPUTS_MAX`](crate::limits::GENERATION_IMAGE_INPUTS_MAX)
    /// (`LI-11`).
    pub fn image_inputs<I>(mut self, urls: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        self.endpoint.options.image_inputs = Some(AssetUrl::all(urls));
        self
    }

    /// The shape of the output, such as `16:9` (`GE-18`);
    /// [`GENERATION_ASPECT_RATIO_DEFAULT`](crate::limits::GENERATION_ASPECT_RATIO_DEFAULT)
    /// unless told (`GE-17`).
    pub fn aspect_ratio(mut self, aspect_ratio: impl Into<String>) -> Self {
        self.endpoint.options.aspect_ratio = Some(aspect_ratio.into());
        self
    }

    /// How many outputs are made (`GE-19`, `GE-30`):
    /// [`GENERATION_BATCH_COUNT`](crate::limits::GENERATION_BATCH_COUNT) (`LI-13`),
    /// one unless told.
    pub fn batch_count(mut self, outputs: u32) -> Self {
        self.endpoint.options.batch_count = Some(outputs);
        self
    }

    /// All parameters of the model at once, as a JSON object (`GE-20`). They replace
    /// those given before.
    ///
    /// Sending anything but an object fails with [`Error::is_input`].
    pub fn parameters(mut self, parameters: impl Into<Value>) -> Self {
        self.endpoint.options.parameters = Some(parameters.into());
        self
    }

    /// One parameter of the model (`GE-20`), beside those given before.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let parameters = &mut self.endpoint.options.parameters;
        let parameters = parameters.get_or_insert_with(|| Value::Object(Map::new()));
        // What is no object stays as it is, and is told when the call is sent.
        if let Value::Object(members) = parameters {
            members.insert(name.into(), value.into());
        }
        self
    }

    /// The vault that takes the output (`GE-21`); General unless told (`GE-22`).
    pub fn vault(mut self, vault: VaultId) -> Self {
        self.endpoint.options.vault_id = Some(vault);
        self
    }

    /// Images to go by (`GE-23`): at most
    /// [`GENERATION_REFERENCE_IMAGE_URLS_MAX`](crate::limits::GENERATION_REFERENCE_IMAGE_URLS_MAX)
    /// (`LI-12`).
    pub fn reference_image_urls<I>(mut self, urls: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        self.endpoint.options.reference_image_urls = Some(AssetUrl::all(urls));
        self
    }

    /// The endpoint of an editing model, which then works on
    /// [`image_input`](Self::image_input) (`GE-24`).
    pub fn image_edit_endpoint(mut self, endpoint_id: impl Into<String>) -> Self {
        self.endpoint.options.image_edit_endpoint_id = Some(endpoint_id.into());
        self
    }
}

impl Sealed for CreateGeneration {}

impl Endpoint for CreateGeneration {
    type Output = GenerationJob;

    fn request(&self) -> Result<Request, Error> {
        if !matches!(self.options.parameters, None | Some(Value::Object(_))) {
            return Err(Error::input("the parameters of a generation are no JSON object"));
        }
        let request = Request::new(Method::POST, path::GENERATIONS, path::GENERATIONS);
        request.keyed(self.client_job_id.clone()).json(self)
    }

    fn read(reply: Reply) -> Result<GenerationJob, Error> {
        reply.data()
    }
}
