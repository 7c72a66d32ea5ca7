//! Finds out whether open steps were carried out, by asking the service.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use http::header::DATE;
use jiff::SignedDuration;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::line::Line;
use super::step::{Kind, decoded, encoded};
use super::steps::{Claim, Recorded, State};
use super::{Journal, Shared};
use crate::error::Error;
use crate::model::{Timestamp, VaultId};
use crate::resources::uploads::UploadedImage;
use crate::response::RawResponse;
use crate::send::outcome::Outcome;

/// The clock of this machine may have been set by this much between the call and the question.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(5);

/// Open steps by the vault and the fields by which their results are recognized.
type Groups = HashMap<(Option<VaultId>, Vec<Value>), Vec<(String, Recorded)>>;

/// The prompts or vaults of a list that may be results, oldest first.
struct Found {
    results: Vec<(Timestamp, Value)>,
    /// How far the clock of the service is ahead of that of this machine.
    ahead: SignedDuration,
}

impl Journal {
    /// Resolves the step if it is open. Returns its result, or `None` if it was not carried out.
    pub(super) async fn ask(&self, claim: &Claim) -> Result<Option<Value>, Error> {
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
    fn settled_at(&self, claim: &Claim) -> Option<Instant> {
        let listed = claim.kind.is_listed().then(|| self.shared.steps.open(claim.kind));
        let steps = listed.into_iter().flatten().map(|(_, step)| step);
        steps.filter_map(|step| step.settled_at(self.settle)).max()
    }

    async fn ask_once(&self, claim: &Claim) -> Result<(), Error> {
        if claim.kind.is_listed() {
            let _asking = self.shared.asking.lock().await;
            // Another step may have asked for this one too.
            if claim.step().is_due(self.settle) {
                Box::pin(self.ask_for_all(claim.kind)).await?;
            }
            return Ok(());
        }
        let (step, key, asked) = (claim.step(), claim.key.clone(), Instant::now());
        let found = match (claim.kind, &step.slot) {
            (Kind::Upload, None) => {
                // Without a slot no byte was sent.
                return self.shared.write(vec![Line::NotDone { key }]).await;
            }
            (_, Some(image)) => self.shared.find_image(image).await?,
            (..) => self.shared.find_job(&step).await?,
        };
        let line = self.line(key, &step, found, asked);
        self.shared.write(line.into_iter().collect()).await
    }

    /// Resolves all open steps of a kind, with one reading of each list.
    async fn ask_for_all(&self, kind: Kind) -> Result<(), Error> {
        let _creating = self.shared.creating.write().await;
        let mut groups = Groups::new();
        for (key, step) in self.shared.steps.open(kind) {
            let of = (vault(&step), kind.identity(&step.content));
            groups.entry(of).or_default().push((key, step));
        }
        // All prompts last: those of a vault belong to the steps that name it.
        let vaults: BTreeSet<_> = groups.keys().map(|(vault, _)| Reverse(*vault)).collect();
        let (mut known, mut lines) = (self.shared.steps.results(kind), Vec::new());
        for Reverse(vault) in vaults {
            let asked = Instant::now();
            let found = self.shared.list(kind, vault, &groups).await?;
            for ((of, identity), steps) in &groups {
                if *of != vault {
                    continue;
                }
                let first = steps.first().map(|(_, step)| step.began_at);
                let results = found.since(first).filter(|result| {
                    let is_known = result.get("id").is_none_or(|id| known.contains(id));
                    !is_known && kind.identity(result) == *identity
                });
                let results: Vec<_> = results.cloned().collect();
                if results.len() > steps.len() {
                    let reason = "the service has more like it than steps of the journal";
                    for (key, _) in steps {
                        self.shared.steps.change(key, |it| it.state = State::Ambiguous(reason));
                    }
                    continue;
                }
                known.extend(results.iter().filter_map(|result| result.get("id").cloned()));
                let mut results = results.into_iter();
                for (key, step) in steps {
                    lines.extend(self.line(key.clone(), step, results.next(), asked));
                }
            }
        }
        self.shared.write(lines).await
    }

    /// The line of a step after the service was asked at this time, if the answer counts.
    fn line(
        &self,
        key: String,
        step: &Recorded,
        found: Option<Value>,
        asked: Instant,
    ) -> Option<Line> {
        if let Some(value) = found {
            return Some(Line::Done { key, value });
        }
        if step.settled_at(self.settle).is_some_and(|settled| asked >= settled) {
            return Some(Line::NotDone { key });
        }
        self.shared.steps.change(&key, |step| step.asked = Some(asked));
        None
    }
}

impl Shared {
    async fn find_job(&self, step: &Recorded) -> Result<Option<Value>, Error> {
        let text = |name: &str| step.content.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut call = self.client.generations().create(text("modelId"), text("prompt"));
        if let Some(job) = &step.job {
            call = call.client_job_id(job);
        }
        let outputs = step.content.get("batchCount").and_then(Value::as_u64);
        if let Some(outputs) = outputs.and_then(|outputs| u32::try_from(outputs).ok()) {
            call = call.batch_count(outputs);
        }
        let found = call.set_vault(vault(step)).find(step.began_at).send().await?;
        found.as_ref().map(encoded).transpose()
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

    /// Reads the list of vaults, or that of the prompts of a vault or of all.
    async fn list(
        &self,
        kind: Kind,
        vault: Option<VaultId>,
        groups: &Groups,
    ) -> Result<Found, Error> {
        let mut found = Found { results: Vec::new(), ahead: SignedDuration::ZERO };
        let mut keep = |created_at, result: Value| {
            if groups.contains_key(&(vault, kind.identity(&result))) {
                found.results.push((created_at, result));
            }
        };
        let mut list = self.client.prompts().list().page_size(100).set_vault(vault);
        let response = loop {
            if kind == Kind::Vault {
                let list = self.client.vaults().list().send_with_meta().await?;
                for vault in &list.value {
                    keep(vault.created_at, encoded(vault)?);
                }
                break list.meta;
            }
            let page = list.clone().send_with_meta().await?;
            for prompt in &page.value.items {
                keep(prompt.created_at, encoded(prompt)?);
            }
            match list.next_page(&page.value) {
                None => break page.meta,
                Some(next) if next.cursor == list.cursor => {
                    return Err(Error::pagination_loop(next.cursor.as_ref()));
                }
                Some(next) => list = next,
            }
        };
        found.results.sort_by_key(|(created_at, _)| *created_at);
        found.ahead = ahead(&response).unwrap_or_default();
        Ok(found)
    }
}

impl Found {
    /// Those that were created after this time of this machine.
    fn since(&self, time: Option<Timestamp>) -> impl Iterator<Item = &Value> {
        let earliest = time.and_then(|time| time.checked_add(self.ahead).ok());
        let earliest = earliest.and_then(|time| time.checked_sub(CLOCK_SKEW).ok());
        let results = self.results.iter();
        results.filter(move |(at, _)| earliest.is_none_or(|time| *at >= time)).map(|(_, it)| it)
    }
}

fn vault(step: &Recorded) -> Option<VaultId> {
    step.content.get("vaultId").cloned().and_then(|id| decoded(id).ok())
}

fn ahead(response: &RawResponse) -> Option<SignedDuration> {
    let date = httpdate::parse_http_date(response.headers().get(DATE)?.to_str().ok()?).ok()?;
    Some(Timestamp::try_from(date).ok()?.duration_since(Timestamp::now()))
}
