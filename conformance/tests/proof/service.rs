//! A service of its own for each fault: store, files, keys, and the way in.

use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Arc;

use promptarium_conformance::{Target, TargetConfig};
use promptarium_server::blobs::{BlobSetting, Blobs};
use promptarium_server::clock::Clock;
use promptarium_server::generate::Provider;
use promptarium_server::generate::setting::ProviderSetting;
use promptarium_server::key::Vendor;
use promptarium_server::public_url::PublicUrl;
use promptarium_server::seed::Seed;
use promptarium_server::start::{self, Backing, ModelNamespace, Parts, Service, ServiceConfig};
use promptarium_server::store::Store;
use promptarium_server::store::memory::MemoryStore;
use tokio::net::TcpListener;

use crate::fault::{Fault, How};
use crate::front::Front;
use crate::proxy::{self, Serving, Way};

pub(crate) const MAIN: &str = "promptarium_live_main_h7Kq2mVx9PzL4wTc";
pub(crate) const READ_ONLY: &str = "promptarium_live_read_b3NsY8dRf6GjQ1uW";
pub(crate) const OTHER: &str = "promptarium_live_other_t5XaC2eZk9HvM7pJ";
pub(crate) const REVOKED: &str = "promptarium_live_gone_r4UgD8iSn3BwF6yL";

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

pub(crate) type NotStarted = Box<dyn Error + Send + Sync>;

impl Running {
    /// A service with this fault.
    pub(crate) async fn faulty(fault: &Fault) -> Result<Self, NotStarted> {
        let mut setting = Setting::default();
        match (fault.how)() {
            How::Front(front) => return Self::start(setting, Way::Front(front)).await,
            How::Heads(reread) => {
                return Self::start(setting, Way::Heads(reread, usize::MAX)).await;
            }
            How::Silent(max) => {
                let running = Self::start(setting, Way::Heads(|_| (), max)).await?;
                return Ok(Self { at_once: 1, ..running });
            }
            How::Store(_, wrap) => {
                let store = Arc::new(MemoryStore::new(setting.clock.clone()));
                setting.store = Some(wrap(store));
            }
            How::Setting(change) => change(&mut setting),
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
        let backing = Backing::Own(store);
        let parts = Parts { backing, clock, public, provider, blobs, with_metrics: false };
        let service = start::start(config()?, parts).await?;
        let serving = proxy::serve(listener, Arc::clone(&service.app), way).await?;
        let target = Arc::new(Target::new(target(&base_url)?)?);
        Ok(Self { target, at_once: AT_ONCE, _serving: serving, _service: service })
    }
}

fn config() -> Result<ServiceConfig, NotStarted> {
    let vendor = Vendor::new("promptarium").ok_or("no vendor")?;
    let seed = |text: String| Seed::parse(&text, &vendor);
    let seeds = vec![
        seed(format!("{MAIN}=alice:prompts:write"))?,
        seed(format!("{READ_ONLY}=alice:none"))?,
        seed(format!("{OTHER}=bob:prompts:write"))?,
        seed(format!("{REVOKED}=alice:revoked"))?,
    ];
    Ok(ServiceConfig {
        vendor,
        model_namespace: ModelNamespace::new("local").ok_or("no namespace")?,
        seeds,
        signing_key: None,
        blobs: BlobSetting::Memory,
        provider: ProviderSetting::Local,
        workers: WORKERS,
    })
}

fn target(base_url: &str) -> Result<TargetConfig, NotStarted> {
    let mut config = TargetConfig::new(base_url.parse()?, MAIN);
    config.read_only_api_key = Some(READ_ONLY.into());
    config.other_api_key = Some(OTHER.into());
    config.revoked_api_key = Some(REVOKED.into());
    Ok(config)
}
