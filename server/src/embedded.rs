//! A server inside another program, for tests and examples.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_util::either::Either;
use tokio_util::task::AbortOnDropHandle;

use crate::blobs::Blobs;
use crate::clock::Clock;
use crate::domain::{ModelNamespace, NewKey, PublicUrl, Scopes, SeedKey, Vendor, debug_only};
use crate::generate::Provider;
use crate::serve::listener::ListenerLimits;
use crate::start::{self, DEFAULT_ACCOUNT, Extend, ServiceParts, ServiceSettings, SignInLinks};
use crate::store::{Cause, Store, StoreError};

/// A server on a free loopback port. It stops when dropped. By default it is in memory and has data
/// of its own, so that tests with a server each are independent.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use promptarium_server::EmbeddedServer;
///
/// let server = EmbeddedServer::start().await?;
/// println!("{} takes the key {}", server.base_url(), server.api_key());
/// server.shutdown().await;
/// # Ok(())
/// # }
/// ```
pub struct EmbeddedServer {
    base_url: String,
    local_addr: SocketAddr,
    api_key: String,
    pub(crate) sign_in: SignInLinks,
    // Dropped before `stop`: the server is aborted, not drained.
    serving: AbortOnDropHandle<()>,
    stop: oneshot::Sender<()>,
}

/// Settings of an [`EmbeddedServer`]; see [`EmbeddedServer::builder`].
#[derive(Clone)]
#[must_use = "nothing runs until `start`"]
pub struct EmbeddedServerBuilder {
    settings: ServiceSettings,
    seeds: Vec<String>,
    public_url: Option<PublicUrl>,
    problem: Option<String>,
    open_store: Option<OpenStore>,
    parts: ServiceParts,
}

/// Opens the stores of a server that has this clock; without a store of files, they are in memory.
pub(crate) type OpenStore = Arc<dyn Fn(Clock) -> BoxFuture<'static, OpenedStores> + Send + Sync>;
type OpenedStores = Result<(Arc<dyn Store>, Option<Blobs>), EmbedError>;

/// Why an [`EmbeddedServer`] did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// A setting is not valid. The text says which one and why, without a secret.
    #[error("{0}")]
    Setting(String),
    /// The database or the data folder cannot be used.
    #[error("the database cannot be used")]
    Database(#[source] Cause),
    /// The service could not be started. The source says which setting or store is wrong.
    #[error("the service could not be started")]
    Start(#[source] Cause),
    /// No port could be bound.
    #[error("no port of this machine could be bound")]
    Listen(#[from] std::io::Error),
}

impl EmbeddedServer {
    /// Base URL of the API, such as `http://127.0.0.1:40123/api/v1`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The listener's address, for a load balancer in front of it.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// A valid API key: the first seeded key with all scopes, else the first seeded key that is not
    /// revoked, else a generated one.
    pub fn api_key(&self) -> &str {
        &self.api_key
    }

    /// Stops the server. Requests in flight have five seconds to complete. Submissions to the
    /// provider have eight seconds more to complete and to be recorded.
    pub async fn shutdown(self) {
        // Both fail only if the server has ended already.
        let _ = self.stop.send(());
        let _ = self.serving.await;
    }
}

impl EmbeddedServerBuilder {
    /// A server in memory that has these parts.
    pub(crate) fn with_parts(parts: ServiceParts) -> Self {
        let (settings, seeds) = (ServiceSettings::default(), Vec::new());
        Self { settings, seeds, public_url: None, problem: None, open_store: None, parts }
    }

    pub(crate) fn extend(mut self, extend: Extend) -> Self {
        self.parts.extend = Some(extend);
        self
    }

    pub(crate) fn open_store(mut self, open: OpenStore) -> Self {
        self.open_store = Some(open);
        self
    }

    /// Sets a value, or remembers for the start what is wrong with it.
    fn set<T>(mut self, name: &str, new: Result<T, &str>, set: impl FnOnce(&mut Self, T)) -> Self {
        match new {
            Ok(value) => set(&mut self, value),
            Err(problem) => self.problem = Some(format!("{name}: the value {problem}")),
        }
        self
    }

    /// Adds a key and its account: `KEY=ACCOUNT[:SCOPE,…]`, for example
    /// `promptarium_live_a1_s3cret=alice:prompts:write`. Without scopes the key has all of them;
    /// `:none` gives it none, `:revoked` makes it a revoked key.
    pub fn seed_key(mut self, seed: impl Into<String>) -> Self {
        self.seeds.push(seed.into());
        self
    }

    /// The prefix of API keys; `promptarium` unless it is set.
    pub fn vendor(self, vendor: impl Into<String>) -> Self {
        let vendor = vendor.into();
        self.set("vendor", Vendor::new(&vendor), |this, vendor| this.settings.vendor = vendor)
    }

    /// The prefix of model ids; `local` unless it is set.
    pub fn model_namespace(self, namespace: impl Into<String>) -> Self {
        let namespace = ModelNamespace::new(&namespace.into());
        self.set("model_namespace", namespace, |this, new| this.settings.model_namespace = new)
    }

    /// The server's clock.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.parts.clock = clock;
        self
    }

    /// Uses this store, which has a clock of its own, instead of a new one in memory.
    #[cfg(any(test, feature = "test-support"))]
    pub fn store(mut self, store: Arc<dyn crate::store::Store>) -> Self {
        self.parts.store = Some(store);
        self
    }

    /// Uses this provider instead of the built-in one.
    pub fn provider(mut self, provider: Arc<dyn Provider>) -> Self {
        self.parts.provider = Some(provider);
        self
    }

    /// Uses this blob store instead of a new one in memory.
    #[cfg(any(test, feature = "test-support"))]
    pub fn blobs(mut self, blobs: Blobs) -> Self {
        self.parts.blobs = Some(blobs);
        self
    }

    /// Number of generations processed at once. With 0 they stay queued.
    pub fn workers(mut self, workers: usize) -> Self {
        self.settings.jobs.workers = workers;
        self
    }

    /// The URL at which clients reach the server, without `/api/v1`; by default the listener's.
    /// Servers of one database use the same URL.
    pub fn public_url(self, url: impl Into<String>) -> Self {
        let url = PublicUrl::parse(&url.into());
        self.set("public_url", url, |this, url| this.public_url = Some(url))
    }

    /// Starts the server on the current Tokio runtime.
    ///
    /// # Errors
    /// If a setting is not valid, the database cannot be used, or no port is free.
    pub async fn start(self) -> Result<EmbeddedServer, EmbedError> {
        if let Some(problem) = self.problem {
            return Err(EmbedError::Setting(problem));
        }
        let mut settings = self.settings;
        let seeds = SeedKey::parse_all(&self.seeds, &settings.vendor);
        let problem = |problem| EmbedError::Setting(format!("seed_key: {problem}"));
        settings.seeds = seeds.map_err(problem)?;
        let api_key = api_key(&mut settings, &self.seeds);
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let local_addr = listener.local_addr()?;
        let public = self.public_url.unwrap_or_else(|| PublicUrl::of_listener(local_addr));
        let base_url = public.base_url();
        let mut parts = self.parts;
        if let Some(open) = self.open_store {
            let (store, files) = open(parts.clock.clone()).await?;
            (parts.store, parts.blobs) = (Some(store), files.or(parts.blobs));
        }
        let service = start::start(settings, public, parts).await.map_err(|cause| {
            let is_store = cause.is::<StoreError>();
            if is_store { EmbedError::Database(cause) } else { EmbedError::Start(cause) }
        })?;
        let sign_in = service.sign_in.clone();
        let (stop, stopped) = oneshot::channel();
        let serving = AbortOnDropHandle::new(tokio::spawn(async move {
            // It fails only where this task is aborted.
            let stopped = async { stopped.await.unwrap_or_default() };
            let (drain_delay, drain_timeout) = (Duration::ZERO, Duration::from_secs(5));
            let limits = ListenerLimits { drain_delay, drain_timeout, ..ListenerLimits::default() };
            service.serve(Either::Left(listener), limits, stopped).await;
        }));
        Ok(EmbeddedServer { base_url, local_addr, api_key, sign_in, serving, stop })
    }
}

/// The key that [`EmbeddedServer::api_key`] returns. Without seeds one is generated.
fn api_key(settings: &mut ServiceSettings, texts: &[String]) -> String {
    if texts.is_empty() {
        let generated = settings.vendor.make();
        let key = NewKey::new(&generated, Scopes::ALL);
        settings.seeds.push(SeedKey { account: DEFAULT_ACCOUNT.to_owned(), key });
        return generated.expose().to_owned();
    }
    let usable = settings.seeds.iter().zip(texts).filter(|(seed, _)| !seed.key.revoked);
    // `max_by_key` returns the last of equal ones.
    let best = usable.rev().max_by_key(|(seed, _)| seed.key.scopes.prompts_write);
    best.and_then(|(_, text)| text.split_once('=')).map_or("", |(key, _)| key).to_owned()
}

debug_only! { EmbeddedServer { base_url } EmbeddedServerBuilder {} }
