//! The service of the program: the reference with what settings and features add to it. An embedded
//! server has the same pages and the same middleware.

mod middleware;
#[cfg(feature = "webhooks")]
pub(crate) mod webhooks;

use std::error::Error;
#[cfg(feature = "folder")]
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::Extensions;
use tokio::time::{Instant, sleep};

use self::middleware::ProgramMiddleware;
#[cfg(feature = "webhooks")]
use crate::api::webhooks::deliver::WebhookSettings;
#[cfg(feature = "folder")]
use crate::blobs::Blobs;
use crate::clock::Clock;
use crate::config::Config;
#[cfg(feature = "folder")]
use crate::config::DataPlace;
use crate::domain::{PublicUrl, SecretToken};
use crate::embedded::{EmbedError, EmbeddedServer, EmbeddedServerBuilder};
use crate::error_chain::error_chain;
use crate::generate::queue::QueueSetting;
use crate::generate::scene;
use crate::http::rates::Rates;
use crate::limits::product::DATABASE_WAIT_PAUSE;
use crate::search::{self, Searches};
use crate::serve::metrics::{Metrics, Readings, RequestMetrics};
use crate::start::{self, Service, ServiceParts, ServiceSettings, SignInLinks};
#[cfg(feature = "folder")]
use crate::store::folder::Folder;
use crate::store::memory::MemoryStore;
#[cfg(feature = "postgres")]
use crate::store::postgres::{ConnectError, DatabaseUrl, Migration, PostgresStore};
use crate::store::{Cause, Store, StoreError};
#[cfg(feature = "dashboard")]
use crate::web;

/// What is added to the API.
fn parts(middleware: ProgramMiddleware) -> ServiceParts {
    let parts = ServiceParts {
        routes: vec![search::route()],
        paint: Some(scene::paint),
        extensions: Some(|| {
            let mut extensions = Extensions::new();
            extensions.insert(Searches::default());
            #[cfg(feature = "dashboard")]
            web::share(&mut extensions);
            extensions
        }),
        middleware: Some(Arc::new(middleware)),
        ..ServiceParts::default()
    };
    #[cfg(feature = "dashboard")]
    let parts = ServiceParts {
        routes: [parts.routes, web::routes::table()].concat(),
        pages: Some(web::PAGES),
        ..parts
    };
    #[cfg(feature = "webhooks")]
    let parts = {
        let settings = WebhookSettings { allow_private: true, ..WebhookSettings::default() };
        let routes = [parts.routes, crate::api::webhooks::table()].concat();
        ServiceParts { routes, extend: Some(webhooks::deliver(settings)), ..parts }
    };
    parts
}

/// The configured store.
pub(crate) async fn open_store(config: &Config) -> Result<Arc<dyn Store>, Cause> {
    let settings = &config.settings;
    #[cfg(feature = "postgres")]
    if let Some(url) = &settings.database_url {
        let database = PostgresStore::open(url, settings.migrate, Clock::System).await?;
        return Ok(Arc::new(database.with_vaults_max(settings.vaults_max)));
    }
    let store = match &config.data {
        #[cfg(feature = "folder")]
        Some(DataPlace::Folder(folder)) => {
            let opened = open_folder(folder, Clock::System).await;
            opened.map_err(|error| format!("{}: {error}", config.source("data")))?
        }
        _ => MemoryStore::new(Clock::System),
    };
    Ok(Arc::new(store.with_vaults_max(settings.vaults_max)))
}

/// Opens the configured stores and starts the service, with metrics if they are served. Clients
/// reach it at `public`.
///
/// # Errors
/// Which setting or store is wrong.
pub async fn start(
    config: &Config,
    public: &PublicUrl,
) -> Result<(Service, Option<Arc<Metrics>>), Cause> {
    let setting = config.source("blob_store");
    let refused = |problem: Cause| -> Cause { format!("{setting}: {problem}").into() };
    // Files may be in the data folder, which must be ours; a database may have to be migrated.
    let folder = if config.data.is_some() { Some(open_store(config).await?) } else { None };
    let blobs = config.blobs.open().map_err(refused)?;
    blobs.verify().await.map_err(refused)?;
    let store = match folder {
        Some(store) => store,
        None => open_store(config).await?,
    };
    blobs.check_mark(&*store).await.map_err(refused)?;
    #[cfg(feature = "webhooks")]
    let webhooks = config.webhooks();
    let settings = &config.settings;
    let metrics = settings.admin_listen.as_ref().map(|_| RequestMetrics::default());
    let middleware = ProgramMiddleware {
        cors_origins: settings.cors_origin.clone(),
        rates: Rates::new(settings.rate_limit.clone(), Clock::System),
        metrics: metrics.clone(),
    };
    let results = config.provider.as_ref().map(|queue| queue.results.clone());
    let provider = config.provider.clone().map(QueueSetting::open).transpose()?;
    let parts =
        ServiceParts { store: Some(store), provider, blobs: Some(blobs), ..parts(middleware) };
    #[cfg(feature = "webhooks")]
    let parts = ServiceParts { extend: Some(webhooks::deliver(webhooks)), ..parts };
    let settings = ServiceSettings {
        vendor: settings.vendor.clone(),
        model_namespace: settings.model_namespace.clone(),
        seeds: config.seeds.clone(),
        signing_key: settings.signing_key.clone(),
        memory_budget: Some(settings.memory_budget << 20),
        jobs: config.jobs(),
    };
    let mut service = start::start(settings, public.clone(), parts).await?;
    service.quotas.extend(results);
    #[cfg(feature = "dashboard")]
    service.quotas.push(crate::blobs::thumbnail::THUMBNAILS.clone());
    let api = &service.app.api;
    service.quotas.extend(api.extensions.get().map(|Searches(quota)| quota.clone()));
    let readings = Readings {
        connections: service.listener.connections.clone(),
        memory: api.memory.clone(),
        quotas: service.quotas.clone(),
        store: api.store.clone(),
        worker: service.worker.clone(),
        submitter: service.submitter.clone(),
        deliveries: api.extensions.get().cloned().unwrap_or_default(),
    };
    let metrics = metrics.map(|requests| Arc::new(Metrics::new(&requests, readings)));
    Ok((service, metrics))
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

impl EmbeddedServer {
    /// Starts a server with one account and one key that may do everything.
    ///
    /// # Errors
    /// If no port is free.
    pub async fn start() -> Result<Self, EmbedError> {
        Self::builder().start().await
    }

    /// A builder; every setting is optional.
    pub fn builder() -> EmbeddedServerBuilder {
        let rates = Rates::new(Vec::new(), Clock::System);
        let middleware = ProgramMiddleware { cors_origins: Vec::new(), rates, metrics: None };
        EmbeddedServerBuilder::with_parts(parts(middleware))
    }

    /// A new link that signs a browser in to the account of the first seeded key, or of the
    /// generated one. It can be used once, within 15 minutes.
    ///
    /// # Errors
    /// If the store fails.
    #[cfg(feature = "dashboard")]
    pub async fn sign_in_url(&self) -> Result<String, EmbedError> {
        let link = self.sign_in.make().await.map_err(|e| EmbedError::Database(e.into()))?;
        // There is a seeded key in any case.
        Ok(link.unwrap_or_default())
    }
}

impl EmbeddedServerBuilder {
    /// Uses this PostgreSQL database, `postgres://user:password@host/name`, and migrates its
    /// schema. Servers of one database share all data and the signing key. Without a seeded key
    /// each server creates one in the account `default`. Files stay in this server's memory.
    #[cfg(feature = "postgres")]
    pub fn database_url(self, url: impl Into<String>) -> Self {
        let url: Arc<str> = url.into().into();
        self.open_store(Arc::new(move |clock| {
            let url = url.clone();
            Box::pin(async move {
                let problem = |error| EmbedError::Setting(format!("database_url: {error}"));
                let url = DatabaseUrl::parse(&url).map_err(problem)?;
                let database = PostgresStore::open(&url, Migration::Auto, clock).await;
                let problem = |error| format!("database_url: {}", error_chain(&error)).into();
                let database = database.map_err(|error| EmbedError::Database(problem(error)))?;
                Ok((Arc::new(database) as Arc<dyn Store>, None))
            })
        }))
    }
}

/// The store in a folder.
#[cfg(feature = "folder")]
async fn open_folder(folder: &Path, clock: Clock) -> Result<MemoryStore, Cause> {
    let store = Folder::lock(folder)?.open(clock)?;
    store.end_leases().await?;
    Ok(store)
}

#[cfg(feature = "folder")]
impl EmbeddedServerBuilder {
    /// Keeps all data in this folder, which is created if it is absent. One server at a time can use
    /// it.
    pub fn data(self, folder: impl Into<PathBuf>) -> Self {
        let folder: Arc<Path> = folder.into().into();
        self.open_store(Arc::new(move |clock| {
            let folder = folder.clone();
            Box::pin(async move {
                let store = open_folder(&folder, clock).await.map_err(EmbedError::Database)?;
                let files = Blobs::in_folder(&folder.join("blobs")).map_err(EmbedError::Start)?;
                Ok((Arc::new(store) as Arc<dyn Store>, Some(files)))
            })
        }))
    }
}

/// The database was away for all the time of `--database-wait`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct DatabaseAway(String);

/// What `open` returns. While the database is away, frozen or full it is called again, for as long as
/// `--database-wait`. An error of the database names its setting.
pub(crate) async fn with_database<T>(
    config: &Config,
    open: impl AsyncFn() -> Result<T, Cause>,
) -> Result<T, Cause> {
    let began = Instant::now();
    loop {
        let error = match open().await {
            Err(error) if config.data.is_none() => error,
            outcome => return outcome,
        };
        let Some(temporary) = of_database(&*error) else { return Err(error) };
        let text = format!("{}: {}", config.source("database_url"), error_chain(&*error));
        let left = config.settings.database_wait.saturating_sub(began.elapsed());
        match temporary {
            false => return Err(text.into()),
            true if left.is_zero() => return Err(Box::new(DatabaseAway(text))),
            true => {
                tracing::warn!(error = text, seconds = left.as_secs(), "waiting for the database");
            }
        }
        sleep(DATABASE_WAIT_PAUSE.min(left)).await;
    }
}

/// Of a failure of the database, whether it is temporary.
fn of_database(error: &(dyn Error + 'static)) -> Option<bool> {
    #[cfg(feature = "postgres")]
    if let Some(error) = error.downcast_ref::<ConnectError>() {
        return Some(error.is_temporary());
    }
    Some(error.downcast_ref::<StoreError>()?.is_temporary())
}
