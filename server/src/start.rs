//! Assembles a service: store, seeded keys, blob store, provider, routes and workers.
//!
//! The program and the embedded server both use it. Sockets are not its concern.

use std::fmt;
use std::sync::Arc;

use crate::api::Api;
use crate::api::health::Readiness;
use crate::api::openapi::{self, Document};
use crate::blobs::asset_url::Assets;
use crate::blobs::upload_slot::Slots;
use crate::blobs::{BlobOpenError, Blobs};
use crate::clock::Clock;
use crate::config::ServiceConfig;
use crate::domain::{GeneratedKey, NewKey, PublicUrl, Scopes, SigningKey, Vendor};
use crate::generate::output_store::AssetOutputStore;
use crate::generate::submit::Submitter;
use crate::generate::worker::{Worker, WorkerPool};
use crate::generate::{BackgroundTasks, Provider};
use crate::http::cursor::Cursors;
use crate::outbound::OutboundError;
use crate::serve::metrics::Metrics;
use crate::serve::routes::{self, Routes};
use crate::serve::service::ApiService;
use crate::store::postgres::PostgresStore;
use crate::store::{Store, StoreError};

/// The account that is created if no key is seeded.
pub(crate) const DEFAULT_ACCOUNT: &str = "default";

/// What [`start`] takes beside the configuration.
pub struct ServiceParts {
    /// Stores everything but files.
    pub store: StoreKind,
    /// The source of time.
    pub clock: Clock,
    /// The URL at which clients reach the service.
    pub public: PublicUrl,
    /// Replaces the configured provider.
    pub provider: Option<Arc<dyn Provider>>,
    /// Replaces the configured blob store.
    pub blobs: Option<Blobs>,
    /// Whether requests are counted.
    pub with_metrics: bool,
}

/// Stores everything but files.
#[derive(Clone)]
pub enum StoreKind {
    /// A store that only this service uses. If no key is seeded, each start creates one.
    Single(Arc<dyn Store>),
    /// A database that several servers may use. It holds the signing key, unless one is
    /// configured, and gets a first key only while it has no account.
    Shared(PostgresStore),
}

/// A running service without a listener.
pub struct Service {
    /// Handles requests.
    pub app: Arc<ApiService>,
    /// The created key, with all scopes; see [`StoreKind`].
    pub generated_key: Option<GeneratedKey>,
    /// Work on generations outside of requests. Stop it before the process ends.
    pub background: BackgroundTasks,
}

/// Why the service could not be assembled.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The public id of a seeded key belongs to a key with another secret, scopes or state.
    #[error(
        "seed key number {0} has the public id of another key, or of one that is revoked or has other scopes"
    )]
    SeedTaken(usize),
    /// The stored signing key is not valid.
    #[error("the signing key in the database is too short to be one")]
    SigningKey,
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
    /// The blob store cannot be used.
    #[error(transparent)]
    Blobs(#[from] BlobOpenError),
    /// The HTTP client of the provider could not be built.
    #[error("the HTTP client of the provider could not be built")]
    Provider(#[from] OutboundError),
    /// The route table is not valid.
    #[error("two routes have the same path")]
    Routes(#[from] matchit::InsertError),
    /// The metrics recorder could not be built.
    #[error("the metrics could not be set up")]
    Metrics(#[from] metrics_exporter_prometheus::BuildError),
}

impl StoreKind {
    fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Single(store) => store.clone(),
            Self::Shared(store) => Arc::new(store.clone()),
        }
    }

    async fn signing_key(&self) -> Result<SigningKey, StartError> {
        match self {
            Self::Single(_) => Ok(SigningKey::random()),
            Self::Shared(store) => {
                SigningKey::new(&store.signing_key().await?).ok_or(StartError::SigningKey)
            }
        }
    }

    /// Creates a key of the default account, where the store needs one.
    async fn first_key(&self, vendor: &Vendor) -> Result<Option<GeneratedKey>, StartError> {
        let key = vendor.make();
        let new = new_key(&key, Scopes::ALL);
        let made = match self {
            Self::Single(store) => {
                store.seed_key(DEFAULT_ACCOUNT, new).await?;
                true
            }
            Self::Shared(store) => store.seed_first_key(DEFAULT_ACCOUNT, &new).await?,
        };
        Ok(made.then_some(key))
    }
}

/// The record of a new key, without its secret.
pub(crate) fn new_key(key: &GeneratedKey, scopes: Scopes) -> NewKey {
    let presented = key.presented();
    let (public_id, digest) = (presented.public_id().into(), presented.digest());
    NewKey { public_id, digest, scopes, revoked: false }
}

/// Creates the seeded accounts and keys, assembles the service, and starts its workers on
/// the current Tokio runtime.
///
/// # Errors
/// If a seeded key conflicts with another key, or a part cannot be used.
pub async fn start(config: ServiceConfig, parts: ServiceParts) -> Result<Service, StartError> {
    let ServiceParts { store: kind, clock, public, provider, blobs, with_metrics } = parts;
    let store = kind.store();
    let generated_key = seed(&*store, &kind, &config).await?;
    let signing_key = match config.signing_key {
        Some(given) => given,
        None => kind.signing_key().await?,
    };

    let assets = Assets::new(public.url());
    let blobs = match blobs {
        Some(blobs) => blobs,
        None => Blobs::open(&config.blobs)?,
    };
    let provider = match provider {
        Some(provider) => provider,
        None => config.provider.open(clock.clone(), assets.clone(), blobs.clone())?,
    };
    let outputs = Arc::new(AssetOutputStore::new(blobs.clone(), assets.clone(), &signing_key));
    let worker = Worker::new(store.clone(), provider.clone(), outputs, clock.clone());

    let table = routes::table();
    let metrics = if with_metrics { Some(Arc::new(Metrics::new(&table)?)) } else { None };
    let model_namespace = &config.model_namespace;
    let document = Document::new(&openapi::document(Some(&public), model_namespace));
    let submitter = Submitter::new(store.clone(), provider);
    let api = Api {
        submitter: submitter.clone(),
        store,
        model_namespace: config.model_namespace.as_str().into(),
        cursors: Cursors::new(&signing_key),
        base_url: public.base_url().into(),
        slots: Slots::new(&signing_key, assets.clone(), clock),
        blobs,
        assets,
        readiness: Readiness::default(),
        openapi: document,
    };
    let app = ApiService { routes: Routes::new(table)?, api, vendor: config.vendor, metrics };
    let workers = WorkerPool::start(&worker, config.workers);
    let background = BackgroundTasks { submitter, workers };
    Ok(Service { app: Arc::new(app), generated_key, background })
}

/// Creates the seeded keys. Returns the key that was created because none is seeded.
async fn seed(
    store: &dyn Store,
    kind: &StoreKind,
    config: &ServiceConfig,
) -> Result<Option<GeneratedKey>, StartError> {
    for (at, seed) in config.seeds.iter().enumerate() {
        match store.seed_key(&seed.account, seed.key.clone()).await {
            Err(StoreError::KeyTaken) => return Err(StartError::SeedTaken(at + 1)),
            outcome => outcome?,
        }
    }
    if config.seeds.is_empty() { kind.first_key(&config.vendor).await } else { Ok(None) }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("generated_key", &self.generated_key)
            .finish_non_exhaustive()
    }
}
