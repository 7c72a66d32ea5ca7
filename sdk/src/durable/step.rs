//! The calls that a journal can make.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::line::Kind;
use crate::error::Error;
use crate::model::{GenerationJob, JobId, Prompt, Vault};
use crate::resources::generations::CreateGeneration;
use crate::resources::prompts::CreatePrompt;
use crate::resources::uploads::{UploadImage, UploadedImage};
use crate::resources::vaults::{CreateVault, ForkVault};

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
