//! A whole server inside another program, for tests and examples.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::blobs::{BlobSetting, Blobs};
use crate::clock::Clock;
use crate::config::WORKERS_DEFAULT;
use crate::generate::Provider;
use crate::generate::setting::ProviderSetting;
use crate::key::Vendor;
use crate::public_url::PublicUrl;
use crate::seed::{Seed, SeedFault};
use crate::serve::{Limits, serve};
use crate::start::{self, ModelNamespace, Parts, ServiceConfig, StartError};
use crate::store::Store;
use crate::store::memory::MemoryStore;

/// A server in memory, on a free port of this machine, until it is dropped.
///
/// Each one has accounts, prompts and vaults of its own, so that tests with a
/// server each never meet.
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
#[derive(Debug)]
pub struct EmbeddedServer {
    base_url: String,
    api_key: String,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

/// Settings of an [`EmbeddedServer`]; see [`EmbeddedServer::builder`].
#[derive(Clone, Default)]
#[must_use = "nothing runs until `start`"]
pub struct EmbeddedServerBuilder {
    seed_keys: Vec<String>,
    vendor: Option<String>,
    model_namespace: Option<String>,
    clock: Clock,
    store: Option<Arc<dyn Store>>,
    provider: Option<Arc<dyn Provider>>,
    blobs: Option<Blobs>,
    workers: Option<usize>,
}

/// Why an [`EmbeddedServer`] did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// A text given to [`EmbeddedServerBuilder::seed_key`] is none.
    #[error("seed key number {position} {fault}")]
    Seed {
        /// Which one, counting from 1.
        position: usize,
        /// What is wrong with it.
        fault: SeedFault,
    },
    /// The vendor is not of lower-case letters and digits.
    #[error("the vendor must be lower-case letters and digits")]
    Vendor,
    /// The model namespace is not of letters, digits, `.`, `_` and `-`.
    #[error("the model namespace must be letters, digits, `.`, `_` or `-`")]
    ModelNamespace,
    /// The service could not be put together.
    #[error("the service could not be started")]
    Start(#[from] StartError),
    /// No port was to be had.
    #[error("no port of this machine could be bound")]
    Listen(#[from] std::io::Error),
}

/// How long [`EmbeddedServer::shutdown`] waits for requests in flight.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

impl EmbeddedServer {
    /// Starts a server with one account and one key that may do everything.
    ///
    /// # Errors
    /// If no port is free.
    pub async fn start() -> Result<Self, EmbedError> {
        Self::builder().start().await
    }

    /// Settings, all optional.
    pub fn builder() -> EmbeddedServerBuilder {
        EmbeddedServerBuilder::default()
    }

    /// The root of its API, such as `http://127.0.0.1:40123/api/v1`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// A key to call it with: the first seeded one that is not revoked, one with
    /// all scopes before others; a made one where no such key was seeded.
    pub fn api_key(&self) -> &str {
        &self.api_key
    }

    /// Stops it: requests in flight are answered, within five seconds.
    pub async fn shutdown(mut self) {
        if let Some(stop) = self.stop.take() {
            // It fails only if the server is gone already.
            let _ = stop.send(());
        }
        // As does this.
        let _ = (&mut self.serving).await;
    }
}

impl Drop for EmbeddedServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl EmbeddedServerBuilder {
    /// Adds a key that is known beforehand, `KEY=ACCOUNT[:SCOPE,…]`, with its
    /// account. Without scopes it has all of them; `:none` gives it none and
    /// `:revoked` makes it a revoked one. An example is
    /// `promptarium_live_a1_s3cret=alice:prompts:write`.
    pub fn seed_key(mut self, seed: impl Into<String>) -> Self {
        self.seed_keys.push(seed.into());
        self
    }

    /// The prefix of API keys; `promptarium` unless it is set.
    pub fn vendor(mut self, vendor: impl Into<String>) -> Self {
        self.vendor = Some(vendor.into());
        self
    }

    /// The prefix of model ids; `local` unless it is set.
    pub fn model_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.model_namespace = Some(namespace.into());
        self
    }

    /// Where the server takes its times from. A store that was given with
    /// [`EmbeddedServerBuilder::store`] has its own.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Keeps everything in this store and not in a new one in memory.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Has generations made by this provider and not by the built-in one.
    pub fn provider(mut self, provider: Arc<dyn Provider>) -> Self {
        self.provider = Some(provider);
        self
    }

    /// Keeps files here and not in a new store in memory.
    pub fn blobs(mut self, blobs: Blobs) -> Self {
        self.blobs = Some(blobs);
        self
    }

    /// How many generations are attended to at once; with none they stay queued.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Starts the server on the current Tokio runtime.
    ///
    /// # Errors
    /// If a setting is not valid or no port is free.
    pub async fn start(self) -> Result<EmbeddedServer, EmbedError> {
        let vendor = Vendor::new(self.vendor.as_deref().unwrap_or("promptarium"))
            .ok_or(EmbedError::Vendor)?;
        let model_namespace =
            ModelNamespace::new(self.model_namespace.as_deref().unwrap_or("local"))
                .ok_or(EmbedError::ModelNamespace)?;
        let (seeds, seeded_key) = read_seeds(&self.seed_keys, &vendor)?;
        let config = ServiceConfig {
            vendor,
            model_namespace,
            seeds,
            signing_key: None,
            blobs: BlobSetting::Memory,
            provider: ProviderSetting::Local,
            workers: self.workers.unwrap_or(WORKERS_DEFAULT),
        };
        let clock = self.clock;
        let store = self.store.unwrap_or_else(|| Arc::new(MemoryStore::new(clock.clone())));
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let public = PublicUrl::of_listener(listener.local_addr()?);
        let base_url = public.base_url();
        let (provider, blobs, with_metrics) = (self.provider, self.blobs, false);
        let parts = Parts { store, clock, public, provider, blobs, with_metrics };
        let service = start::start(config, parts).await?;
        let made = service.made_key.map(|key| key.expose().to_owned());
        let (stop, stopped) = oneshot::channel();
        let limits = Limits { drain_timeout: DRAIN_TIMEOUT, ..Limits::default() };
        let serving = tokio::spawn(async move {
            let readiness = service.app.api.readiness.clone();
            let stop = async {
                // A server whose handle was forgotten runs as long as its runtime.
                if stopped.await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            serve(listener, service.app, limits, readiness, stop).await;
            service.crew.stop().await;
        });
        let api_key = seeded_key.or(made).unwrap_or_default();
        Ok(EmbeddedServer { base_url, api_key, stop: Some(stop), serving })
    }
}

/// The seeds, and the whole of the key that calls are best made with.
fn read_seeds(
    texts: &[String],
    vendor: &Vendor,
) -> Result<(Vec<Seed>, Option<String>), EmbedError> {
    let mut seeds = Vec::with_capacity(texts.len());
    for (at, text) in texts.iter().enumerate() {
        let seed = Seed::parse(text, vendor)
            .map_err(|fault| EmbedError::Seed { position: at + 1, fault })?;
        seeds.push(seed);
    }
    let usable = |seed: &Seed| !seed.key.revoked;
    let best = seeds
        .iter()
        .position(|seed| usable(seed) && seed.key.scopes.prompts_write)
        .or_else(|| seeds.iter().position(usable));
    let key = best.and_then(|at| texts[at].split_once('=')).map(|(key, _)| key.to_owned());
    Ok((seeds, key))
}

impl std::fmt::Debug for EmbeddedServerBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddedServerBuilder")
            .field("seed_keys", &self.seed_keys.len())
            .field("vendor", &self.vendor)
            .field("model_namespace", &self.model_namespace)
            .finish_non_exhaustive()
    }
}
