//! Putting a service together: store, accounts, keys, routes, one [`App`].
//!
//! The program and the embedded server both begin here. Sockets come later.

use std::fmt;
use std::sync::Arc;

use crate::api::Api;
use crate::app::App;
use crate::cursor::Cursors;
use crate::key::{MadeKey, Vendor};
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use crate::route::{self, Routes};
use crate::seed::Seed;
use crate::store::{NewKey, Scopes, Store, StoreError};

/// The account that is made when no key was seeded.
pub const DEFAULT_ACCOUNT: &str = "default";

/// What a service is made from.
#[derive(Clone, Debug)]
pub struct ServiceConfig {
    /// The prefix of its keys.
    pub vendor: Vendor,
    /// The prefix of its provider's models.
    pub model_namespace: ModelNamespace,
    /// Keys to be there from the start.
    pub seeds: Vec<Seed>,
    /// Signs cursors; made if absent, and then good until the service stops.
    pub signing_key: Option<SigningKey>,
}

/// The prefix of a provider's models: letters, digits, `.`, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelNamespace(Box<str>);

/// A secret that signs what the service hands out. `Debug` hides it.
#[derive(Clone)]
pub struct SigningKey(Box<[u8]>);

/// A service that answers requests.
pub struct Service {
    /// Answers them.
    pub app: Arc<App>,
    /// A key with all scopes of a new account, if no key was seeded.
    pub made_key: Option<MadeKey>,
}

/// Why there is no service.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Two keys cannot have one public id.
    #[error("seed key number {0} has the public id of another key")]
    SeedTaken(usize),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
    /// The table of routes has a fault.
    #[error("two routes have the same path")]
    Routes(#[from] matchit::InsertError),
    /// The metrics have a fault.
    #[error("the metrics could not be set up")]
    Metrics(#[from] metrics_exporter_prometheus::BuildError),
}

impl ModelNamespace {
    /// Takes at least one letter, digit, `.`, `_` or `-`.
    pub fn new(text: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        (!text.is_empty() && text.chars().all(plain)).then(|| Self(text.into()))
    }
}

impl SigningKey {
    /// The fewest bytes that are taken.
    pub const BYTES_MIN: usize = 32;

    /// Takes a secret of at least [`SigningKey::BYTES_MIN`] bytes.
    pub fn new(secret: &[u8]) -> Option<Self> {
        (secret.len() >= Self::BYTES_MIN).then(|| Self(secret.into()))
    }

    fn make() -> Self {
        Self(Box::new(rand::random::<[u8; Self::BYTES_MIN]>()))
    }
}

/// Makes the accounts and keys that are asked for, and the service around `store`.
///
/// # Errors
/// If a seed clashes with another key, or the store fails.
pub async fn start(
    config: ServiceConfig,
    store: Arc<dyn Store>,
    with_metrics: bool,
) -> Result<Service, StartError> {
    let made_key = seed(&*store, &config).await?;
    let table = route::table();
    let metrics = if with_metrics { Some(Metrics::new(&table)?) } else { None };
    let signing_key = config.signing_key.unwrap_or_else(SigningKey::make);
    let api = Api {
        store,
        model_namespace: config.model_namespace.0,
        cursors: Cursors::new(&signing_key.0),
        readiness: Readiness::default(),
    };
    let app = App { routes: Routes::new(table)?, api, vendor: config.vendor, metrics };
    Ok(Service { app: Arc::new(app), made_key })
}

/// The key that was made because none was seeded.
async fn seed(store: &dyn Store, config: &ServiceConfig) -> Result<Option<MadeKey>, StartError> {
    for (at, seed) in config.seeds.iter().enumerate() {
        match store.seed_key(&seed.account, seed.key.clone()).await {
            Err(StoreError::KeyTaken) => return Err(StartError::SeedTaken(at + 1)),
            outcome => outcome?,
        }
    }
    if !config.seeds.is_empty() {
        return Ok(None);
    }
    let key = config.vendor.make();
    let new = NewKey {
        public_id: key.presented().public_id().into(),
        digest: key.presented().digest(),
        scopes: Scopes::ALL,
        revoked: false,
    };
    store.seed_key(DEFAULT_ACCOUNT, new).await?;
    Ok(Some(key))
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").finish_non_exhaustive()
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("made_key", &self.made_key).finish_non_exhaustive()
    }
}
