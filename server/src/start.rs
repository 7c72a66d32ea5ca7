//! Putting a service together: store, accounts, keys, files, provider, routes, one
//! [`ApiService`] and its workers.
//!
//! The program and the embedded server both begin here. Sockets come later.

use std::fmt;
use std::sync::Arc;

use crate::api::Api;
use crate::api::health::Readiness;
use crate::api::openapi::{self, Document};
use crate::blobs::asset_url::Assets;
use crate::blobs::upload_slot::Slots;
use crate::blobs::{BlobOpenError, Blobs};
use crate::clock::Clock;
pub use crate::config::ServiceConfig;
use crate::domain::{MadeKey, NewKey, PublicUrl, Scopes, SigningKey, Vendor};
use crate::generate::output_store::AssetOutputStore;
use crate::generate::submit::Submitter;
use crate::generate::worker::Worker;
use crate::generate::worker_pool::WorkerPool;
use crate::generate::{BackgroundTasks, Provider};
use crate::http::cursor::Cursors;
use crate::outbound::OutboundError;
use crate::serve::metrics::Metrics;
use crate::serve::routes::{self, Routes};
use crate::serve::service::ApiService;
use crate::store::postgres::PostgresStore;
use crate::store::{Store, StoreError};

/// The account that is made when no key was seeded.
pub const DEFAULT_ACCOUNT: &str = "default";

/// What a service is given to work with.
pub struct Parts {
    /// Where everything but files is kept.
    pub backing: Backing,
    /// The time.
    pub clock: Clock,
    /// How clients reach the service.
    pub public: PublicUrl,
    /// Takes the place of the provider in the configuration.
    pub provider: Option<Arc<dyn Provider>>,
    /// Takes the place of the store of files in the configuration.
    pub blobs: Option<Blobs>,
    /// Whether requests are counted.
    pub with_metrics: bool,
}

/// What a service keeps everything but files in.
#[derive(Clone)]
pub enum Backing {
    /// A store of its own. Where no key is seeded, one is made at each start.
    Own(Arc<dyn Store>),
    /// A database that other servers may use too. It has the signing key, unless
    /// one is given, and gets a key only while no account is in it.
    Shared(PostgresStore),
}

/// A service that answers requests.
pub struct Service {
    /// Answers them.
    pub app: Arc<ApiService>,
    /// A key with all scopes of a new account, if one was made; see [`Backing`].
    pub made_key: Option<MadeKey>,
    /// Work on generations outside of requests; to be stopped before the end.
    pub background: BackgroundTasks,
}

/// Why there is no service.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Two keys cannot have one public id.
    #[error(
        "seed key number {0} has the public id of another key, or of one that is revoked or has \
         other scopes"
    )]
    SeedTaken(usize),
    /// Somebody put something else there.
    #[error("the signing key in the database is too short to be one")]
    SigningKey,
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
    /// No file can be kept.
    #[error(transparent)]
    Blobs(#[from] BlobOpenError),
    /// The provider cannot be spoken to.
    #[error("the provider cannot be spoken to")]
    Provider(#[from] OutboundError),
    /// The table of routes has a fault.
    #[error("two routes have the same path")]
    Routes(#[from] matchit::InsertError),
    /// The metrics have a fault.
    #[error("the metrics could not be set up")]
    Metrics(#[from] metrics_exporter_prometheus::BuildError),
}

impl Backing {
    fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Own(store) => store.clone(),
            Self::Shared(store) => Arc::new(store.clone()),
        }
    }

    async fn signing_key(&self) -> Result<SigningKey, StartError> {
        match self {
            Self::Own(_) => Ok(SigningKey::random()),
            Self::Shared(store) => {
                SigningKey::new(&store.signing_key().await?).ok_or(StartError::SigningKey)
            }
        }
    }

    /// Gives the default account a key, if this is the place for it.
    async fn first_key(&self, vendor: &Vendor) -> Result<Option<MadeKey>, StartError> {
        let key = vendor.make();
        let new = new_key(&key, Scopes::ALL);
        let made = match self {
            Self::Own(store) => {
                store.seed_key(DEFAULT_ACCOUNT, new).await?;
                true
            }
            Self::Shared(store) => store.seed_first_key(DEFAULT_ACCOUNT, &new).await?,
        };
        Ok(made.then_some(key))
    }
}

/// A made key as a store takes it: without its secret.
pub fn new_key(key: &MadeKey, scopes: Scopes) -> NewKey {
    let presented = key.presented();
    let (public_id, digest) = (presented.public_id().into(), presented.digest());
    NewKey { public_id, digest, scopes, revoked: false }
}

/// Makes the accounts and keys that are asked for and the service around the
/// parts, and sets its workers to work on the current Tokio runtime.
///
/// # Errors
/// If a seed clashes with another key, or one of the parts fails.
pub async fn start(config: ServiceConfig, parts: Parts) -> Result<Service, StartError> {
    let Parts { backing, clock, public, provider, blobs, with_metrics } = parts;
    let store = backing.store();
    let made_key = seed(&*store, &backing, &config).await?;
    let signing_key = match config.signing_key {
        Some(given) => given,
        None => backing.signing_key().await?,
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
    let metrics = if with_metrics { Some(Metrics::new(&table)?) } else { None };
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
    Ok(Service { app: Arc::new(app), made_key, background })
}

/// The key that was made because none was seeded.
async fn seed(
    store: &dyn Store,
    backing: &Backing,
    config: &ServiceConfig,
) -> Result<Option<MadeKey>, StartError> {
    for (at, seed) in config.seeds.iter().enumerate() {
        match store.seed_key(&seed.account, seed.key.clone()).await {
            Err(StoreError::KeyTaken) => return Err(StartError::SeedTaken(at + 1)),
            outcome => outcome?,
        }
    }
    if config.seeds.is_empty() { backing.first_key(&config.vendor).await } else { Ok(None) }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("made_key", &self.made_key).finish_non_exhaustive()
    }
}
