//! The service in memory, as a transport.

mod routes;
mod state;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_core::future::BoxFuture;
use http::header::CONTENT_TYPE;
use http::{Method, Request, Response};
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::routes::template;
use self::state::{GENERATED, Kind, State};
use super::{API_KEY, ASSETS_URL, Answer, BASE_URL, STORAGE_URL, Script, SeenRequest, fixture};
use crate::transport::{Body, Failure, Transport};
use crate::{Asset, Client, ClientBuilder, Prompt, Vault, VaultId, VaultPrompt};

/// The service in memory: a [`Transport`] that stores what the code under test creates. It opens
/// no socket.
///
/// It begins with the vault General and nothing else. Clones share the state. A job is queued at
/// its first poll, in progress at the second and completed at the third. The service refuses a
/// request that lacks a required field, or that names something which does not exist; it does not
/// check most limits. Each `POST /generations` queues a job, even if its `clientJobId` exists:
/// the specification does not say that the id makes the request idempotent.
///
/// ```
/// use promptarium::testing::FakeService;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), promptarium::Error> {
/// let service = FakeService::new();
/// let client = service.client();
/// let vault = client.vaults().create("Harbours").await?;
/// client.prompts().create("Dusk", "A harbour at dusk").vault(vault.id).await?;
/// client.generations().create("local/plasma", "A harbour at dawn").and_wait().await?;
///
/// assert_eq!(service.prompts()[0].vault_ids, [vault.id]);
/// assert_eq!(service.generations().len(), 1);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct FakeService {
    script: Script,
    state: Arc<Mutex<State>>,
}

impl FakeService {
    /// A service without prompts.
    #[must_use]
    pub fn new() -> Self {
        let (script, state) = (Script::new(), Arc::new(Mutex::new(State::new())));
        let generated = script.get(format!("{ASSETS_URL}/{GENERATED}/{{name}}"));
        generated.always(Answer::asset(&fixture::asset()));
        script.storage();
        let shared = state.clone();
        script.any().always_with(move |request| lock(&shared).answer(request));
        Self { script, state }
    }

    /// With these habits of other services, from now on and for its clones too.
    ///
    /// ```
    /// use promptarium::testing::{FakeService, Rudeness};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), promptarium::Error> {
    /// let client = FakeService::new().rude([Rudeness::CancelsJobs]).client();
    /// let wait = client.generations().create("local/plasma", "A harbour").and_wait();
    /// let error = wait.final_states(["canceled"]).await.unwrap_err();
    /// assert!(error.is_job_failed());
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn rude(self, habits: impl IntoIterator<Item = Rudeness>) -> Self {
        lock(&self.state).habits.extend(habits);
        self
    }

    /// A client of the service with default settings; see [`builder`](Self::builder) for others.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the settings are constants, and are tested")]
    pub fn client(&self) -> Client {
        self.builder().build().expect("the settings of a test client are valid")
    }

    /// The settings of [`client`](Self::client).
    pub fn builder(&self) -> ClientBuilder {
        Client::builder().base_url(BASE_URL).api_key(API_KEY).transport(self.clone())
    }

    /// All prompts, the oldest first.
    #[must_use]
    pub fn prompts(&self) -> Vec<Prompt> {
        typed(lock(&self.state).all(Kind::Prompt))
    }

    /// All vaults, the oldest, which is General, first.
    #[must_use]
    pub fn vaults(&self) -> Vec<Vault> {
        typed(lock(&self.state).all(Kind::Vault))
    }

    /// The prompts in a vault, pinned ones first.
    #[must_use]
    pub fn vault_prompts(&self, vault: VaultId) -> Vec<VaultPrompt> {
        typed(lock(&self.state).members(vault.get()))
    }

    /// The request bodies of all jobs, in the order in which they were queued.
    #[must_use]
    pub fn generations(&self) -> Vec<Value> {
        lock(&self.state).generations()
    }

    /// All images that were uploaded, in order.
    #[must_use]
    pub fn uploads(&self) -> Vec<Asset> {
        let mut slots = BTreeSet::new();
        let requests = self.requests().into_iter();
        let uploads = requests.filter(|put| {
            put.method == Method::PUT
                && put.path.starts_with(STORAGE_URL)
                && !put.body.is_empty()
                // The storage refuses a second upload to a slot.
                && slots.insert(put.path.clone())
        });
        uploads
            .map(|put| Asset {
                content_type: put.header(CONTENT_TYPE.as_str()).map(str::to_owned),
                bytes: put.body,
            })
            .collect()
    }

    /// All requests so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.script.requests()
    }

    /// Completes all jobs, and returns the prompts that hold their output.
    pub(super) fn complete_jobs(&self) -> BTreeSet<i64> {
        lock(&self.state).complete_jobs()
    }
}

/// A habit of services that the specification does not forbid, and that code under test may not
/// expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rudeness {
    /// Titles, texts, names and descriptions are stored without spaces at their ends, and with `\n` as
    /// line end.
    ChangesTexts,
    /// The status of a job that was never queued is 200 with the state `not_found`.
    KnowsEveryJob,
    /// Jobs end in the state `canceled`, without output.
    CancelsJobs,
    /// The second request for the status of a job is 404.
    LosesJobs,
    /// Everything was created 10 minutes earlier by the clock of the service.
    ClockBehind,
}

impl Rudeness {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::ChangesTexts,
        Self::KnowsEveryJob,
        Self::CancelsJobs,
        Self::LosesJobs,
        Self::ClockBehind,
    ];
}

/// A request without its ids, such as `GET /prompts/{promptId}`.
pub(super) fn route(request: &Request<Body>) -> String {
    let url = request.uri().to_string();
    let url = url.split('?').next().unwrap_or_default();
    let path = match url.strip_prefix(BASE_URL) {
        Some(path) => template(path).map_or(path, |(template, _)| template),
        None if url.starts_with(STORAGE_URL) => "{uploadUrl}",
        None => "{url}",
    };
    format!("{} {path}", request.method())
}

impl Transport for FakeService {
    fn send(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Failure>> {
        self.script.send(request)
    }
}

impl Default for FakeService {
    fn default() -> Self {
        Self::new()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::expect_used, reason = "a mistake of the test ends the test")]
fn typed<T: DeserializeOwned>(values: Vec<Value>) -> Vec<T> {
    serde_json::from_value(values.into()).expect("requests with fields of the right types")
}
