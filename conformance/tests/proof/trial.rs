//! One fault, or none, against scenarios: what turns red, and whether that is
//! what should.

use std::collections::{BTreeSet, HashMap};
use std::future::pending;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures::StreamExt;
use promptarium_conformance::report::{Outcome, Record};
use promptarium_conformance::{Run, Scenario, run, scenarios};

use crate::fault::Fault;
use crate::service::Running;

/// How long a scenario may take: the machine is busy with all the others.
const DEADLINE: Duration = Run::DEADLINE.saturating_mul(5);
/// In the usual run a fault meets, besides the scenarios that it turns red, one
/// in so many of all others.
const SHARE: u64 = 1024;

/// Asks for an answer before its body has come; a front reads all of that first.
pub(crate) const EARLY: &str = "raw.pace.status";

/// Ids of scenarios.
pub(crate) type Ids = BTreeSet<String>;

/// The scenarios that turn red under a fault.
#[derive(Clone, Default)]
pub(crate) struct Red {
    /// Each time.
    pub(crate) always: Ids,
    /// As it happens, such as those that are [`timing_dependent`].
    pub(crate) at_times: Ids,
}

impl Red {
    pub(crate) fn contains(&self, scenario: &str) -> bool {
        self.always.contains(scenario) || self.at_times.contains(scenario)
    }

    /// Adds what an earlier run has found of scenarios that are still there.
    pub(crate) fn extend_with(&mut self, earlier: Self, kept: impl Fn(&str) -> bool) {
        let kept = |id: &String| kept(id) && !rules_of(id).is_empty();
        self.always.extend(earlier.always.into_iter().filter(&kept));
        self.at_times.extend(earlier.at_times.into_iter().filter(&kept));
        self.at_times.retain(|id| !self.always.contains(id));
    }

    /// The scenarios of this rule among those that are red each time.
    pub(crate) fn of_rule(&self, rule: &str) -> Ids {
        self.always.iter().filter(|id| rules_of(id).contains(&rule)).cloned().collect()
    }

    /// A scenario of the fault's rule is red each time.
    pub(crate) fn shows(&self, fault: &Fault) -> Result<(), String> {
        if self.of_rule(fault.rule).is_empty() {
            return Err(format!("no scenario of {} is red each time", fault.rule));
        }
        Ok(())
    }
}

/// Whether the verdict under a fault hangs on what others do at the same moment:
/// calls race there, things are looked at that others made, or a server hangs up on a
/// head while what stands before it still sends.
pub(crate) fn timing_dependent(scenario: &str) -> bool {
    if scenario.starts_with("raw.size.") {
        return true;
    }
    let mut parts = scenario.split('.');
    parts.any(|part| {
        matches!(part, "existing-data" | "race" | "races" | "again-at-once")
            || part.starts_with("at-once")
    })
}

/// What came of some scenarios.
pub(crate) struct Outcomes(Vec<Record>);

/// Runs these scenarios, each under a tag of its own.
pub(crate) async fn outcomes(running: &Running, wanted: impl Fn(&Scenario) -> bool) -> Outcomes {
    let chosen = scenarios::all().enumerate().filter(|(_, scenario)| wanted(scenario));
    let records = futures::stream::iter(chosen).map(|(number, scenario)| {
        let target = Arc::clone(&running.target);
        async move {
            let tag = format!("proof-{number}");
            run::one(&target, scenario, &tag, DEADLINE, pending()).await
        }
    });
    Outcomes(records.buffer_unordered(running.at_once).collect().await)
}

/// Whether the scenario is in the share that this fault meets in the usual run.
pub(crate) fn in_share(fault: &str, scenario: &str) -> bool {
    let bytes = fault.bytes().chain([0]).chain(scenario.bytes());
    // FNV-1a: the same on every machine and under every toolchain.
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 24).is_multiple_of(SHARE)
}

impl Outcomes {
    /// The scenarios that failed. One that ended in an error, such as its deadline
    /// on a busy machine, has not seen the fault, unless that is how it shows.
    pub(crate) fn red(&self, fault: &Fault) -> Red {
        let failed = self.red_records().filter(|record| is_failed(record) || fault.silent);
        let (at_times, always) =
            failed.map(|record| record.id.to_owned()).partition(|id| timing_dependent(id));
        Red { always, at_times }
    }

    /// A scenario that finds nothing to look at under a fault is skipped, which is not red.
    fn red_records(&self) -> impl Iterator<Item = &Record> {
        self.not_passed().filter(|record| record.outcome != Outcome::Skipped)
    }

    fn not_passed(&self) -> impl Iterator<Item = &Record> {
        let is_early = |record: &Record| record.id == EARLY && record.outcome == Outcome::Error;
        self.0.iter().filter(move |one| one.outcome != Outcome::Passed && !is_early(one))
    }

    /// Nothing is red and nothing was left behind.
    pub(crate) fn all_green(&self) -> Result<(), String> {
        let dirty = self.0.iter().filter(|record| record.left_behind.is_some());
        let bad: Vec<_> = self.not_passed().chain(dirty).map(in_words).collect();
        if bad.is_empty() { Ok(()) } else { Err(bad.join("\n")) }
    }

    /// A scenario of the fault's rule fails, not only in its set-up, and none ends in an error. Which others
    /// may fail is for [`Self::as_listed`].
    pub(crate) fn caught(&self, fault: &Fault) -> Result<(), String> {
        let shows = |record: &&Record| record.outcome != Outcome::Blocked;
        let mut showing = self.red_records().filter(shows);
        if !showing.any(|record| rules_of(record.id).contains(&fault.rule)) {
            return Err(format!("no scenario of {} catches it; {}", fault.rule, self.in_words()));
        }
        let astray = |record: &&Record| !is_failed(record) && !fault.silent;
        let astray: Vec<_> = self.red_records().filter(astray).map(in_words).collect();
        if astray.is_empty() {
            return Ok(());
        }
        Err(format!("ended in an error:\n{}", astray.join("\n")))
    }

    /// Red is what the table lists, among the scenarios that ran.
    pub(crate) fn as_listed(&self, fault: &Fault, listed: &Red) -> Result<(), String> {
        let Red { always: mut red, at_times } = self.red(fault);
        red.extend(at_times);
        let unlisted = self
            .red_records()
            .filter(|record| !listed.contains(record.id) && !timing_dependent(record.id));
        let unlisted: Vec<_> = unlisted.map(in_words).collect();
        let ran = |id: &&String| self.0.iter().any(|record| record.id == *id);
        let still = listed.always.iter().filter(ran).filter(|id| !timing_dependent(id));
        let not_red = still.filter(|id| !red.contains(*id)).map(|id| format!("{id} is not red"));
        let mut pale: Vec<_> = not_red.collect();
        // Whether a race is lost in just this way is chance, that none is would not be.
        let mut raced = listed.of_rule(fault.rule);
        raced.retain(|id| timing_dependent(id));
        if !raced.is_empty() && raced.is_disjoint(&red) {
            pale.push(format!("none of these is red: {raced:?}"));
        }
        if unlisted.is_empty() && pale.is_empty() {
            return Ok(());
        }
        Err(format!("the table is stale:\n{}", [unlisted, pale].concat().join("\n")))
    }

    fn in_words(&self) -> String {
        let red: Vec<_> = self.red_records().map(in_words).collect();
        if red.is_empty() { "nothing is red".into() } else { format!("red:\n{}", red.join("\n")) }
    }
}

/// Whether the target failed it or the calls that it builds on.
fn is_failed(record: &Record) -> bool {
    matches!(record.outcome, Outcome::Failed | Outcome::Blocked)
}

pub(crate) fn rules_of(id: &str) -> &'static [&'static str] {
    static RULES: LazyLock<HashMap<&str, &[&str]>> =
        LazyLock::new(|| scenarios::all().map(|scenario| (scenario.id, scenario.rules)).collect());
    RULES.get(id).copied().unwrap_or_default()
}

fn in_words(record: &Record) -> String {
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    format!(
        "{} [{}] {:?}: expected {}, got {} {}",
        record.id,
        rules_of(record.id).join(", "),
        record.outcome,
        text(&record.expected),
        text(&record.got),
        text(&record.left_behind),
    )
}
