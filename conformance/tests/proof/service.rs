//! A service of its own for each fault: store, files, keys, and the way in.

use std::net::Ipv4Addr;
use std::sync::Arc;

use promptarium_conformance::Target;
use promptarium_server::Clock;
use promptarium_server::provider::Provider;
use promptarium_server::store::Store;
use promptarium_server::test_support::Blobs;
use promptarium_server::test_support::MemoryStore;
use promptarium_server::test_support::PublicUrl;
use promptarium_server::test_support::{self as start, Service, ServiceParts, StoreKind};
use tokio::net::TcpListener;

use crate::fault::{Fault, Intercept};
use crate::front::Front;
use crate::heads;
use crate::keys;
use crate::parts::{NotStarted, config};
use crate::proxy::{self, Serving, Way};

const WORKERS: usize = 8;
/// How many scenarios run at once on one service.
const AT_ONCE: usize = 8;

/// What a fault may set otherwise.
#[derive(Default)]
pub(crate) struct Setting {
    pub(crate) store: Option<Arc<dyn Store>>,
    pub(crate) provider: Option<Arc<dyn Provider>>,
    pub(crate) blobs: Option<Blobs>,
    pub(crate) clock: Clock,
}

/// A running service, until it is dropped.
pub(crate) struct Running {
    pub(crate) target: Arc<Target>,
    /// How many scenarios may run at once.
    pub(crate) at_once: usize,
    _serving: Serving,
    _service: Service,
}

impl Running {
    /// A service with this fault.
    pub(crate) async fn faulty(fault: &Fault) -> Result<Self, NotStarted> {
        let mut setting = Setting::default();
        match (fault.how)() {
            Intercept::Front(front) => return Self::start(setting, Way::Front(front)).await,
            Intercept::Heads(change) => {
                let way = Way::Stream(heads::first_head(change), usize::MAX);
                return Self::start(setting, way).await;
            }
            Intercept::Stream(reread) => {
                return Self::start(setting, Way::Stream(reread, usize::MAX)).await;
            }
            Intercept::Silent(max) => {
                let running =
                    Self::start(setting, Way::Stream(heads::first_head(|_| ()), max)).await?;
                return Ok(Self { at_once: 1, ..running });
            }
            Intercept::Store(_, wrap) => {
                let store = Arc::new(MemoryStore::new(setting.clock.clone()));
                setting.store = Some(wrap(store));
            }
            Intercept::Setting(change) => change(&mut setting),
        }
        Self::start(setting, Way::Straight).await
    }

    /// A good service behind this front.
    pub(crate) async fn good(front: Option<Front>) -> Result<Self, NotStarted> {
        let way = front.map_or(Way::Straight, Way::Front);
        Self::start(Setting::default(), way).await
    }

    async fn start(setting: Setting, way: Way) -> Result<Self, NotStarted> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let public = PublicUrl::of_listener(listener.local_addr()?);
        let base_url = public.base_url();
        let Setting { store, provider, blobs, clock } = setting;
        let store = store.unwrap_or_else(|| Arc::new(MemoryStore::new(clock.clone())));
        let store = StoreKind::Single(store);
        let parts = ServiceParts { store, clock, public, provider, blobs, with_metrics: false };
        let service = start::start(config(WORKERS)?, parts).await?;
        let serving = proxy::serve(listener, Arc::clone(&service.app), way).await?;
        let link = service.sign_in.make().await?;
        let target = Arc::new(Target::new(keys::target(&base_url, link.as_deref())?)?);
        Ok(Self { target, at_once: AT_ONCE, _serving: serving, _service: service })
    }
}
