//! The client: a thin face over requests, replies and the one function that sends.
//!
//! Each resource has a room of its own; none of them knows how a request travels.

mod backoff;
mod builder;
pub mod call;
mod clock;
mod config;
mod environment;
mod error;
mod meta;
mod mode;
mod options;
mod pages;
mod raw;
mod reply;
mod request;
mod retry;
mod send;
mod trace;
pub mod transport;

mod assets;
mod contents;
mod generations;
mod prompts;
mod uploads;
mod vaults;

// Last, so that its methods come after the awaited ones in the documentation.
#[cfg(feature = "blocking")]
pub mod blocking;

use std::fmt;
use std::sync::Arc;

pub use assets::Asset;
pub use builder::ClientBuilder;
pub use clock::Clock;
pub use error::{Error, ErrorKind};
pub use generations::{FinishedGeneration, Watch};
pub use meta::{Meta, WithMeta};
pub use pages::{Items, Pages};
pub use raw::RawResponse;
pub use retry::{RetryBudget, RetryPolicy};
pub use uploads::{UploadProgress, UploadSource, UploadedImage};

use crate::model::VaultId;
use assets::Assets;
use call::Call;
use config::Config;
use contents::VaultHandle;
use generations::Generations;
use mode::{Async, Bound};
use prompts::Prompts;
use uploads::Uploads;
use vaults::Vaults;

/// Speaks to one deployment of the API with one key.
///
/// Cheap to clone: clones share connections and settings. `Debug` shows the base
/// URL and never the key.
#[derive(Clone)]
pub struct Client(Arc<Config>);

impl Client {
    /// A client with every setting at its default.
    ///
    /// `base_url` is the root of the API, up to and including `/api/v1` (`EN-01`).
    /// Reads nothing from the environment and sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_config`] for a base URL or a key that cannot be used.
    ///
    /// ```
    /// use promptarium::Client;
    ///
    /// let client = Client::new("https://prompts.example/api/v1", "promptarium_live_a1_s3cret")?;
    /// assert_eq!(client.base_url(), "https://prompts.example/api/v1");
    ///
    /// assert!(Client::new("prompts.example", "promptarium_live_a1_s3cret").is_err());
    /// # Ok::<(), promptarium::Error>(())
    /// ```
    pub fn new(base_url: impl AsRef<str>, api_key: impl Into<String>) -> Result<Self, Error> {
        Self::builder().base_url(base_url).api_key(api_key).build()
    }

    /// A client from `PROMPTARIUM_BASE_URL` and `PROMPTARIUM_API_KEY`, with every
    /// other setting at its default.
    ///
    /// # Errors
    ///
    /// [`Error::is_config`], naming the variable that is missing or cannot be used.
    ///
    /// ```no_run
    /// let client = promptarium::Client::from_env()?;
    /// # Ok::<(), promptarium::Error>(())
    /// ```
    pub fn from_env() -> Result<Self, Error> {
        ClientBuilder::from_env()?.build()
    }

    /// Starts from the defaults; see [`ClientBuilder`] for what can be set.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// The root of the API, without a slash at its end.
    #[must_use]
    pub fn base_url(&self) -> &str {
        self.0.base_url.as_str().trim_end_matches('/')
    }

    /// The caller's prompts.
    #[must_use]
    pub fn prompts(&self) -> Prompts {
        Prompts::new(self.bound())
    }

    /// The caller's vaults.
    #[must_use]
    pub fn vaults(&self) -> Vaults {
        Vaults::new(self.bound())
    }

    /// What is in one vault. Sends nothing, and does not check that the vault is
    /// there.
    #[must_use]
    pub fn vault(&self, id: VaultId) -> VaultHandle {
        VaultHandle::new(self.bound(), id)
    }

    /// Media that external models make.
    #[must_use]
    pub fn generations(&self) -> Generations {
        Generations::new(self.bound())
    }

    /// Images for later calls.
    #[must_use]
    pub fn uploads(&self) -> Uploads {
        Uploads::new(self.bound())
    }

    /// The bytes of uploaded and generated media.
    #[must_use]
    pub fn assets(&self) -> Assets {
        Assets::new(self.bound())
    }

    fn call<E>(&self, endpoint: E) -> Call<E> {
        self.bound().call(endpoint)
    }

    fn bound(&self) -> Bound<Async> {
        Bound { client: self.clone(), mode: Async }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base_url", &self.base_url()).finish_non_exhaustive()
    }
}
