//! Assembles a service. Without parts from outside everything is in memory.

use std::sync::Arc;

use futures::future::join_all;
use http::Extensions;
use tokio_util::sync::CancellationToken;

use crate::api::openapi::{self, Document};
use crate::api::{Api, Middleware, Pages, Route, request_quotas};
use crate::blobs::Blobs;
use crate::blobs::urls::{Assets, Slots};
use crate::clock::Clock;
use crate::domain::{
    GeneratedKey, ModelNamespace, NewKey, PublicUrl, Scopes, SeedKey, SigningKey, Vendor,
};
use crate::generate::local::{LocalProvider, PAINTERS, Paint, waves};
use crate::generate::submit::Submitter;
use crate::generate::worker::Worker;
use crate::generate::worker::output::large_outputs;
use crate::generate::worker::pool::WorkerPool;
use crate::generate::{JobSettings, Provider};
use crate::http::browser::Site;
use crate::http::cursor::Cursors;
use crate::quota::Quota;
use crate::serve::listener::{Listener, ListenerLimits, ListenerQuotas, serve};
use crate::serve::routes::{self, Routes};
use crate::serve::service::ApiService;
use crate::store::memory::MemoryStore;
use crate::store::{Cause, Store, StoreError};

/// The account that is created if no key is seeded.
pub(crate) const DEFAULT_ACCOUNT: &str = "default";

#[derive(Clone, Default)]
pub(crate) struct ServiceSettings {
    pub(crate) vendor: Vendor,
    pub(crate) model_namespace: ModelNamespace,
    /// Keys that exist from the start.
    pub(crate) seeds: Vec<SeedKey>,
    /// By default one that the store remembers.
    pub(crate) signing_key: Option<SigningKey>,
    /// Bytes that the bodies of requests and responses may take.
    pub(crate) memory_budget: Option<usize>,
    pub(crate) jobs: JobSettings,
}

/// What replaces the parts in memory, and what is added to the API.
#[derive(Clone, Default)]
pub(crate) struct ServiceParts {
    /// It has a clock of its own.
    pub(crate) store: Option<Arc<dyn Store>>,
    pub(crate) clock: Clock,
    pub(crate) provider: Option<Arc<dyn Provider>>,
    pub(crate) paint: Option<Paint>,
    pub(crate) blobs: Option<Blobs>,
    /// Routes beside those of the API, or in their place.
    pub(crate) routes: Vec<Route>,
    pub(crate) pages: Option<Pages>,
    pub(crate) middleware: Option<Arc<dyn Middleware>>,
    /// Makes the shared state of the handlers of these routes.
    pub(crate) extensions: Option<fn() -> Extensions>,
    /// Adds shared state that needs the service, and starts other workers.
    pub(crate) extend: Option<Extend>,
}

pub(crate) type Extend = Arc<dyn Fn(&mut Api) -> Result<Option<WorkerPool>, Cause> + Send + Sync>;

/// A running service without a listener.
pub struct Service {
    /// Handles requests.
    pub app: Arc<ApiService>,
    /// The key that is created without seeded keys, in a database only while that has no account.
    pub generated_key: Option<GeneratedKey>,
    /// Makes sign-in links.
    pub sign_in: SignInLinks,
    /// Whether this start created the account of [`Service::sign_in`].
    pub account_is_new: bool,
    /// What bounds the use of this service, for metrics.
    pub(crate) quotas: Vec<Quota>,
    pub(crate) listener: ListenerQuotas,
    pub(crate) submitter: Submitter,
    pub(crate) worker: Worker,
    workers: Vec<WorkerPool>,
}

impl Service {
    /// Serves until `stop` is ready, then drains. Returns how many connections were cut.
    pub(crate) async fn serve(
        self,
        listener: Listener,
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
        let cut = serve(listener, self.app.clone(), limits, self.listener.clone(), stop).await;
        self.stop().await;
        cut
    }

    /// Waits until submissions in progress are recorded and workers have released their jobs.
    pub async fn stop(self) {
        let workers = join_all(self.workers.into_iter().map(WorkerPool::stop));
        tokio::join!(self.submitter.finish(), workers);
    }
}

/// The account of the created key, or of the first seeded one, for links that sign in to it.
#[derive(Clone)]
pub struct SignInLinks {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) public: PublicUrl,
    /// `None` where there is no such key.
    pub(crate) account: Option<Arc<str>>,
}

/// Creates the seeded keys, or the first one while there is no account. Returns the key that was
/// made, the account of that or of the first seeded key, and whether this account is new.
async fn owner(
    store: &dyn Store,
    settings: &ServiceSettings,
) -> Result<(Option<GeneratedKey>, Option<Arc<str>>, bool), StoreError> {
    let Some(SeedKey { account: first, .. }) = settings.seeds.first() else {
        let key = settings.vendor.make();
        let is_created =
            store.seed_first_key(DEFAULT_ACCOUNT, &NewKey::new(&key, Scopes::ALL)).await?;
        let key = is_created.then_some(key);
        let account = key.as_ref().map(|_| DEFAULT_ACCOUNT.into());
        return Ok((key, account, true));
    };
    let is_new = match store.keys(Some(first)).await {
        Err(StoreError::NotFound) => true,
        outcome => outcome.map(|_| false)?,
    };
    for SeedKey { account, key } in &settings.seeds {
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
    Ok((None, Some(first.as_str().into()), is_new))
}

/// The given key, or the one that the store remembers.
async fn signing_key(given: Option<SigningKey>, store: &dyn Store) -> Result<SigningKey, Cause> {
    let Some(given) = given else {
        let stored = SigningKey::new(&store.signing_key().await?);
        return Ok(stored.ok_or("the stored signing key is too short")?);
    };
    Ok(given)
}

/// Files have the public URLs of this start and of all before it.
async fn assets(store: &dyn Store, public: &PublicUrl) -> Result<Assets, StoreError> {
    store.set_last_public_url(public.url().as_str()).await?;
    let former = store.add_public_url(public.url().as_str().trim_end_matches('/')).await?;
    Ok(Assets::new(public.url(), &former))
}

/// Assembles the service, which clients reach at `public`, and starts its workers.
pub(crate) async fn start(
    settings: ServiceSettings,
    public: PublicUrl,
    parts: ServiceParts,
) -> Result<Service, Cause> {
    let clock = parts.clock;
    let store = parts.store.unwrap_or_else(|| Arc::new(MemoryStore::new(clock.clone())));
    let blobs = parts.blobs.unwrap_or_else(Blobs::in_memory);
    let (generated_key, account, account_is_new) = owner(&*store, &settings).await?;
    let sign_in = SignInLinks { store: store.clone(), public: public.clone(), account };
    let signing_key = signing_key(settings.signing_key, &*store).await?;
    let assets = assets(&*store, &public).await?;
    let (provider, painters): (Arc<dyn Provider>, _) = match parts.provider {
        Some(given) => (given, None),
        None => {
            let (clock, assets, blobs) = (clock.clone(), assets.clone(), blobs.clone());
            let paint = parts.paint.unwrap_or(waves);
            (Arc::new(LocalProvider { clock, assets, blobs, paint }), Some(PAINTERS.clone()))
        }
    };
    let worker = Worker {
        store: store.clone(),
        provider: provider.clone(),
        blobs: blobs.clone(),
        assets: assets.clone(),
        key: signing_key.clone(),
        clock: clock.clone(),
        settings: settings.jobs,
        large: large_outputs(),
        activity: Arc::default(),
    };
    let [memory, public_memory] = request_quotas(settings.memory_budget);
    let listener = ListenerQuotas::default();
    let submitter = Submitter::new(store.clone(), provider, assets.clone());
    let mut quotas = store.quotas();
    quotas.extend([worker.large.clone(), public_memory.clone(), listener.unread.clone()]);
    quotas.extend(painters.into_iter().chain(blobs.quota()));
    let draining = CancellationToken::new();
    let mut workers = vec![WorkerPool::start(&worker, &draining)];
    let mut api = Api {
        submitter: submitter.clone(),
        site: Site { is_in_memory: store.name() == "memory", ..Site::new(&public) },
        store,
        vendor: settings.vendor,
        model_namespace: settings.model_namespace.as_str().into(),
        cursors: Cursors::new(&signing_key),
        base_url: public.base_url().into(),
        slots: Slots::new(&signing_key, assets.clone(), clock.clone()),
        clock,
        blobs,
        assets,
        memory,
        public_memory,
        middleware: parts.middleware.unwrap_or_else(|| Arc::new(())),
        extensions: parts.extensions.map(|make| make()).unwrap_or_default(),
        draining,
        openapi: Document::new(&openapi::document(Some(&public), &settings.model_namespace)),
    };
    let more = parts.extend.map(|extend| extend(&mut api)).transpose()?;
    workers.extend(more.flatten());
    let routes = Routes::new([parts.routes, routes::table()].concat())?;
    let app = Arc::new(ApiService { routes, api, pages: parts.pages });
    Ok(Service {
        app,
        generated_key,
        sign_in,
        account_is_new,
        quotas,
        listener,
        submitter,
        worker,
        workers,
    })
}
