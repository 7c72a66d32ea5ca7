//! One call of the API: what is asked, by which client, not yet sent.
//!
//! Every endpoint is the same kind of value, so whatever holds for all calls is
//! written once, here.

use futures_core::future::BoxFuture;

use super::reply::Reply;
use super::request::Request;
use super::{Client, Error};

pub use super::assets::{Assets, GetAsset};
pub use super::contents::{
    AddPrompts, ListVaultPrompts, MovePrompt, PinPrompt, RemovePrompt, VaultContents, VaultHandle,
};
pub use super::generations::{CreateGeneration, Generations, GetGenerationStatus, JobHandle, Wait};
pub use super::prompts::{
    CreatePrompt, DeletePrompt, GetPrompt, ListPrompts, PromptInput, Prompts, SavePrompt,
    UpdatePrompt,
};
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
/// ```no_run
/// # async fn example(client: promptarium::Client) -> Result<(), promptarium::Error> {
/// let call = client.prompts().create("Dusk", "A harbour at dusk").platform("poster");
/// let prompt = call.await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a call is sent only when it is awaited"]
pub struct Call<E> {
    pub(super) client: Client,
    pub(super) endpoint: E,
}

impl<E: Endpoint> IntoFuture for Call<E> {
    type Output = Result<E::Output, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let reply = self.client.send(self.endpoint.request()?).await?;
            E::read(reply)
        })
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
