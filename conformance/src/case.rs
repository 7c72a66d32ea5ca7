//! What a running scenario holds: ways to call the target under each key, a
//! name no other case uses, and a list of what it made, so that all of it can
//! be taken away again.

mod jobs;

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::Method;
use promptarium::{Client, RetryPolicy};
use tokio::sync::{OwnedRwLockReadGuard, RwLock};

pub(crate) use self::jobs::Job;
pub use self::jobs::{state, status_path};
use crate::target::must_work;
use crate::wire::{Auth, Call, Unblanked, Wire};
use crate::{Failure, Target, sweep};

/// One run of one scenario. A copy is the same run.
#[derive(Clone)]
pub struct Case {
    target: Arc<Target>,
    tag: Arc<str>,
    names: Arc<AtomicU64>,
    made: Arc<Mutex<Vec<Made>>>,
    flights: Arc<RwLock<()>>,
    last: Arc<Mutex<Option<Unblanked>>>,
}

/// A request on its way; while one is, its case does not clean up.
pub(crate) type Flight = Option<OwnedRwLockReadGuard<()>>;

/// Something made, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) by: Auth,
    pub(crate) what: Thing,
}

/// What a scenario can leave behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    Prompt(i64),
    Vault(i64),
    /// A vault whose prompts were made with it.
    Fork(i64),
    /// A generation, which makes prompts in its own time.
    Job(Job),
    /// An API key, by its public id.
    Key(String),
}

impl Case {
    /// Longer than any scenario runs.
    const BEYOND: Duration = Duration::from_secs(24 * 60 * 60);

    /// A case on `target`; `tag` names it in everything it makes.
    pub fn new(target: Arc<Target>, tag: impl Into<Arc<str>>) -> Self {
        Self {
            target,
            tag: tag.into(),
            names: Arc::default(),
            made: Arc::default(),
            flights: Arc::default(),
            last: Arc::default(),
        }
    }

    /// The deployment under test.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Calls with the key of the account under test.
    pub fn wire(&self) -> Wire {
        self.wire_as(Auth::Main)
    }

    /// Calls with the key that may only read ([`crate::Need::ReadOnlyKey`]).
    pub fn read_only(&self) -> Wire {
        self.wire_as(Auth::ReadOnly)
    }

    /// Calls with the key of another account ([`crate::Need::OtherAccount`]).
    pub fn other(&self) -> Wire {
        self.wire_as(Auth::Other)
    }

    /// Calls with the revoked key ([`crate::Need::RevokedKey`]).
    pub fn revoked(&self) -> Wire {
        self.wire_as(Auth::Revoked)
    }

    /// Calls without an `Authorization` header.
    pub fn anonymous(&self) -> Wire {
        self.wire_as(Auth::None)
    }

    /// Any call to an address that the service gave, such as the `uploadUrl` and
    /// the `url` of a slot. No key goes there, and no report shows its query.
    pub fn storage(&self, method: Method, address: &str) -> Call {
        self.anonymous().call_given(method, address)
    }

    pub(crate) fn wire_as(&self, auth: Auth) -> Wire {
        Wire::new(self.clone(), auth)
    }

    /// The SDK with the key of the account under test.
    ///
    /// # Errors
    /// If the SDK refuses the address or the key.
    pub fn sdk(&self) -> Result<Client, Failure> {
        self.sdk_as(&self.target.config.api_key)
    }

    /// The SDK with this key.
    ///
    /// # Errors
    /// If the SDK refuses the address or the key.
    pub fn sdk_as(&self, key: &str) -> Result<Client, Failure> {
        Client::builder()
            .base_url(self.target.base_url())
            .api_key(key)
            .transport(self.wire())
            // Each call below keeps the time of its own.
            .idle_timeout(Self::BEYOND)
            .request_timeout(Self::BEYOND)
            .overall_timeout(Self::BEYOND)
            // What a second attempt would hide is what is looked for here.
            .retry(RetryPolicy::never())
            .build()
            .map_err(|error| Failure::error("an SDK client", error.to_string()))
    }

    /// A short text that no other case uses, for titles and names; at most 50
    /// characters while `what` has at most 10.
    pub fn name(&self, what: &str) -> String {
        let n = self.names.fetch_add(1, Ordering::Relaxed);
        format!("{what} {} {n}", self.tag)
    }

    /// A model id that image prompts may name.
    pub fn image_model(&self) -> &str {
        &self.target.config.image_model
    }

    /// A model id that video prompts may name.
    pub fn video_model(&self) -> &str {
        &self.target.config.video_model
    }

    /// Takes on a prompt of the main account, to be deleted in the end.
    pub fn adopt_prompt(&self, id: promptarium::PromptId) {
        self.made_by(&Auth::Main, Thing::Prompt(id.get()));
    }

    pub(crate) fn made_by(&self, by: &Auth, what: Thing) {
        self.lock().push(Made { by: by.clone(), what });
    }

    /// How many things it has made so far.
    pub(crate) fn made_count(&self) -> usize {
        self.lock().len()
    }

    /// Keeps this exchange for a report, in place of the one before.
    pub(crate) fn saw(&self, exchange: Unblanked) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(exchange);
    }

    /// The last exchange so far.
    pub(crate) fn last(&self) -> Option<Unblanked> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// To be held while a request is on its way. None once the case cleans up,
    /// whose own requests nothing waits for.
    pub(crate) fn flight(&self) -> Flight {
        Arc::clone(&self.flights).try_read_owned().ok()
    }

    /// This wait, as long as this run makes it (`--time-scale`). Every wait of a
    /// scenario passes here or through [`Case::until`].
    pub fn patience(&self, wait: Duration) -> Duration {
        self.target.stretched(wait)
    }

    /// To be asked before a job is waited for.
    ///
    /// # Errors
    /// If a probe has found that no job of this target ends in time.
    pub fn waits_for_jobs(&self) -> Result<(), Failure> {
        must_work(&self.target.capabilities.provider)
    }

    /// Asks again and again until `probe` gives a value, at growing intervals;
    /// `patience` is stretched here.
    ///
    /// # Errors
    /// The probe's own failure at once; a failure that says what was waited
    /// for once `patience` has run out.
    pub async fn until<T, F>(
        &self,
        what: &str,
        patience: Duration,
        mut probe: impl FnMut() -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<Option<T>, Failure>>,
    {
        let patience = self.patience(patience);
        let deadline = tokio::time::Instant::now() + patience;
        let mut pause = Duration::from_millis(10);
        loop {
            if let Some(value) = probe().await? {
                return Ok(value);
            }
            if tokio::time::Instant::now() >= deadline {
                return Err(Failure::failed(
                    format!("{what} within {patience:?}"),
                    "it did not happen",
                ));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }

    /// Deletes all that the case made and that is still there, latest first; in a run
    /// that is to keep what it made, only what a sweep would not find again.
    /// Waits for requests on their way first, as they may be making more.
    ///
    /// # Errors
    /// If something is still there; the text names it.
    pub async fn clean_up(&self) -> Result<(), Failure> {
        drop(self.flights.write().await);
        let made = std::mem::take(&mut *self.lock());
        let vault = |made: &Made| if let Thing::Vault(id) = made.what { Some(id) } else { None };
        let own: HashSet<i64> = made.iter().filter_map(vault).collect();
        let mut left = Vec::new();
        for Made { by, what } in made.into_iter().rev() {
            if let Err(failure) = self.remove(&by, &what, &own).await {
                left.push(format!("{what:?}: {}", failure.got));
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        Err(Failure::error("everything the scenario made to be deleted", left.join("; ")))
    }

    async fn remove(&self, by: &Auth, what: &Thing, own: &HashSet<i64>) -> Result<(), Failure> {
        if self.target.manners().keep && sweep::would_find(&self.wire_as(by.clone()), what).await? {
            return Ok(());
        }
        // A key that may only read should have made nothing, and can delete nothing.
        let by = if *by == Auth::ReadOnly { &Auth::Main } else { by };
        let session = matches!(what, Thing::Key(_)) && self.target.session.initialized();
        let wire = self.wire_as(if session { Auth::Session } else { by.clone() });
        let path = match what {
            Thing::Prompt(id) => format!("/prompts/{id}"),
            Thing::Vault(id) => format!("/vaults/{id}"),
            Thing::Key(id) => format!("/api-keys/{id}"),
            Thing::Fork(id) => {
                let listing = wire.get(&format!("/vaults/{id}/prompts")).await?;
                for prompt in listing.array("/data").unwrap_or_default() {
                    if let Some(prompt) = prompt["id"].as_i64() {
                        gone(&wire, &format!("/prompts/{prompt}")).await?;
                    }
                }
                format!("/vaults/{id}")
            }
            Thing::Job(job) => {
                let own = job.vault.is_some_and(|vault| own.contains(&vault));
                return self.remove_job(&wire, job, own).await;
            }
        };
        gone(&wire, &path).await
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Made>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Deletes it; a 404 is fine too.
pub(crate) async fn gone(wire: &Wire, path: &str) -> Result<(), Failure> {
    let reply = wire.delete(path).await?;
    match reply.status_code() {
        200..300 | 404 => Ok(()),
        status => Err(Failure::error("status 200 or 404", format!("status {status}"))),
    }
}
