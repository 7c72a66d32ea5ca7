//! The lines of the file of a journal, and the calls that they tell of.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::Error;
use crate::model::{GenerationJob, JobId, Prompt, Timestamp, Vault};
use crate::resources::generations::CreateGeneration;
use crate::resources::prompts::CreatePrompt;
use crate::resources::uploads::{UploadImage, UploadedImage};
use crate::resources::vaults::{CreateVault, ForkVault};

/// The kinds of steps of this [`VERSION`](super::file::VERSION) of the file. Another needs a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Prompt,
    Vault,
    Fork,
    Upload,
    Generation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum List {
    Prompts,
    Vaults,
}

impl Kind {
    pub(super) const fn list(self) -> Option<List> {
        match self {
            Self::Prompt => Some(List::Prompts),
            Self::Vault | Self::Fork => Some(List::Vaults),
            Self::Upload | Self::Generation => None,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) key: String,
    #[serde(flatten)]
    pub(super) event: Event,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event {
    Begin(Begin),
    Done { value: Value },
    NotDone,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Begin {
    pub(super) kind: Kind,
    /// What the call sends, without URLs.
    pub(super) content: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) job: Option<JobId>,
    pub(super) at: Timestamp,
}

impl Line {
    pub(super) fn new(key: &str, event: Event) -> Self {
        Self { key: key.to_owned(), event }
    }
}

impl Begin {
    pub(super) fn new(kind: Kind, content: Value) -> Self {
        Self { kind, content, job: None, at: Timestamp::now() }
    }
}

/// A call that a [`Journal`](super::Journal) can make; [which](super#which-calls-are-steps) is
/// decided here.
// Since `Kind` cannot be named elsewhere.
pub trait Step:
    IntoFuture<Output = Result<<Self as Step>::Output, Error>, IntoFuture: Send> + Send + Sized
{
    /// The result of the call: [`Prompt`], [`Vault`], [`UploadedImage`], [`GenerationJob`].
    type Output: Serialize + DeserializeOwned + Send;

    #[doc(hidden)]
    const KIND: Kind;

    /// What tells it from another call; `null` if that is not known.
    #[doc(hidden)]
    fn content(&mut self) -> impl Future<Output = Value> + Send;

    /// The id of the job, which is `known` if the call was made before.
    #[doc(hidden)]
    fn job(&mut self, _known: Option<JobId>) -> Option<JobId> {
        None
    }
}

macro_rules! step {
    ($call:ident -> $output:ident, $kind:ident, $body:expr $(, $job:item)?) => {
        impl Step for $call {
            type Output = $output;
            const KIND: Kind = Kind::$kind;

            async fn content(&mut self) -> Value {
                let body: fn(&Self) -> Value = $body;
                let mut content = body(self);
                if let Some(members) = content.as_object_mut() {
                    members.retain(|name, _| !NOT_WRITTEN.contains(&name.as_str()));
                }
                content
            }

            $($job)?
        }
    };
}

step!(CreatePrompt -> Prompt, Prompt, |call| json!(call.builder.fields));
step!(CreateVault -> Vault, Vault, |call| json!(call.builder.fields));
step!(ForkVault -> Vault, Fork, |call| json!({ "copyOf": call.builder.0 }));
step!(
    CreateGeneration -> GenerationJob, Generation, |call| json!(call.builder),
    /// A job that is sent again has the same id, in case the service has it after all.
    fn job(&mut self, known: Option<JobId>) -> Option<JobId> {
        if let Some(job) = known {
            *self = self.clone().client_job_id(job);
        }
        Some(self.job_id().clone())
    }
);

impl Step for UploadImage<'_> {
    type Output = UploadedImage;
    const KIND: Kind = Kind::Upload;

    async fn content(&mut self) -> Value {
        self.size().await.map_or(Value::Null, |size| json!({ "size": size }))
    }
}

/// The members of a body that are not written: URLs, which may be signed, and the id of the job,
/// which has its own place.
const NOT_WRITTEN: [&str; 6] = [
    "clientJobId",
    "imageInput",
    "imageInputs",
    "imageUrl",
    "referenceImageUrls",
    "referenceMediaUrls",
];

pub(super) fn encoded(value: &impl Serialize) -> Result<Value, Error> {
    let failed = |error| Error::input("the result cannot be written to the journal").because(error);
    serde_json::to_value(value).map_err(failed)
}

pub(super) fn decoded<T: DeserializeOwned>(value: Value) -> Result<T, Error> {
    let failed = |error| Error::input("the result in the journal cannot be read").because(error);
    serde_json::from_value(value).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::Kind;
    use crate::durable::file::VERSION;

    #[test]
    fn a_kind_that_an_older_crate_does_not_know_needs_another_version_of_the_file() {
        // Whoever adds a kind here raises the version.
        let version_of = |kind| match kind {
            Kind::Prompt | Kind::Vault | Kind::Fork | Kind::Upload | Kind::Generation => 2,
        };
        assert_eq!(version_of(Kind::Fork), VERSION);
    }
}
