//! Finds out whether open steps were carried out, by asking the service.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

use http::header::DATE;
use jiff::SignedDuration;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::line::Line;
use super::step::{Kind, decoded, encoded};
use super::steps::{Claim, Recorded, State};
use super::{Journal, Shared, settled_at};
use crate::error::Error;
use crate::model::{Timestamp, VaultId};
use crate::resources::uploads::UploadedImage;
use crate::response::RawResponse;

/// The clock of this machine may have been set by this much between the call and the question.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(5);

/// What prompts or vaults are looked for: in which vault, and by which fields.
type Wanted = HashSet<(Option<VaultId>, Vec<Value>)>;

impl Journal {
    /// Resolves the step if it is open. Returns its result, or `None` if it was not carried out.
    pub(super) async fn ask(&self, claim: &Claim) -> Result<Option<Value>, Error> {
        let steps = &self.shared.steps;
        let settled = steps.settled_at(claim.kind, &claim.key, self.settle);
        loop {
            if steps.is_due(&claim.key, self.settle) {
                Box::pin(self.ask_once(claim)).await.map_err(|error| {
                    match error.is_retryable() {
                        true => error,
                        false => Error::ambiguous(&claim.key, &error).because(error),
                    }
                })?;
            }
            match steps.state(&claim.key) {
                State::Done(value) => return Ok(Some(value)),
                State::NotDone => return Ok(None),
                State::Ambiguous(reason) => return Err(Error::ambiguous(&claim.key, reason)),
                State::Open { since, .. } => {
                    let own = settled_at(since, self.settle);
                    // Without a time the absence never counts.
                    match settled.max(own) {
                        Some(time) => sleep_until(time).await,
                        None => std::future::pending().await,
                    }
                }
            }
        }
    }

    async fn ask_once(&self, claim: &Claim) -> Result<(), Error> {
        if claim.kind.is_listed() {
            let _asking = self.shared.asking.lock().await;
            // Another step may have asked for this one too.
            if self.shared.steps.is_due(&claim.key, self.settle) {
                Box::pin(self.ask_for_all(claim.kind)).await?;
            }
            return Ok(());
        }
        let Some((step, since)) = self.shared.steps.open_step(&claim.key) else { return Ok(()) };
        let (key, asked) = (claim.key.clone(), Instant::now());
        let found = match (claim.kind, &step.slot) {
            (Kind::Upload, None) => {
                // Without a slot no byte was sent.
                return self.shared.write(vec![Line::NotDone { key }]).await;
            }
            (_, Some(image)) => self.shared.find_image(image).await?,
            (..) => self.shared.find_job(&step).await?,
        };
        let line = match found {
            Some(value) => Some(Line::Done { key, value }),
            None => self.absent(key, since, asked),
        };
        self.shared.write(line.into_iter().collect()).await
    }

    /// Resolves all open steps of a kind, with one reading of each list.
    async fn ask_for_all(&self, kind: Kind) -> Result<(), Error> {
        let _creating = self.shared.creating.write().await;
        let open = self.shared.steps.open(kind);
        let mut known = self.shared.steps.results(kind);
        let mut wanted = Wanted::new();
        for (_, step, _) in &open {
            wanted.insert((vault(step), kind.identity(&step.content)));
        }
        // All prompts last: those of a vault belong to the steps that name it.
        let vaults: BTreeSet<_> = wanted.iter().map(|(vault, _)| Reverse(*vault)).collect();
        let mut lines = Vec::new();
        for Reverse(of) in vaults {
            let asked = Instant::now();
            let (found, ahead) = self.shared.list(kind, of, &wanted).await?;
            for (_, identity) in wanted.iter().filter(|(vault, _)| *vault == of) {
                let of_content = |step: &Recorded| {
                    vault(step) == of && kind.identity(&step.content) == *identity
                };
                let steps: Vec<_> = open.iter().filter(|(_, step, _)| of_content(step)).collect();
                let earliest = steps.first().and_then(|(_, first, _)| {
                    first.began_at.checked_add(ahead).ok()?.checked_sub(CLOCK_SKEW).ok()
                });
                let candidates = found.iter().filter(|(created_at, value)| {
                    earliest.is_none_or(|earliest| *created_at >= earliest)
                        && kind.identity(value) == *identity
                        && value.get("id").is_some_and(|id| !known.contains(id))
                });
                let candidates: Vec<_> = candidates.map(|(_, value)| value.clone()).collect();
                if candidates.len() > steps.len() {
                    let reason = "the service has more like it than steps of the journal";
                    for (key, ..) in steps {
                        self.shared.steps.ambiguous(key, reason);
                    }
                    continue;
                }
                known.extend(candidates.iter().filter_map(|value| value.get("id").cloned()));
                let mut candidates = candidates.into_iter();
                for (key, _, since) in steps {
                    let key = key.clone();
                    lines.extend(match candidates.next() {
                        Some(value) => Some(Line::Done { key, value }),
                        None => self.absent(key, *since, asked),
                    });
                }
            }
        }
        self.shared.write(lines).await
    }

    /// The line of a step that the service did not have at this time, if that counts.
    fn absent(&self, key: String, since: Instant, asked: Instant) -> Option<Line> {
        let counts = settled_at(since, self.settle).is_some_and(|settled| asked >= settled);
        if !counts {
            self.shared.steps.asked(&key, asked);
        }
        counts.then_some(Line::NotDone { key })
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

    /// The prompts or vaults that are wanted, oldest first, and how far the clock of the service is
    /// ahead.
    async fn list(
        &self,
        kind: Kind,
        of: Option<VaultId>,
        wanted: &Wanted,
    ) -> Result<(Vec<(Timestamp, Value)>, SignedDuration), Error> {
        let mut found = Vec::new();
        let mut keep = |created_at, value: Result<Value, Error>| -> Result<(), Error> {
            let value = value?;
            if wanted.contains(&(of, kind.identity(&value))) {
                found.push((created_at, value));
            }
            Ok(())
        };
        let ahead = if kind == Kind::Vault {
            let list = self.client.vaults().list().send_with_meta().await?;
            for vault in &list.value {
                keep(vault.created_at, encoded(vault))?;
            }
            ahead(&list.meta)
        } else {
            let mut list = self.client.prompts().list().page_size(100).set_vault(of);
            loop {
                let page = list.clone().send_with_meta().await?;
                for prompt in &page.value.items {
                    keep(prompt.created_at, encoded(prompt))?;
                }
                match list.next_page(&page.value) {
                    None => break ahead(&page.meta),
                    Some(next) if next.cursor == list.cursor => {
                        return Err(Error::pagination_loop(next.cursor.as_ref()));
                    }
                    Some(next) => list = next,
                }
            }
        };
        found.sort_by_key(|(created_at, _)| *created_at);
        Ok((found, ahead))
    }
}

fn vault(step: &Recorded) -> Option<VaultId> {
    step.content.get("vaultId").cloned().and_then(|id| decoded(id).ok())
}

/// How far the clock of the service is ahead of that of this machine; zero if it does not tell.
fn ahead(response: &RawResponse) -> SignedDuration {
    let date = response.headers().get(DATE).and_then(|date| date.to_str().ok());
    let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
    let date = date.and_then(|date| Timestamp::try_from(date).ok());
    date.map_or(SignedDuration::ZERO, |date| date.duration_since(Timestamp::now()))
}
