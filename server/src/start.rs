//! Assembles a service: store, seeded keys, blob store, provider, routes and workers.
//!
//! The program and the embedded server both use it.

mod owner;
mod store_kind;

use std::sync::Arc;

use tokio::net::TcpListener;

pub(crate) use self::owner::DEFAULT_ACCOUNT;
pub(crate) use self::owner::SignInLinks;
use self::owner::{Owner, owner};
pub use self::store_kind::StoreKind;
use crate::api::openapi::{self, Document};
use crate::api::{Api, Readiness, memory_quotas};
use crate::blobs::asset_url::Assets;
use crate::blobs::upload_slot::Slots;
use crate::blobs::{BlobOpenError, Blobs};
use crate::clock::Clock;
use crate::config::ServiceConfig;
use crate::domain::{GeneratedKey, PublicUrl};
use crate::generate::local::{LocalProvider, PAINTERS};
use crate::generate::queue::{OutboundError, QueueProvider, QueueSetting};
use crate::generate::submit::Submitter;
use crate::generate::worker::Worker;
use crate::generate::worker::pool::WorkerPool;
use crate::generate::{BackgroundTasks, OutputLimits, OutputStore, Provider};
use crate::http::attempts::Attempts;
use crate::http::browser::Site;
use crate::http::cursor::Cursors;
use crate::http::rates::Rates;
use crate::quota::Quota;
use crate::serve::listener::{Drained, Limits, ListenerQuotas, serve};
use crate::serve::metrics::{Metrics, Quotas, Readings};
use crate::serve::routes::{self, Routes};
use crate::serve::service::ApiService;
use crate::store::StoreError;

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
    #[error("the store failed")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blobs(#[from] BlobOpenError),
    #[error("the HTTP client of the provider could not be built")]
    Provider(#[from] OutboundError),
    #[error("two routes have the same path")]
    Routes(#[from] matchit::InsertError),
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
    #[cfg(feature = "dashboard")]
    others.push(crate::blobs::thumbnail::THUMBNAILS.clone());
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
        attempts: Arc::new(Attempts::new(clock.clone())),
        #[cfg(feature = "dashboard")]
        replays: Default::default(),
        #[cfg(feature = "dashboard")]
        clock,
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
