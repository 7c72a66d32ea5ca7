//! One call of the API: what is asked, by which client, not yet sent.
//!
//! Every endpoint is the same kind of value, so whatever holds for all calls is
//! written once, here.

use std::time::Duration;

use futures_core::future::BoxFuture;

use super::Error;
use super::meta::{Meta, WithMeta};
use super::mode::Bound;
use super::options::CallOptions;
use super::reply::Reply;
use super::request::Request;
use super::retry::RetryPolicy;

pub use super::assets::{Assets, GetAsset};
pub use super::contents::{
    AddPrompts, ListVaultPrompts, MovePrompt, PinPrompt, RemovePrompt, VaultContents, VaultHandle,
};
pub use super::generations::{CreateGeneration, Generations, GetGenerationStatus, JobHandle, Wait};
pub use super::mode::{Async, Mode};
pub use super::pages::Paginated;
pub use super::prompts::{
    CreatePrompt, DeletePrompt, GetPrompt, ListPrompts, PromptInput, Prompts, SavePrompt,
    UpdatePrompt,
};
pub use super::raw::RawRequest;
pub use super::uploads::{CreateUploadSlot, UploadImage, Uploads};
pub use super::vaults::{
    CreateVault, DeleteVault, ForkVault, GetVault, ListVaults, UpdateVault, VaultInput, Vaults,
};

/// One call of the API. Nothing is sent until it is awaited.
///
/// What a call cannot do without is given when it is made; the rest is chained.
///
/// # Errors
///
/// Awaiting gives an [`Error`] when the call cannot be sent, when the service
/// refuses it, and when the answer cannot be read.
///
/// ```
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// let call = client.prompts().create("Dusk", "A harbour at dusk").platform("poster");
/// let prompt = call.await?;
/// # Ok(())
/// # }
/// # promptarium::testing::demo::run(example);
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call is sent only when it is awaited, or by `send`"]
pub struct Call<E, M = Async> {
    pub(super) client: Bound<M>,
    pub(super) endpoint: E,
    pub(super) options: CallOptions,
}

/// What any call may have different from its client.
impl<E: Endpoint, M> Call<E, M> {
    /// How long the call may take with all its attempts and the delays between them,
    /// in place of the client's
    /// [`overall_timeout`](crate::ClientBuilder::overall_timeout).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout(timeout);
        self
    }

    /// How long one attempt may take, in place of the client's
    /// [`request_timeout`](crate::ClientBuilder::request_timeout).
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.options.request_timeout(timeout);
        self
    }

    /// How the call is tried again, in place of the client's
    /// [`retry`](crate::ClientBuilder::retry).
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.options.retry(policy);
        self
    }

    /// One more header, for a proxy or a trace say.
    ///
    /// Sending fails with [`Error::is_input`] for what cannot be a header, and for
    /// those that the client sets itself: `Authorization`, `Content-Type`, `Host` and
    /// what belongs to the connection.
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        self.options.header(name.as_ref(), value.as_ref());
        self
    }

    pub(super) async fn reply(self) -> Result<Reply, Error> {
        self.client.send(self.endpoint.request()?, &self.options).await
    }

    pub(super) async fn with_meta(self) -> Result<WithMeta<E::Output>, Error> {
        let reply = self.reply().await?;
        let meta = Meta::of(&reply);
        Ok(WithMeta { value: E::read(reply)?, meta })
    }
}

impl<E: Endpoint> Call<E> {
    /// Sends the call; awaiting it is the same.
    ///
    /// # Errors
    ///
    /// As for every [`Call`].
    pub async fn send(self) -> Result<E::Output, Error> {
        self.await
    }

    /// Sends the call, and gives the answer's status, headers, request id and body
    /// beside the value.
    ///
    /// # Errors
    ///
    /// As for every [`Call`].
    ///
    /// ```
    /// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
    /// # use promptarium::PromptId;
    /// let prompt = client.prompts().get(PromptId::new(7)).send_with_meta().await?;
    /// println!("{} (request id {:?})", prompt.title, prompt.meta.request_id());
    /// # Ok(())
    /// # }
    /// # promptarium::testing::demo::run(example);
    /// ```
    pub async fn send_with_meta(self) -> Result<WithMeta<E::Output>, Error> {
        self.with_meta().await
    }
}

impl<E: Endpoint> IntoFuture for Call<E> {
    type Output = Result<E::Output, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { E::read(self.reply().await?) })
    }
}

/// One endpoint of the API with its arguments. Implemented in this crate only.
pub trait Endpoint: sealed::Sealed + Send + 'static {
    /// What a success gives.
    type Output: Send + 'static;

    /// What to send. Pure.
    #[doc(hidden)]
    fn request(&self) -> Result<Request, Error>;

    /// What came back. Pure.
    #[doc(hidden)]
    fn read(reply: Reply) -> Result<Self::Output, Error>;
}

pub(super) mod sealed {
    /// Keeps [`Endpoint`](super::Endpoint) to this crate.
    pub trait Sealed {}
}
