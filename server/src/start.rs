//! Assembles a service: store, seeded keys, blob store, provider, routes and workers.
//!
//! The program and the embedded server both use it.

use std::sync::Arc;

use tokio::net::TcpListener;

use crate::api::openapi::{self, Document};
use crate::api::{Api, Readiness, memory_quotas};
use crate::blobs::asset_url::Assets;
use crate::blobs::upload_slot::Slots;
use crate::blobs::{BlobOpenError, BlobSetting, Blobs};
use crate::clock::Clock;
use crate::config::{SeedKey, ServiceConfig};
use crate::domain::{GeneratedKey, NewKey, PublicUrl, Scopes, SecretToken, SigningKey, Vendor};
use crate::generate::local::{LocalProvider, PAINTERS};
use crate::generate::queue::{QueueProvider, QueueSetting};
use crate::generate::submit::Submitter;
use crate::generate::worker::Worker;
use crate::generate::worker::pool::WorkerPool;
use crate::generate::{BackgroundTasks, OutputLimits, OutputStore, Provider};
use crate::http::attempts::Attempts;
use crate::http::browser::Site;
use crate::http::cursor::Cursors;
use crate::http::rates::Rates;
use crate::outbound::OutboundError;
use crate::quota::Quota;
use crate::serve::listener::{Drained, Limits, ListenerQuotas, serve};
use crate::serve::metrics::{AskPool, Metrics, Quotas, Readings};
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
    /// Makes sign-in links.
    pub sign_in: SignInLinks,
    /// Whether this start created the account of [`Service::sign_in`].
    pub account_is_new: bool,
    /// Work on generations outside of requests. Stop it before the process ends.
    pub background: BackgroundTasks,
    quotas: ListenerQuotas,
}

/// Makes sign-in links for the account of the created key, or of the first seeded one.
#[derive(Clone)]
pub struct SignInLinks {
    store: Arc<dyn Store>,
    public: PublicUrl,
    /// `None` where there is no such key.
    account: Option<Arc<str>>,
}

impl SignInLinks {
    /// A link with a new code, which can be used once. `None` without an account.
    ///
    /// # Errors
    /// If the code cannot be stored.
    pub async fn make(&self) -> Result<Option<String>, StoreError> {
        let Some(account) = &self.account else { return Ok(None) };
        let code = SecretToken::make();
        self.store.create_sign_in_code(account, code.digest()).await?;
        Ok(Some(code.sign_in_link(&self.public)))
    }

    /// The first page, which needs a session.
    pub fn dashboard_url(&self) -> String {
        format!("{}/", self.public.url().as_str().trim_end_matches('/'))
    }
}

impl std::fmt::Debug for SignInLinks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignInLinks").field("account", &self.account).finish_non_exhaustive()
    }
}

impl Service {
    /// Serves until `stop` is ready, then drains and ends the background work.
    pub(crate) async fn serve(
        self,
        listener: TcpListener,
        limits: Limits,
        stop: impl Future<Output = ()>,
    ) -> Drained {
        let readiness = self.app.api.readiness.clone();
        if limits.connections_per_address == Some(0) {
            self.quotas.memory.share_all();
        }
        let drain = self.background.workers.drain();
        let stop = async move {
            stop.await;
            drain.cancel();
        };
        let drained = serve(listener, self.app, limits, self.quotas, readiness, stop).await;
        self.background.stop().await;
        drained
    }
}

/// Why the service could not be assembled.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the signing key in the database is too short to be one")]
    SigningKey,
    #[error("the store failed")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blobs(#[from] BlobOpenError),
    #[error("the HTTP client of the provider could not be built")]
    Provider(#[from] OutboundError),
    #[error("two routes have the same path")]
    Routes(#[from] matchit::InsertError),
}

impl StoreKind {
    fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Single(store) => store.clone(),
            Self::Shared(store) => Arc::new(store.clone()),
        }
    }

    fn quotas(&self) -> Vec<Quota> {
        match self {
            Self::Single(_) => Vec::new(),
            Self::Shared(store) => store.quotas(),
        }
    }

    /// What tells the use of the database's connections.
    fn pool(&self) -> Option<AskPool> {
        match self {
            Self::Single(_) => None,
            Self::Shared(store) => {
                let store = store.clone();
                Some(Box::new(move || store.pool_use()))
            }
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

    /// The public URLs of this start and of all before it.
    async fn public_urls(&self, public: &PublicUrl) -> Result<Vec<String>, StoreError> {
        match self {
            Self::Single(_) => Ok(Vec::new()),
            Self::Shared(store) => {
                store.add_public_url(public.url().as_str().trim_end_matches('/')).await
            }
        }
    }

    /// The store of files, if it is the one that the database knows.
    async fn blobs(
        &self,
        given: Option<Blobs>,
        setting: &BlobSetting,
    ) -> Result<Blobs, BlobOpenError> {
        let blobs = given.map_or_else(|| Blobs::open(setting), Ok)?;
        blobs.verify().await?;
        if let Self::Shared(database) = self {
            blobs.check_mark(database).await?;
        }
        Ok(blobs)
    }

    /// Creates a key of the default account, where the store needs one.
    async fn first_key(&self, vendor: &Vendor) -> Result<Option<GeneratedKey>, StoreError> {
        let key = vendor.make();
        let new = NewKey::new(&key, Scopes::ALL);
        let created = match self {
            Self::Single(store) => store.seed_key(DEFAULT_ACCOUNT, new).await.map(|_| true)?,
            Self::Shared(store) => store.seed_first_key(DEFAULT_ACCOUNT, &new).await?,
        };
        Ok(created.then_some(key))
    }
}

/// Creates the keys that the configuration names. One that cannot be created is not worth a stop of
/// the service: its owner may have revoked it.
async fn seed(store: &dyn Store, seeds: &[SeedKey]) -> Result<(), StoreError> {
    for SeedKey { account, key } in seeds {
        match store.seed_key(account, key.clone()).await {
            Err(StoreError::KeyTaken) => tracing::warn!(
                public_id = &*key.public_id,
                account,
                "a seed key was not created: it is revoked, or another key has its public id. \
                 Remove it from --seed-key, and create another one with `key create`"
            ),
            outcome => outcome?,
        }
    }
    Ok(())
}

/// Whom the start creates keys for.
struct Owner {
    generated_key: Option<GeneratedKey>,
    /// Of the generated key, or of the first seeded one.
    account: Option<Arc<str>>,
    is_new: bool,
}

/// Creates the seeded keys, or the first one.
async fn owner(kind: &StoreKind, config: &ServiceConfig) -> Result<Owner, StoreError> {
    let Some(first) = config.seeds.first() else {
        let generated_key = kind.first_key(&config.vendor).await?;
        let account = generated_key.as_ref().map(|_| DEFAULT_ACCOUNT.into());
        return Ok(Owner { generated_key, account, is_new: true });
    };
    let is_new = match kind {
        StoreKind::Single(_) => true,
        StoreKind::Shared(store) => store.keys_of(&first.account).await?.is_none(),
    };
    seed(&*kind.store(), &config.seeds).await?;
    Ok(Owner { generated_key: None, account: Some(first.account.as_str().into()), is_new })
}

/// The configured provider, with what bounds its results.
fn provider_of(
    queue: Option<QueueSetting>,
    clock: &Clock,
    assets: &Assets,
    blobs: &Blobs,
) -> Result<(Arc<dyn Provider>, Option<Quota>), StartError> {
    if let Some(queue) = queue {
        let results = queue.results.clone();
        return Ok((Arc::new(QueueProvider::new(queue)?), Some(results)));
    }
    let (clock, assets, blobs) = (clock.clone(), assets.clone(), blobs.clone());
    Ok((Arc::new(LocalProvider { clock, assets, blobs }), Some(PAINTERS.clone())))
}

/// What bounds the work on generations.
fn worker_quotas(worker: &Worker, submitter: &Submitter) -> impl Iterator<Item = Quota> {
    let OutputStore { blobs, limits, .. } = &worker.outputs;
    let of_jobs = [&limits.large, &limits.examinations, &submitter.unrecorded].map(Quota::clone);
    blobs.quota().into_iter().chain(of_jobs)
}

/// Creates the seeded accounts and keys, assembles the service, and starts its workers.
pub async fn start(config: ServiceConfig, parts: ServiceParts) -> Result<Service, StartError> {
    let ServiceParts { store: kind, clock, public, provider, blobs, with_metrics } = parts;
    let store = kind.store();
    let Owner { generated_key, account, is_new: account_is_new } = owner(&kind, &config).await?;
    let sign_in = SignInLinks { store: store.clone(), public: public.clone(), account };
    let signing_key = match config.signing_key {
        Some(given) => given,
        None => kind.signing_key().await?,
    };

    let assets = Assets::new(public.url(), &kind.public_urls(&public).await?);
    let blobs = kind.blobs(blobs, &config.blobs).await?;
    let (provider, provider_results) = match provider {
        Some(given) => (given, None),
        None => provider_of(config.provider, &clock, &assets, &blobs)?,
    };
    let worker = Worker {
        store: store.clone(),
        provider: provider.clone(),
        outputs: OutputStore {
            blobs: blobs.clone(),
            assets: assets.clone(),
            key: signing_key.clone(),
            clock: clock.clone(),
            limits: OutputLimits::new(config.jobs.output_max_mib),
        },
        clock: clock.clone(),
        settings: config.jobs,
        poll_spacing: Arc::default(),
        activity: Arc::default(),
    };

    let (table, (memory, public_memory)) = (routes::table(), memory_quotas(config.memory_budget));
    let listener = ListenerQuotas { memory: public_memory.clone(), ..ListenerQuotas::default() };
    let submitter = Submitter::new(store.clone(), provider, assets.clone());
    let mut others = kind.quotas();
    others.extend(provider_results.into_iter().chain(worker_quotas(&worker, &submitter)));
    others.push(public_memory.clone());
    let connections = listener.connections.clone();
    let quotas = Quotas { connections, memory: memory.clone(), others };
    let readings = Readings::of(quotas, kind.pool(), &worker, &submitter);
    let metrics = with_metrics.then(|| Arc::new(Metrics::new(&table, readings)));
    let api = Api {
        submitter: submitter.clone(),
        store,
        vendor: config.vendor,
        model_namespace: config.model_namespace.as_str().into(),
        cursors: Cursors::new(&signing_key),
        base_url: public.base_url().into(),
        slots: Slots::new(&signing_key, assets.clone(), clock.clone()),
        site: Site::new(&public, config.cors_origins),
        rates: Arc::new(Rates::new(config.rate_limits, clock.clone())),
        attempts: Arc::new(Attempts::new(clock)),
        blobs,
        assets,
        memory,
        public_memory,
        readiness: Readiness::default(),
        openapi: Document::new(&openapi::document(Some(&public), &config.model_namespace)),
    };
    let app = ApiService { routes: Routes::new(table)?, api, metrics };
    let background = BackgroundTasks { submitter, workers: WorkerPool::start(&worker) };
    let app = Arc::new(app);
    Ok(Service { app, generated_key, sign_in, account_is_new, background, quotas: listener })
}
