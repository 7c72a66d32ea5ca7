//! The client: a module for each resource, and below them what all calls share.

mod builder;
mod call;
mod config;
mod error;
mod methods;
mod pages;
mod raw;
mod reply;
mod request;
mod retry;
mod send;
mod timeout;
mod trace;
pub mod transport;

mod assets;
mod contents;
mod generations;
mod prompts;
mod uploads;
mod vaults;

#[cfg(feature = "blocking")]
pub mod blocking;

use std::fmt;
use std::sync::Arc;

pub use assets::{Asset, DownloadAsset, SaveAsset};
pub use builder::ClientBuilder;
pub use call::Call;
pub use contents::{VaultContents, VaultHandle};
pub use error::{Error, ErrorKind};
pub use generations::{CreateGeneration, FinishedGeneration, GenerationRef, Wait, Watch};
pub use pages::{Items, Pages};
pub use prompts::{CreatePrompt, ListPrompts, UpdatePrompt};
pub use raw::{Meta, RawRequest, RawResponse, WithMeta};
pub use retry::{RetryBudget, RetryPolicy};
pub use uploads::{UploadImage, UploadProgress, UploadSource, UploadedImage};
pub use vaults::{CreateVault, UpdateVault};

use crate::model::VaultId;
use config::Config;

/// A client of one deployment of the API with one API key.
///
/// Cheap to clone; clones share connections and settings. Calls need a Tokio runtime, or the
/// feature [`blocking`](crate#features). `Debug` shows the base URL and never the key.
#[derive(Clone)]
pub struct Client(Arc<Config>);

impl Client {
    /// A client with default settings.
    ///
    /// `base_url` is the root of the API, `/api/v1` included. Reads no environment and sends
    /// nothing.
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

    /// A client with default settings from the variables `PROMPTARIUM_BASE_URL` and
    /// `PROMPTARIUM_API_KEY`.
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

    /// A builder with default settings.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// The root of the API, without a trailing slash.
    #[must_use]
    pub fn base_url(&self) -> &str {
        self.0.base_url.as_str().trim_end_matches('/')
    }

    /// One vault and the prompts in it. Sends nothing.
    #[must_use]
    pub fn vault(&self, id: VaultId) -> VaultHandle {
        VaultHandle { client: self.clone(), id }
    }
}

/// Declares the types of the resources, and the methods of [`Client`] that return them.
macro_rules! resources {
    ($($method:ident: $name:ident = $text:literal;)*) => {
        $(
            #[doc = concat!($text, "; returned by [`Client::", stringify!($method), "`].")]
            #[derive(Debug, Clone)]
            pub struct $name {
                client: Client,
            }
        )*

        /// The resources of the API.
        impl Client {$(
            #[doc = concat!($text, ".")]
            #[must_use]
            pub fn $method(&self) -> $name {
                $name { client: self.clone() }
            }
        )*}
    };
}

resources! {
    prompts: Prompts = "The prompts of the account";
    vaults: Vaults = "The vaults of the account";
    generations: Generations = "Image and video generations";
    uploads: Uploads = "Image uploads";
    assets: Assets = "Downloads of uploaded and generated media";
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base_url", &self.base_url()).finish_non_exhaustive()
    }
}
