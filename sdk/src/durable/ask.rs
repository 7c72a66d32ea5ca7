//! Finds out whether open steps were carried out, by asking the service.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use http::header::DATE;
use jiff::SignedDuration;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::step::{decoded, encoded};
use super::steps::{Begin, Claim, Event, Kind, Line, Recorded, State};
use super::{Journal, Shared};
use crate::error::Error;
use crate::model::{Timestamp, VaultId};
use crate::resources::uploads::UploadedImage;
use crate::response::RawResponse;
use crate::send::outcome::Outcome;

/// The clock of this machine may have been set by this much between the call and the question.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(5);

/// The fields by which a prompt or vault is recognized.
type Identity = Vec<Value>;

impl Journal {
    /// Resolves the step if it is open. Returns its result, or `None` if it was not carried out.
    pub(super) async fn ask(&self, claim: &Claim<'_>) -> Result<Option<Value>, Error> {
        let settled = self.settled_at(claim);
        loop {
            if claim.step().is_due(self.settle) {
                Box::pin(self.ask_once(claim)).await.map_err(|error| {
                    match error.is_retryable() {
                        true => error.with_outcome(Outcome::Unknown),
                        false => Error::ambiguous(&claim.key, &error).because(error),
                    }
                })?;
            }
            let step = claim.step();
            match step.state {
                State::Done(value) => return Ok(Some(value)),
                State::NotDone => return Ok(None),
                State::Ambiguous(reason) => return Err(Error::ambiguous(&claim.key, reason)),
                State::Open => match settled.max(step.settled_at(self.settle)) {
                    Some(time) => sleep_until(time).await,
                    None => std::future::pending().await,
                },
            }
        }
    }

    /// The time from which on an absence counts for all steps that one question is about.
    fn settled_at(&self, claim: &Claim<'_>) -> Option<Instant> {
        let kind = Some(claim.kind).filter(|kind| kind.is_listed());
        let is_asked_for =
            |it: &Recorded| kind == Some(it.begin.kind) && matches!(it.state, State::Open);
        let steps = self.shared.steps.ordered(is_asked_for).into_iter();
        steps.filter_map(|(_, step)| step.settled_at(self.settle)).max()
    }

    async fn ask_once(&self, claim: &Claim<'_>) -> Result<(), Error> {
        if claim.kind.is_listed() {
            let _asking = self.shared.asking.lock().await;
            // Another step may have asked for this one too.
            if claim.step().is_due(self.settle) {
                Box::pin(self.ask_for_all(claim.kind)).await?;
            }
            return Ok(());
        }
        let (step, asked) = (claim.step(), Instant::now());
        let found = match (claim.kind, &step.slot) {
            // Without a slot no byte was sent.
            (Kind::Upload, None) => {
                return self.shared.write(vec![Line::new(&claim.key, Event::NotDone)]).await;
            }
            (_, Some(image)) => self.shared.find_image(image).await?,
            (..) => self.shared.find_job(&step.begin).await?,
        };
        let line = self.line(&claim.key, &step, found, asked);
        self.shared.write(line.into_iter().collect()).await
    }

    /// Resolves all open steps of a kind, with one reading of each list.
    async fn ask_for_all(&self, kind: Kind) -> Result<(), Error> {
        let _creating = self.shared.creating.write().await;
        // All prompts last: those of a vault belong to the steps that name it.
        let mut vaults = BTreeMap::<_, HashMap<Identity, Vec<_>>>::new();
        let (mut known, mut lines) = (Vec::new(), Vec::new());
        for (key, step) in self.shared.steps.ordered(|step| step.begin.kind == kind) {
            match &step.state {
                State::Open => {
                    let identities = vaults.entry(Reverse(vault(&step.begin))).or_default();
                    let identity = kind.identity(&step.begin.content);
                    identities.entry(identity).or_default().push((key, step));
                }
                State::Done(value) => known.extend(value.get("id").cloned()),
                State::Ambiguous(_) | State::NotDone => {}
            }
        }
        for (Reverse(vault), identities) in vaults {
            let asked = Instant::now();
            let found = self.shared.list(kind, vault, |it| identities.contains_key(it)).await?;
            for (identity, steps) in identities {
                let first = steps.first().map(|(_, step)| step.begin.at);
                let results = found.iter().filter(|(of, created_at, result)| {
                    let is_known = result.get("id").is_none_or(|id| known.contains(id));
                    *of == identity && Some(*created_at) >= first && !is_known
                });
                let results: Vec<_> = results.map(|(.., result)| result.clone()).collect();
                if results.len() > steps.len() {
                    let reason = "the service has more like it than steps of the journal";
                    for (key, _) in steps {
                        self.shared.steps.change(&key, |it| it.state = State::Ambiguous(reason));
                    }
                    continue;
                }
                known.extend(results.iter().filter_map(|result| result.get("id").cloned()));
                let mut results = results.into_iter();
                for (key, step) in &steps {
                    lines.extend(self.line(key, step, results.next(), asked));
                }
            }
        }
        self.shared.write(lines).await
    }

    /// The line of a step after the service was asked at this time, if the answer counts.
    fn line(
        &self,
        key: &str,
        step: &Recorded,
        found: Option<Value>,
        asked: Instant,
    ) -> Option<Line> {
        let is_settled = || step.settled_at(self.settle).is_some_and(|settled| asked >= settled);
        let event = match found {
            Some(value) => Event::Done { value },
            None if is_settled() => Event::NotDone,
            None => {
                self.shared.steps.change(key, |step| step.asked = Some(asked));
                return None;
            }
        };
        Some(Line::new(key, event))
    }
}

impl Shared {
    async fn find_job(&self, step: &Begin) -> Result<Option<Value>, Error> {
        let text = |name: &str| step.content.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut call = self.client.generations().create(text("modelId"), text("prompt"));
        if let Some(job) = &step.job {
            call = call.client_job_id(job);
        }
        let outputs = step.content.get("batchCount").and_then(Value::as_u64);
        if let Some(outputs) = outputs.and_then(|outputs| u32::try_from(outputs).ok()) {
            call = call.batch_count(outputs);
        }
        call.set_vault(vault(step)).find(step.at).send().await?.as_ref().map(encoded).transpose()
    }

    async fn find_image(&self, image: &UploadedImage) -> Result<Option<Value>, Error> {
        let download = self.client.assets().download(&image.url).max_size(image.size);
        // A cache may remember that it was not there.
        match Box::pin(download.header("cache-control", "no-cache").send()).await {
            Ok(asset) if asset.bytes.len() as u64 == image.size => encoded(image).map(Some),
            Ok(asset) => {
                let (found, size) = (asset.bytes.len(), image.size);
                Err(Error::input(format!("its URL has {found} bytes, not {size}")))
            }
            Err(error) if error.is_absent() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads the list of vaults, or that of the prompts of a vault or of all. Returns those with a
    /// wanted identity, the oldest first, with the latest time at which they may have been created,
    /// by the clock of this machine.
    async fn list(
        &self,
        kind: Kind,
        vault: Option<VaultId>,
        is_wanted: impl Fn(&Identity) -> bool + Send,
    ) -> Result<Vec<(Identity, Timestamp, Value)>, Error> {
        let mut found = Vec::new();
        let mut keep = |created_at, result: Value| {
            let identity = kind.identity(&result);
            if is_wanted(&identity) {
                found.push((identity, created_at, result));
            }
        };
        let response = if kind == Kind::Vault {
            let vaults = self.client.vaults().list().send_with_meta().await?;
            for vault in &vaults.value {
                keep(vault.created_at, encoded(vault)?);
            }
            vaults.meta
        } else {
            let list = self.client.prompts().list().page_size(100).set_vault(vault);
            let first = list.clone().send_with_meta().await?;
            for prompt in &first.value.items {
                keep(prompt.created_at, encoded(prompt)?);
            }
            if let Some(rest) = list.next_page(&first.value) {
                let mut rest = rest.items();
                while let Some(prompt) = rest.try_next().await? {
                    keep(prompt.created_at, encoded(&prompt)?);
                }
            }
            first.meta
        };
        let skew = CLOCK_SKEW.saturating_sub(ahead(&response).unwrap_or_default());
        for (_, created_at, _) in &mut found {
            *created_at = created_at.checked_add(skew).unwrap_or(Timestamp::MAX);
        }
        found.sort_by_key(|(_, created_at, _)| *created_at);
        Ok(found)
    }
}

fn vault(step: &Begin) -> Option<VaultId> {
    step.content.get("vaultId").cloned().and_then(|id| decoded(id).ok())
}

/// How far the clock of the service is ahead of that of this machine.
fn ahead(response: &RawResponse) -> Option<SignedDuration> {
    let date = httpdate::parse_http_date(response.headers().get(DATE)?.to_str().ok()?).ok()?;
    Some(Timestamp::try_from(date).ok()?.duration_since(Timestamp::now()))
}
