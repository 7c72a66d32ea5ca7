//! The calls that a journal can make.

use std::future::ready;

use futures_core::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Journal;
use super::line::Line;
use crate::error::Error;
use crate::model::{GenerationJob, JobId, Prompt, Vault};
use crate::resources::generations::CreateGeneration;
use crate::resources::prompts::CreatePrompt;
use crate::resources::uploads::{UploadImage, UploadedImage};
use crate::resources::vaults::CreateVault;
use crate::send::outcome::{AttemptFailure, Outcome};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Prompt,
    Vault,
    Upload,
    Generation,
}

impl Kind {
    /// Whether a list tells what was carried out.
    pub(super) const fn is_listed(self) -> bool {
        matches!(self, Self::Prompt | Self::Vault)
    }

    /// The fields by which a prompt or vault is recognized, with the values of those that a call
    /// does not set.
    pub(super) fn identity(self, of: &Value) -> Vec<Value> {
        let fields: &[(&str, Option<&str>)] = match self {
            Self::Prompt => &[
                ("title", None),
                ("prompt", None),
                ("promptType", Some("text")),
                ("platform", None),
            ],
            Self::Vault => {
                &[("name", None), ("description", None), ("visibility", Some("private"))]
            }
            Self::Upload | Self::Generation => &[],
        };
        let value = |(name, default): &(&str, Option<&str>)| match of.get(name) {
            None | Some(Value::Null) => json!(default),
            Some(value) => value.clone(),
        };
        fields.iter().map(value).collect()
    }
}

/// A call that a [`Journal`] can make:
/// [`CreatePrompt`](crate::request::CreatePrompt), [`CreateVault`](crate::request::CreateVault),
/// [`UploadImage`](crate::request::UploadImage) and
/// [`CreateGeneration`](crate::request::CreateGeneration). It cannot be implemented elsewhere.
pub trait Step: sealed::Sealed + Send + Sized {
    /// The result of the call: [`Prompt`], [`Vault`], [`UploadedImage`], [`GenerationJob`].
    type Output: Serialize + DeserializeOwned + Send;

    #[doc(hidden)]
    const KIND: Kind;

    /// What tells it from another call; `null` if that is not known.
    #[doc(hidden)]
    fn content(&self) -> BoxFuture<'static, Value>;

    #[doc(hidden)]
    fn make(
        self,
        journal: &Journal,
        key: &str,
    ) -> impl Future<Output = Result<Self::Output, Error>> + Send;

    #[doc(hidden)]
    fn job(&self) -> Option<JobId> {
        None
    }

    #[doc(hidden)]
    fn with_job(self, _: JobId) -> Self {
        self
    }

    /// Whether a call that failed was certainly not carried out.
    #[doc(hidden)]
    fn is_not_done(error: &Error, _has_slot: bool) -> bool {
        error.outcome() == Outcome::NotDone
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::CreatePrompt {}
    impl Sealed for super::CreateVault {}
    impl Sealed for super::UploadImage<'_> {}
    impl Sealed for super::CreateGeneration {}
}

impl Step for CreatePrompt {
    type Output = Prompt;
    const KIND: Kind = Kind::Prompt;

    fn content(&self) -> BoxFuture<'static, Value> {
        without_urls(&self.body)
    }

    async fn make(self, _: &Journal, _: &str) -> Result<Prompt, Error> {
        self.send().await
    }
}

impl Step for CreateVault {
    type Output = Vault;
    const KIND: Kind = Kind::Vault;

    fn content(&self) -> BoxFuture<'static, Value> {
        without_urls(&self.body)
    }

    async fn make(self, _: &Journal, _: &str) -> Result<Vault, Error> {
        self.send().await
    }
}

impl Step for CreateGeneration {
    type Output = GenerationJob;
    const KIND: Kind = Kind::Generation;

    fn content(&self) -> BoxFuture<'static, Value> {
        without_urls(self.body())
    }

    fn job(&self) -> Option<JobId> {
        Some(self.job_id().clone())
    }

    /// A job that is sent again has the same id, in case the service has it after all.
    fn with_job(self, job: JobId) -> Self {
        self.client_job_id(job)
    }

    async fn make(self, _: &Journal, _: &str) -> Result<GenerationJob, Error> {
        self.send().await
    }
}

impl Step for UploadImage<'_> {
    type Output = UploadedImage;
    const KIND: Kind = Kind::Upload;

    fn content(&self) -> BoxFuture<'static, Value> {
        let size = self.size();
        Box::pin(async { size.await.map_or(Value::Null, |size| json!({ "size": size })) })
    }

    async fn make(self, journal: &Journal, key: &str) -> Result<UploadedImage, Error> {
        let (shared, key) = (journal.shared.clone(), key.to_owned());
        let on_slot = move |image| -> BoxFuture<'static, _> {
            Box::pin(async move { shared.write(vec![Line::Slot { key, image }]).await })
        };
        Box::pin(self.once(on_slot).send()).await
    }

    /// Without a slot no byte was sent. With one, the storage must have refused it, or the file
    /// cannot be read to its end.
    fn is_not_done(error: &Error, has_slot: bool) -> bool {
        let refused = |failure| AttemptFailure::outcome(failure) == Outcome::NotDone;
        !has_slot || error.is_input() || error.attempt_failure().is_some_and(refused)
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

fn without_urls(body: &impl Serialize) -> BoxFuture<'static, Value> {
    let mut content = json!(body);
    if let Some(members) = content.as_object_mut() {
        members.retain(|name, _| !NOT_WRITTEN.contains(&name.as_str()));
    }
    Box::pin(ready(content))
}

pub(super) fn encoded(value: &impl Serialize) -> Result<Value, Error> {
    let failed = |error| Error::input("the result cannot be written to the journal").because(error);
    serde_json::to_value(value).map_err(failed)
}

pub(super) fn decoded<T: DeserializeOwned>(value: Value) -> Result<T, Error> {
    let failed = |error| Error::input("the result in the journal cannot be read").because(error);
    serde_json::from_value(value).map_err(failed)
}
