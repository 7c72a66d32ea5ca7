//! The deployment under test: its address, its keys, how long to wait for it. `Debug` shows no keys.

mod capabilities;
pub mod environment;
mod options;
mod pace;
mod transport;

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use strum::IntoStaticStr;
use url::Url;

pub(crate) use self::capabilities::{Capabilities, must_work};
pub use self::capabilities::{Need, Untestable};
use self::environment::{API_KEY, OTHER_API_KEY, READ_ONLY_API_KEY, REVOKED_API_KEY};
pub use self::options::RunOptions;
pub(crate) use self::pace::Pace;
pub use self::transport::{Authorities, Http};
use crate::secret::Secrets;
use crate::{Failure, lock};

/// What a run is told about the deployment under test.
#[derive(Clone)]
pub struct TargetConfig {
    /// The API root, ending in `/api/v1`.
    pub base_url: Url,
    /// A key with `prompts:write`.
    pub api_key: String,
    /// A key of the same account without it.
    pub read_only_api_key: Option<String>,
    /// A key with `prompts:write` of another account.
    pub other_api_key: Option<String>,
    /// A revoked key.
    pub revoked_api_key: Option<String>,
    /// A model id that image prompts may name.
    pub image_model: String,
    /// A model id that video prompts may name.
    pub video_model: String,
    /// How long one answer may take, before it is scaled.
    pub timeout: Duration,
    /// Which version of HTTP is spoken.
    pub http: Http,
    /// Who is trusted to vouch for the target, beside those the system trusts.
    pub authorities: Authorities,
    /// How a run behaves.
    pub options: RunOptions,
}

impl TargetConfig {
    /// A target with one key and the default models.
    pub fn new(base_url: Url, api_key: impl Into<String>) -> Self {
        Self {
            base_url,
            api_key: api_key.into(),
            read_only_api_key: None,
            other_api_key: None,
            revoked_api_key: None,
            image_model: "local/plasma".into(),
            video_model: "local/plasma-video".into(),
            timeout: Duration::from_secs(Self::TIMEOUT_SECONDS.into()),
            http: Http::Auto,
            authorities: Authorities::default(),
            options: RunOptions::default(),
        }
    }

    /// Every key that was given, with the variable that holds it.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let others = [
            (READ_ONLY_API_KEY, self.read_only_api_key.as_deref()),
            (OTHER_API_KEY, self.other_api_key.as_deref()),
            (REVOKED_API_KEY, self.revoked_api_key.as_deref()),
        ];
        let others = others.into_iter().filter_map(|(name, key)| Some((name, key?)));
        std::iter::once((API_KEY, self.api_key.as_str())).chain(others)
    }
}

impl fmt::Debug for TargetConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base_url = self.base_url.as_str();
        f.debug_struct("TargetConfig").field("base_url", &base_url).finish_non_exhaustive()
    }
}

/// The statuses of a server for a call that it has not implemented.
pub(crate) const NOT_IMPLEMENTED: [u16; 3] = [404, 405, 501];

/// Which credentials a call carries.
///
/// As a text what a transcript calls it; empty for the key of the account under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
pub(crate) enum Auth {
    #[strum(serialize = "")]
    Main,
    #[strum(serialize = "the read-only key")]
    ReadOnly,
    #[strum(serialize = "the key of another account")]
    Other,
    #[strum(serialize = "the revoked key")]
    Revoked,
    #[strum(serialize = "no key")]
    None,
}

/// A deployment, ready to be asked.
pub struct Target {
    pub(crate) config: TargetConfig,
    pub(crate) http: reqwest::Client,
    pub(crate) tls: rustls::ClientConfig,
    pub(crate) secrets: Secrets,
    pub(crate) capabilities: Capabilities,
    pub(crate) pace: Pace,
    /// The ids that were given, each with its call.
    given: Mutex<HashSet<(&'static str, i64)>>,
    /// A call that gave an id twice.
    pub(crate) twice: OnceLock<&'static str>,
    /// The calls that are implemented, see [`Self::implements`].
    implemented: Mutex<HashSet<String>>,
}

impl Target {
    /// How long making a connection may take.
    const CONNECT: Duration = Duration::from_secs(10);
    /// An idle connection is closed long before a usual server closes it: a request that meets the
    /// closing looks like a fault of the server.
    const IDLE: Duration = Duration::from_secs(4);

    /// Makes the HTTP client; nothing is sent yet.
    pub fn new(config: TargetConfig) -> Result<Self, Failure> {
        let scale = |time: Duration| time.mul_f64(config.options.time_scale);
        let timeout = scale(config.timeout);
        // Redirects are answers to look at, and a proxy would answer in place of the target.
        let tls = transport::tls(config.http, &config.authorities)
            .map_err(|error| Failure::error("a configuration of TLS", error.to_string()))?;
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls.clone())
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .retry(reqwest::retry::never())
            .connect_timeout(scale(Self::CONNECT).min(timeout))
            .timeout(timeout)
            .pool_idle_timeout(Self::IDLE);
        let http = config.http.set(http).build();
        let http = http.map_err(|error| Failure::error("an HTTP client", error.to_string()))?;
        let secrets = Secrets::new(config.keys());
        let (capabilities, implemented) = (Capabilities::default(), Mutex::default());
        let (given, twice) = (Mutex::default(), OnceLock::new());
        let pace = Pace::new(config.options.rate);
        Ok(Self { config, http, tls, secrets, capabilities, pace, given, twice, implemented })
    }

    /// Notes how a call was answered. Refusing a key can be the work of something before the API.
    pub(crate) fn note(&self, call: String, status: u16) {
        if !matches!(status, 401 | 403) && !NOT_IMPLEMENTED.contains(&status) {
            lock(&self.implemented).insert(call);
        }
    }

    /// Notes the id that a call gave to something new.
    pub(crate) fn note_id(&self, call: &'static str, id: i64) {
        if !lock(&self.given).insert((call, id)) {
            let _ = self.twice.set(call);
        }
    }

    /// Whether a call ever had an answer that a server without it cannot give.
    pub(crate) fn implements(&self, call: &str) -> bool {
        lock(&self.implemented).contains(call)
    }

    /// The API root as text, without a slash at its end.
    pub fn base_url(&self) -> &str {
        self.config.base_url.as_str().trim_end_matches('/')
    }

    /// How long one answer may take.
    pub fn timeout(&self) -> Duration {
        self.scaled(self.config.timeout)
    }

    /// A wait, as long as this run makes it.
    pub fn scaled(&self, wait: Duration) -> Duration {
        wait.mul_f64(self.options().time_scale)
    }

    /// What the run was told about it.
    pub fn config(&self) -> &TargetConfig {
        &self.config
    }

    /// The settings of TLS connections to it, for scenarios that open sockets of their own.
    pub fn tls(&self) -> &rustls::ClientConfig {
        &self.tls
    }

    /// How this run behaves.
    pub fn options(&self) -> &RunOptions {
        &self.config.options
    }

    /// Whether the target was given what a scenario needs.
    pub fn offers(&self, need: Need) -> bool {
        match need {
            Need::ReadOnlyKey => {
                let reads = self.capabilities.read_only_key.get().is_none();
                reads && self.config.read_only_api_key.is_some()
            }
            Need::OtherAccount => self.config.other_api_key.is_some(),
            Need::RevokedKey => self.config.revoked_api_key.is_some(),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("config", &self.config).finish_non_exhaustive()
    }
}
