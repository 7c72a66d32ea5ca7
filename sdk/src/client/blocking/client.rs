//! The client itself: what it is made from, and the resources it leads to.

use std::fmt;

use http::Method;

use super::Blocking;
use crate::client::assets::Assets;
use crate::client::call::Call;
use crate::client::contents::VaultHandle;
use crate::client::generations::Generations;
use crate::client::mode::Bound;
use crate::client::prompts::Prompts;
use crate::client::raw::RawRequest;
use crate::client::uploads::Uploads;
use crate::client::vaults::Vaults;
use crate::client::{ClientBuilder, Error};
use crate::model::VaultId;

/// Speaks to one deployment of the API with one key, and blocks while it does.
///
/// Cheap to clone: clones share connections, settings and the thread that looks after
/// them. `Debug` shows the base URL and never the key.
#[derive(Clone)]
pub struct Client(Bound<Blocking>);

impl Client {
    /// A client with every setting at its default; as
    /// [`promptarium::Client::new`](crate::Client::new).
    ///
    /// # Errors
    ///
    /// [`Error::is_config`] for a base URL or a key that cannot be used, and if no
    /// thread can be started.
    ///
    /// ```
    /// use promptarium::blocking::Client;
    ///
    /// let client = Client::new("https://prompts.example/api/v1", "promptarium_live_a1_s3cret")?;
    /// assert_eq!(client.base_url(), "https://prompts.example/api/v1");
    /// # Ok::<(), promptarium::Error>(())
    /// ```
    pub fn new(base_url: impl AsRef<str>, api_key: impl Into<String>) -> Result<Self, Error> {
        Self::builder().base_url(base_url).api_key(api_key).build_blocking()
    }

    /// A client from `PROMPTARIUM_BASE_URL` and `PROMPTARIUM_API_KEY`, with every
    /// other setting at its default.
    ///
    /// # Errors
    ///
    /// [`Error::is_config`], naming the variable that is missing or cannot be used, and
    /// if no thread can be started.
    pub fn from_env() -> Result<Self, Error> {
        ClientBuilder::from_env()?.build_blocking()
    }

    /// Starts from the defaults; see [`ClientBuilder`] for what can be set, and end with
    /// [`build_blocking`](ClientBuilder::build_blocking).
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// The root of the API, without a slash at its end.
    #[must_use]
    pub fn base_url(&self) -> &str {
        self.0.client.base_url()
    }

    /// The caller's prompts.
    #[must_use]
    pub fn prompts(&self) -> Prompts<Blocking> {
        Prompts::new(self.0.clone())
    }

    /// The caller's vaults.
    #[must_use]
    pub fn vaults(&self) -> Vaults<Blocking> {
        Vaults::new(self.0.clone())
    }

    /// What is in one vault. Sends nothing, and does not check that the vault is
    /// there.
    #[must_use]
    pub fn vault(&self, id: VaultId) -> VaultHandle<Blocking> {
        VaultHandle::new(self.0.clone(), id)
    }

    /// Media that external models make.
    #[must_use]
    pub fn generations(&self) -> Generations<Blocking> {
        Generations::new(self.0.clone())
    }

    /// Images for later calls.
    #[must_use]
    pub fn uploads(&self) -> Uploads<Blocking> {
        Uploads::new(self.0.clone())
    }

    /// The bytes of uploaded and generated media.
    #[must_use]
    pub fn assets(&self) -> Assets<Blocking> {
        Assets::new(self.0.clone())
    }

    /// Calls an endpoint that this crate does not know; as
    /// [`promptarium::Client::request`](crate::Client::request).
    pub fn request(&self, method: Method, path: impl Into<String>) -> Call<RawRequest, Blocking> {
        self.0.take(self.0.client.request(method, path))
    }

    /// `GET` of any path; see [`request`](Self::request).
    pub fn get(&self, path: impl Into<String>) -> Call<RawRequest, Blocking> {
        self.request(Method::GET, path)
    }

    /// `POST` to any path; see [`request`](Self::request).
    pub fn post(&self, path: impl Into<String>) -> Call<RawRequest, Blocking> {
        self.request(Method::POST, path)
    }

    /// `PUT` to any path; see [`request`](Self::request).
    pub fn put(&self, path: impl Into<String>) -> Call<RawRequest, Blocking> {
        self.request(Method::PUT, path)
    }

    /// `PATCH` of any path; see [`request`](Self::request).
    pub fn patch(&self, path: impl Into<String>) -> Call<RawRequest, Blocking> {
        self.request(Method::PATCH, path)
    }

    /// `DELETE` of any path; see [`request`](Self::request).
    pub fn delete(&self, path: impl Into<String>) -> Call<RawRequest, Blocking> {
        self.request(Method::DELETE, path)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base_url", &self.base_url()).finish_non_exhaustive()
    }
}

impl ClientBuilder {
    /// Checks the settings and makes a client whose calls block, with the thread it
    /// needs. Sends nothing.
    ///
    /// A ready [`http_client`](Self::http_client) has to be this client's alone: a
    /// connection that an async client opened stands still while the runtime it was
    /// opened in is blocked.
    ///
    /// # Errors
    ///
    /// As for [`build`](Self::build), and [`Error::is_config`] if no thread can be
    /// started.
    pub fn build_blocking(self) -> Result<Client, Error> {
        let client = self.build()?;
        Ok(Client(Bound { client, mode: Blocking::start()? }))
    }
}
