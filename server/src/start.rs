//! Assembles a service: store, seeded keys, blob store, provider, routes and workers.
//!
//! The program and the embedded server both use it.

mod owner;

use std::sync::Arc;

use tokio::net::TcpListener;

use self::owner::owner;
pub(crate) use self::owner::{DEFAULT_ACCOUNT, SignInLinks};
use crate::api::openapi::{self, Document};
use crate::api::{Api, memory_quotas};
use crate::blobs::Blobs;
use crate::blobs::asset_url::Assets;
use crate::blobs::upload_slot::Slots;
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::{GeneratedKey, PublicUrl, SigningKey};
use crate::generate::local::{LocalProvider, PAINTERS};
use crate::generate::queue::{self, QueueSetting};
use crate::generate::submit::Submitter;
use crate::generate::worker::Worker;
use crate::generate::worker::pool::WorkerPool;
use crate::generate::{BackgroundTasks, OutputLimits, OutputStore, Provider};
use crate::http::browser::Site;
use crate::http::cursor::Cursors;
use crate::http::rates::{Attempts, Rates};
use crate::quota::Quota;
use crate::serve::listener::{ListenerLimits, ListenerQuotas, serve};
use crate::serve::metrics::{Metrics, Readings};
use crate::serve::routes::{self, Routes};
use crate::serve::service::ApiService;
use crate::store::postgres::PostgresStore;
use crate::store::{Cause, Store, StoreError};

/// Stores everything but files.
#[derive(Clone)]
pub enum StoreKind {
    /// A store that only this service uses. If no key is seeded, each start creates one.
    Single(Arc<dyn Store>),
    /// A database that several servers may use. It holds the signing key, unless one is
    /// configured, and gets a first key only while it has no account.
    Shared(PostgresStore),
}

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

impl Service {
    /// Serves until `stop` is ready, then drains and ends the background work. Returns how many
    /// connections were cut.
    pub(crate) async fn serve(
        self,
        listener: TcpListener,
        limits: ListenerLimits,
        stop: impl Future<Output = ()>,
    ) -> usize {
        if limits.connections_per_address == Some(0) {
            let memory = &self.quotas.memory;
            memory.resize(memory.usage().total, usize::MAX);
        }
        let drain = self.app.api.draining.clone();
        let stop = async move {
            stop.await;
            drain.cancel();
        };
        let cut = serve(listener, self.app, limits, self.quotas, stop).await;
        self.background.stop().await;
        cut
    }
}

/// The given or configured provider, with what bounds its results.
fn provider_of(
    given: Option<Arc<dyn Provider>>,
    queue: Option<QueueSetting>,
    clock: &Clock,
    assets: &Assets,
    blobs: &Blobs,
) -> Result<(Arc<dyn Provider>, Option<Quota>), Cause> {
    if let Some(given) = given {
        return Ok((given, None));
    }
    if let Some(queue) = queue {
        let results = queue.results.clone();
        return Ok((queue::open(queue)?, Some(results)));
    }
    let (clock, assets, blobs) = (clock.clone(), assets.clone(), blobs.clone());
    Ok((Arc::new(LocalProvider { clock, assets, blobs }), Some(PAINTERS.clone())))
}

/// The configured key, or the one in the database; otherwise a random one.
async fn signing_key(
    given: Option<SigningKey>,
    database: Option<&PostgresStore>,
) -> Result<SigningKey, StoreError> {
    match (given, database) {
        (Some(given), _) => Ok(given),
        (None, None) => Ok(SigningKey::random()),
        (None, Some(database)) => {
            let too_short = || StoreError::Internal("the stored signing key is too short".into());
            SigningKey::new(&database.signing_key().await?).ok_or_else(too_short)
        }
    }
}

/// Checks the store of files. Its files have the public URLs of this start and of all before it.
async fn open_assets(
    blobs: &Blobs,
    public: &PublicUrl,
    database: Option<&PostgresStore>,
) -> Result<Assets, Cause> {
    blobs.verify().await?;
    let mut public_urls = Vec::new();
    if let Some(database) = database {
        public_urls = database.add_public_url(public.url().as_str().trim_end_matches('/')).await?;
        blobs.check_mark(database).await?;
    }
    Ok(Assets::new(public.url(), &public_urls))
}

/// The quotas of the work on generations and thumbnails.
fn worker_quotas(worker: &Worker) -> impl Iterator<Item = Quota> {
    let OutputStore { blobs, limits, .. } = &worker.outputs;
    let of_jobs = [limits.large.clone()];
    #[cfg(feature = "dashboard")]
    let of_jobs = of_jobs.into_iter().chain([crate::blobs::thumbnail::THUMBNAILS.clone()]);
    blobs.quota().into_iter().chain(of_jobs)
}

/// Creates the seeded accounts and keys, assembles the service, and starts its workers.
pub async fn start(config: Config, parts: ServiceParts) -> Result<Service, Cause> {
    let ServiceParts { store, clock, public, provider, blobs, with_metrics } = parts;
    let (store, database) = match &store {
        StoreKind::Single(store) => (store.clone(), None),
        StoreKind::Shared(database) => (database.as_dyn(), Some(database)),
    };
    let (generated_key, account, account_is_new) = owner(&*store, database, &config).await?;
    let sign_in = SignInLinks { store: store.clone(), public: public.clone(), account };
    let (jobs, settings) = (config.jobs(), config.settings);
    let signing_key = signing_key(settings.signing_key, database).await?;
    let blobs = blobs.map_or_else(|| Blobs::open(&config.blobs), Ok)?;
    let assets = open_assets(&blobs, &public, database).await?;
    let (provider, provider_results) =
        provider_of(provider, config.provider, &clock, &assets, &blobs)?;
    let worker = Worker {
        store: store.clone(),
        provider: provider.clone(),
        outputs: OutputStore {
            blobs: blobs.clone(),
            assets: assets.clone(),
            key: signing_key.clone(),
            clock: clock.clone(),
            limits: OutputLimits::new(jobs.output_max_mib),
        },
        clock: clock.clone(),
        settings: jobs,
        activity: Arc::default(),
    };

    let (memory, public_memory) = memory_quotas(settings.memory_budget << 20);
    let listener = ListenerQuotas { memory: public_memory.clone(), ..ListenerQuotas::default() };
    let submitter = Submitter::new(store.clone(), provider, assets.clone());
    let mut quotas = database.map(PostgresStore::quotas).unwrap_or_default();
    quotas.extend(provider_results.into_iter().chain(worker_quotas(&worker)));
    quotas.push(public_memory.clone());
    let readings = Readings {
        connections: listener.connections.clone(),
        memory: memory.clone(),
        quotas,
        database: database.cloned(),
        worker: worker.clone(),
        submitter: submitter.clone(),
    };
    let metrics = with_metrics.then(|| Arc::new(Metrics::new(readings)));
    let workers = WorkerPool::start(&worker);
    let api = Api {
        submitter: submitter.clone(),
        store,
        vendor: settings.vendor,
        model_namespace: settings.model_namespace.as_str().into(),
        cursors: Cursors::new(&signing_key),
        base_url: public.base_url().into(),
        slots: Slots::new(&signing_key, assets.clone(), clock.clone()),
        site: Site::new(&public, settings.cors_origin),
        rates: Arc::new(Rates::new(settings.rate_limit, clock.clone())),
        attempts: Arc::new(Attempts::new(clock.clone())),
        #[cfg(feature = "dashboard")]
        replays: Arc::new(quick_cache::sync::Cache::new(4_096)),
        #[cfg(feature = "dashboard")]
        clock,
        blobs,
        assets,
        memory,
        public_memory,
        draining: workers.drain(),
        openapi: Document::new(&openapi::document(Some(&public), &settings.model_namespace)),
    };
    let app = Arc::new(ApiService { routes: Routes::new(routes::table())?, api, metrics });
    let background = BackgroundTasks { submitter, workers };
    Ok(Service { app, generated_key, sign_in, account_is_new, background, quotas: listener })
}
