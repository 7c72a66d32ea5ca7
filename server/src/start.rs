//! Assembles a service: store, seeded keys, blob store, provider, routes and workers.
//!
//! The program and the embedded server both use it.

use std::sync::Arc;

use tokio::net::TcpListener;

use crate::api::openapi::{self, Document};
use crate::api::{Api, memory_quotas};
use crate::blobs::Blobs;
use crate::blobs::asset_url::Assets;
use crate::blobs::upload_slot::Slots;
use crate::clock::Clock;
use crate::config::{Config, SeedKey};
use crate::domain::{GeneratedKey, NewKey, PublicUrl, Scopes, SecretToken, SigningKey};
use crate::error_chain::error_chain;
use crate::generate::Provider;
use crate::generate::local::{LocalProvider, PAINTERS};
use crate::generate::queue::QueueSetting;
use crate::generate::submit::Submitter;
use crate::generate::worker::Worker;
use crate::generate::worker::output::large_outputs;
use crate::generate::worker::pool::WorkerPool;
use crate::http::browser::Site;
use crate::http::cursor::Cursors;
use crate::http::rates::Rates;
use crate::quota::Quota;
use crate::serve::listener::{ListenerLimits, ListenerQuotas, serve};
use crate::serve::metrics::{Metrics, Readings};
use crate::serve::routes::{self, Routes};
use crate::serve::service::ApiService;
use crate::store::memory::MemoryStore;
use crate::store::postgres::PostgresStore;
use crate::store::{Cause, DatabaseError, Store, StoreError};

/// The account that is created if no key is seeded.
pub(crate) const DEFAULT_ACCOUNT: &str = "default";

/// The given or the configured store, and the database if it is one.
async fn open_store(
    given: Option<Arc<dyn Store>>,
    config: &Config,
    clock: Clock,
) -> Result<(Arc<dyn Store>, Option<PostgresStore>), Cause> {
    let s = &config.settings;
    let Some(url) = s.database_url.as_ref().filter(|_| given.is_none()) else {
        let memory = || Arc::new(MemoryStore::new(clock).with_vaults_max(s.vaults_max)) as _;
        return Ok((given.unwrap_or_else(memory), None));
    };
    let database = PostgresStore::open(url, s.migrate, clock).await;
    let setting = config.source("database_url");
    let problem = |error| DatabaseError(format!("{setting}: {}", error_chain(&error)));
    let database = database.map_err(problem)?.with_vaults_max(s.vaults_max);
    Ok((database.as_dyn(), Some(database)))
}

/// What replaces the parts that are configured, and the clock.
#[derive(Clone, Default)]
pub struct ServiceParts {
    /// It has a clock of its own.
    pub store: Option<Arc<dyn Store>>,
    /// The source of time.
    pub clock: Clock,
    /// Of generations.
    pub provider: Option<Arc<dyn Provider>>,
    /// The store of files.
    pub blobs: Option<Blobs>,
}

/// A running service without a listener.
pub struct Service {
    /// Handles requests.
    pub app: Arc<ApiService>,
    /// The created key, with all scopes. Without seeded keys each start creates one, in a database
    /// only while that has no account.
    pub generated_key: Option<GeneratedKey>,
    /// Makes sign-in links.
    pub sign_in: SignInLinks,
    /// Whether this start created the account of [`Service::sign_in`].
    pub account_is_new: bool,
    submitter: Submitter,
    workers: WorkerPool,
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
            let memory = &self.app.api.public_memory;
            memory.resize(memory.usage().total, usize::MAX);
        }
        let drain = self.app.api.draining.clone();
        let stop = async move {
            stop.await;
            drain.cancel();
        };
        let cut = serve(listener, self.app.clone(), limits, self.quotas.clone(), stop).await;
        self.stop().await;
        cut
    }

    /// Waits until submissions in progress are recorded and workers have released their jobs.
    pub async fn stop(self) {
        tokio::join!(self.submitter.finish(), self.workers.stop());
    }
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
}

/// Creates the seeded keys, or the first one: in a shared database only while it has no account.
/// Returns the key that was made, the account of that or of the first seeded key, and whether this
/// account is new.
async fn owner(
    store: &dyn Store,
    database: Option<&PostgresStore>,
    config: &Config,
) -> Result<(Option<GeneratedKey>, Option<Arc<str>>, bool), StoreError> {
    if let Some(SeedKey { account: first, .. }) = config.seeds.first() {
        let is_new = match database {
            None => true,
            Some(database) => database.keys_of(first).await?.is_none(),
        };
        for SeedKey { account, key } in &config.seeds {
            match store.seed_key(account, key.clone()).await {
                // Its owner may have revoked it, which is not worth a stop of the service.
                Err(StoreError::KeyTaken) => tracing::warn!(
                    public_id = &*key.public_id,
                    account,
                    "a seed key was not created: it is revoked, or another key has its public id. \
                     Remove it from --seed-key, and create another one with `key create`"
                ),
                outcome => outcome?,
            }
        }
        return Ok((None, Some(first.as_str().into()), is_new));
    }
    let key = config.settings.vendor.make();
    let new = NewKey::new(&key, Scopes::ALL);
    let is_created = match database {
        None => store.seed_key(DEFAULT_ACCOUNT, new).await.map(|_| true)?,
        Some(database) => database.seed_first_key(DEFAULT_ACCOUNT, &new).await?,
    };
    let key = is_created.then_some(key);
    let account = key.as_ref().map(|_| DEFAULT_ACCOUNT.into());
    Ok((key, account, true))
}

/// The given, configured or built-in provider, with what bounds its results.
fn provider_of(
    given: Option<Arc<dyn Provider>>,
    queue: Option<QueueSetting>,
    local: LocalProvider,
) -> Result<(Arc<dyn Provider>, Option<Quota>), Cause> {
    Ok(match (given, queue) {
        (Some(given), _) => (given, None),
        (None, Some(queue)) => {
            let results = queue.results.clone();
            (queue.open()?, Some(results))
        }
        (None, None) => (Arc::new(local), Some(PAINTERS.clone())),
    })
}

/// The configured key, or the one in the database; otherwise a random one.
async fn signing_key(
    given: Option<SigningKey>,
    database: Option<&PostgresStore>,
) -> Result<SigningKey, Cause> {
    Ok(match (given, database) {
        (Some(given), _) => given,
        (None, None) => SigningKey::random(),
        (None, Some(database)) => SigningKey::new(&database.signing_key().await?)
            .ok_or("the stored signing key is too short")?,
    })
}

/// Checks the store of files. Its files have the public URLs of this start and of all before it.
async fn open_assets(
    blobs: &Blobs,
    public: &PublicUrl,
    database: Option<&PostgresStore>,
    refused: impl Fn(Cause) -> Cause + Copy,
) -> Result<Assets, Cause> {
    blobs.verify().await.map_err(refused)?;
    let mut public_urls = Vec::new();
    if let Some(database) = database {
        database.set_last_public_url(public.url().as_str()).await?;
        public_urls = database.add_public_url(public.url().as_str().trim_end_matches('/')).await?;
        blobs.check_mark(database).await.map_err(refused)?;
    }
    Ok(Assets::new(public.url(), &public_urls))
}

/// Opens the stores, creates the seeded accounts and keys, assembles the service, and starts its
/// workers. Clients reach it at `public`.
pub async fn start(
    config: Config,
    public: PublicUrl,
    ServiceParts { store, clock, provider, blobs }: ServiceParts,
) -> Result<Service, Cause> {
    let setting = config.source("blob_store");
    let refused = |problem| format!("{setting}: {problem}").into();
    // Before the database is migrated.
    let blobs = blobs.map_or_else(|| Blobs::open(&config.blobs), Ok).map_err(refused)?;
    let (store, database) = open_store(store, &config, clock.clone()).await?;
    let database = database.as_ref();
    let (generated_key, account, account_is_new) = owner(&*store, database, &config).await?;
    let sign_in = SignInLinks { store: store.clone(), public: public.clone(), account };
    let (jobs, settings) = (config.jobs(), config.settings);
    let signing_key = signing_key(settings.signing_key, database).await?;
    let assets = open_assets(&blobs, &public, database, refused).await?;
    let local =
        LocalProvider { clock: clock.clone(), assets: assets.clone(), blobs: blobs.clone() };
    let (provider, results) = provider_of(provider, config.provider, local)?;
    let worker = Worker {
        store: store.clone(),
        provider: provider.clone(),
        blobs: blobs.clone(),
        assets: assets.clone(),
        key: signing_key.clone(),
        clock: clock.clone(),
        settings: jobs,
        large: large_outputs(),
        activity: Arc::default(),
    };

    let (memory, public_memory) = memory_quotas(settings.memory_budget << 20);
    let listener = ListenerQuotas::default();
    let submitter = Submitter::new(store.clone(), provider, assets.clone());
    let mut quotas = database.map(PostgresStore::quotas).unwrap_or_default();
    quotas.extend(results.into_iter().chain(blobs.quota()));
    quotas.extend([worker.large.clone(), public_memory.clone()]);
    #[cfg(feature = "dashboard")]
    quotas.push(crate::blobs::thumbnail::THUMBNAILS.clone());
    let readings = Readings {
        connections: listener.connections.clone(),
        memory: memory.clone(),
        quotas,
        database: database.cloned(),
        worker: worker.clone(),
        submitter: submitter.clone(),
    };
    let metrics = settings.admin_listen.map(|_| Arc::new(Metrics::new(readings)));
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
    let quotas = listener;
    Ok(Service { app, generated_key, sign_in, account_is_new, submitter, workers, quotas })
}
