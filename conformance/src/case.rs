//! What a running scenario works with: calls to the target under each key, names that no other
//! scenario uses, and the deletion of everything it created.

mod clean_up;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::Method;

pub(crate) use self::clean_up::delete_if_present;
pub use self::clean_up::{state, status_path};
use crate::failure::{Failure, Result};
use crate::ledger::{Ledger, Resource};
use crate::target::{Auth, Target, must_work};
use crate::wire::{Call, Wire};

/// One run of one scenario. A clone is the same run.
#[derive(Clone)]
pub struct Case {
    target: Arc<Target>,
    tag: Arc<str>,
    names: Arc<AtomicU64>,
    pub(crate) ledger: Arc<Ledger>,
    wire: Wire,
}

impl Case {
    /// A case on `target`; `tag` names it in everything it makes.
    pub fn new(target: Arc<Target>, tag: impl Into<Arc<str>>) -> Self {
        let ledger = Arc::<Ledger>::default();
        let wire = Wire::new(Arc::clone(&target), Arc::clone(&ledger), Auth::Main);
        Self { target, tag: tag.into(), names: Arc::default(), ledger, wire }
    }

    /// The deployment under test.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Calls with the key of the account under test, or with that of [`Case::on`].
    pub fn wire(&self) -> Wire {
        self.wire.clone()
    }

    /// The same case, whose fixtures and calls go through this wire.
    #[must_use]
    pub fn on(&self, wire: Wire) -> Self {
        Self { wire, ..self.clone() }
    }

    /// The same case with the key of another account ([`crate::Need::OtherAccount`]).
    #[must_use]
    pub fn other_account(&self) -> Self {
        self.on(self.other())
    }

    /// The same case for calls on one thing at the same moment, see [`Wire::under_contention`].
    #[must_use]
    pub fn under_contention(&self) -> Self {
        self.on(self.wire().under_contention())
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
        Call::new(self.anonymous(), method, address.to_owned(), None)
    }

    pub(crate) fn wire_as(&self, auth: Auth) -> Wire {
        Wire::new(Arc::clone(&self.target), Arc::clone(&self.ledger), auth)
    }

    /// A text that no other case uses, of at most 50 characters while `what` has at most 10.
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
    pub fn adopt_prompt(&self, id: i64) {
        self.ledger.track(Auth::Main, Resource::Prompt(id));
    }

    /// Takes on a vault of the main account with all that is put into it, to be deleted in the end.
    pub fn adopt_vault(&self, id: i64) {
        self.ledger.track(Auth::Main, Resource::Fork(id));
    }

    /// A wait times the factor of this run (`--time-scale`). Every wait of a scenario passes here
    /// or through [`Case::until`].
    pub fn scaled(&self, wait: Duration) -> Duration {
        self.target.scaled(wait)
    }

    /// Fails if the preflight has found that no job of this target ends in time.
    pub fn waits_for_jobs(&self) -> Result {
        must_work(&self.target.capabilities.provider)
    }

    /// Polls until `probe` gives a value, or fails, for as long as `timeout`, which is scaled here.
    pub async fn until<T, F>(
        &self,
        what: &str,
        timeout: Duration,
        mut probe: impl FnMut() -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<Option<T>>>,
    {
        let timeout = self.scaled(timeout);
        let deadline = tokio::time::Instant::now() + timeout;
        let mut pause = Duration::from_millis(10);
        loop {
            if let Some(value) = probe().await? {
                return Ok(value);
            }
            if tokio::time::Instant::now() >= deadline {
                return Err(Failure::failed(
                    format!("{what} within {} s", timeout.as_secs_f64()),
                    "it did not happen",
                ));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }
}
