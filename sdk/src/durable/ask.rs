//! Finds out whether open steps were carried out, by asking the service.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use jiff::SignedDuration;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::line::{Begin, Event, Kind, Line, List, decoded, encoded};
use super::steps::{Claim, Recorded, State};
use super::{Journal, Shared};
use crate::error::{Error, Outcome, date};
use crate::model::{JobId, OutputHint, Timestamp, VaultId};
use crate::send::evidence::{Content, Evidence, Item, Sought, of_steps};
use crate::send::reply::RawResponse;

/// The clock of this machine may have been set by this much between the call and the question.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(5);

/// The clocks of the machines of one service may differ by this much.
const SERVICE_SKEW: SignedDuration = SignedDuration::from_secs(10);

impl Journal {
    /// Resolves the step if it is open. Returns its result, or `None` if it was not carried out.
    pub(super) async fn ask(&self, claim: &Claim<'_>) -> Result<Option<Value>, Error> {
        let mut settled = None;
        loop {
            let step = claim.step();
            match step.state {
                State::Done(value) => return Ok(Some(value)),
                State::NotDone => return Ok(None),
                State::Ambiguous(reason) => return Err(Error::ambiguous(&claim.key, reason)),
                State::Open if step.is_due(self.settle) => {
                    settled = settled.max(self.settled_at(claim));
                    Box::pin(self.ask_once(claim)).await.map_err(|error| {
                        match error.is_retryable() {
                            true => error.with_outcome(Outcome::Unknown),
                            false => Error::ambiguous(&claim.key, &error).because(error),
                        }
                    })?;
                }
                State::Open => match settled.max(step.settled_at(self.settle)) {
                    Some(time) => sleep_until(time).await,
                    None => std::future::pending().await,
                },
            }
        }
    }

    /// The time from which on an absence counts for all steps that one question is about.
    fn settled_at(&self, claim: &Claim<'_>) -> Option<Instant> {
        let list = claim.kind.list();
        let open = self.shared.steps.open(|it| list.is_some() && list == it.begin.kind.list());
        open.iter().filter_map(|(_, step)| step.settled_at(self.settle)).max()
    }

    async fn ask_once(&self, claim: &Claim<'_>) -> Result<(), Error> {
        if let Some(list) = claim.kind.list() {
            let _asking = self.shared.asking.lock().await;
            // Another step may have asked for this one too.
            if claim.step().is_due(self.settle) {
                Box::pin(self.ask_for_all(list)).await?;
            }
            return Ok(());
        }
        let (step, asked) = (claim.step(), Instant::now());
        let found = match claim.kind {
            // An upload that is repeated has no further effect.
            Kind::Upload => {
                return self.shared.write(vec![Line::new(&claim.key, Event::NotDone)]).await;
            }
            _ => self.shared.find_job(&step.begin).await?,
        };
        let line = self.line(&claim.key, &step, found, asked);
        self.shared.write(line.into_iter().collect()).await
    }

    /// Resolves all open steps of a list, with one reading of it, or of each vault.
    async fn ask_for_all(&self, list: List) -> Result<(), Error> {
        let _creating = self.shared.creating.write().await;
        // All prompts last: those of a vault belong to the steps that name it.
        let mut vaults = BTreeMap::<_, Vec<_>>::new();
        for (key, step) in self.shared.steps.open(|step| step.begin.kind.list() == Some(list)) {
            if matches!(step.state, State::Open) {
                vaults.entry(Reverse(vault(&step.begin))).or_default().push((key, step));
            }
        }
        let (mut claims, mut lines) = (self.shared.steps.claims(list), Vec::new());
        for (Reverse(vault), steps) in vaults {
            let contents = steps.iter().map(|(_, step)| match step.begin.kind {
                Kind::Fork => Content::COPY,
                _ => content(list, &step.begin.content),
            });
            let contents: Vec<_> = contents.collect();
            let first = steps.iter().map(|(_, step)| step.begin.at).min();
            let letters: HashSet<_> = contents.iter().map(Content::letters).collect();
            let asked = Instant::now();
            let concerns_a_step = |item: &Item| {
                (Some(item.created_at) >= first || letters.contains(&item.content.letters()))
                    && !claims.include(&item.value)
            };
            let (items, skew) = self.shared.read(list, vault, concerns_a_step).await?;
            let sought = contents.into_iter().zip(&steps).map(|(content, (_, step))| Sought {
                content,
                began: step.begin.at,
                since: since(step, skew),
            });
            let sought: Vec<_> = sought.collect();
            for ((key, step), found) in steps.iter().zip(of_steps(&sought, items)) {
                if let Evidence::Present(result) = &found {
                    claims.ids.extend(result.get("id").and_then(Value::as_i64));
                }
                lines.extend(self.line(key, step, found, asked));
            }
        }
        self.shared.write(lines).await
    }

    /// The line of a step after the service was asked at this time, if the answer counts.
    fn line(
        &self,
        key: &str,
        step: &Recorded,
        found: Evidence<Value>,
        asked: Instant,
    ) -> Option<Line> {
        let is_settled = || step.settled_at(self.settle).is_some_and(|settled| asked >= settled);
        let event = match found {
            Evidence::Present(value) => Event::Done { value },
            // A request may still be carried out, and then shows more.
            Evidence::Absent | Evidence::Unclear(_) if !is_settled() => {
                self.shared.steps.change(key, |step| step.asked = Some(asked));
                return None;
            }
            Evidence::Absent => Event::NotDone,
            Evidence::Unclear(reason) => {
                self.shared.steps.change(key, |step| step.state = State::Ambiguous(reason));
                return None;
            }
        };
        Some(Line::new(key, event))
    }
}

impl Shared {
    async fn find_job(&self, step: &Begin) -> Result<Evidence<Value>, Error> {
        let hint = decoded::<OutputHint>(step.content.clone())?.sent_at(step.at);
        let job = step.job.clone().unwrap_or_else(|| JobId::from(""));
        let found = self.client.generations().find(job, hint).send().await?;
        found.map(|job| encoded(&job))
    }

    /// Reads the list of vaults, or of the prompts of a vault or of all. Also what was added to times.
    async fn read(
        &self,
        list: List,
        vault: Option<VaultId>,
        is_wanted: impl Fn(&Item) -> bool + Send,
    ) -> Result<(Vec<Item>, SignedDuration), Error> {
        let mut found = Vec::new();
        let mut keep = |value: Value, created_at: Timestamp, skew| {
            let created_at = created_at.checked_add(skew).unwrap_or(Timestamp::MAX);
            let item = Item { content: content(list, &value), created_at, value };
            found.extend(Some(item).filter(&is_wanted));
        };
        let skew = if list == List::Vaults {
            let vaults = self.client.vaults().list().send_with_meta().await?;
            let skew = skew(&vaults.meta);
            for vault in &vaults.value {
                keep(encoded(vault)?, vault.created_at, skew);
            }
            skew
        } else {
            let list = self.client.prompts().list().page_size(100).set_vault(vault);
            let first = list.clone().send_with_meta().await?;
            let skew = skew(&first.meta);
            for prompt in &first.value.items {
                keep(encoded(prompt)?, prompt.created_at, skew);
            }
            if let Some(rest) = list.next_page(&first.value) {
                let mut rest = rest.items();
                while let Some(prompt) = rest.try_next().await? {
                    keep(encoded(&prompt)?, prompt.created_at, skew);
                }
            }
            skew
        };
        Ok((found, skew))
    }
}

fn content(list: List, value: &Value) -> Content {
    match list {
        List::Prompts => Content::new(value, Content::OF_PROMPT),
        List::Vaults => Content::new(value, Content::OF_VAULT),
    }
}

fn vault(step: &Begin) -> Option<VaultId> {
    step.content.get("vaultId").cloned().and_then(|id| decoded(id).ok())
}

/// The time, as those in a list, since which the result of a step can have been created: since it
/// began, and by the service's own clock since the result of a step that had ended before.
fn since(step: &Recorded, skew: SignedDuration) -> Timestamp {
    let (began, most) = (step.begin.at, CLOCK_SKEW.saturating_add(SERVICE_SKEW));
    let before = step.newest_before.and_then(|before| before.checked_add(skew).ok());
    // If it is later than the step, that clock was set back since, and tells nothing.
    let before = before.filter(|before| before.duration_since(began) <= most);
    let before = before.and_then(|before| before.checked_sub(SERVICE_SKEW).ok());
    before.map_or(began, |before| before.max(began))
}

/// How much later by the clock of this machine a thing may have been created than the service says.
fn skew(response: &RawResponse) -> SignedDuration {
    let ahead = || {
        let date = Timestamp::try_from(date(response.headers())?).ok()?;
        Some(date.duration_since(Timestamp::now()))
    };
    CLOCK_SKEW.saturating_sub(ahead().unwrap_or_default())
}
