//! `docs/conformance-proof.md`: which fault turns which scenarios red. It is
//! written by a run and held by the next ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use promptarium_conformance::coverage::{EXEMPTIONS, WITHOUT_FAULT, proof};
use promptarium_conformance::{Scenario, rules, scenarios};

use crate::fault::Fault;
use crate::faults;
use crate::trial::{Ids, Red, rules_of};
use crate::unseen::{BY_OTHER_RULES, UNSEEN};

/// What turned red under which fault.
#[derive(Default)]
pub(crate) struct Rows(Mutex<BTreeMap<&'static str, Red>>);

const OPENING: &str = "\
# What the conformance suite catches

Each line is a deliberate fault: a server that is correct except for one thing. It
breaks a rule, and a scenario of that rule must fail. The scenarios listed here fail
under the fault and no others; those of other rules fail because they depend on what
is broken. The faults are in `conformance/tests/proof/faults`.
Scenarios in parentheses fail or pass depending on concurrent requests: they are no
proof. Where requests have to race for a fault to show, several scenarios may be
listed, and at least one of them fails each time.

`script/proof` makes this page anew; `cargo test` fails where it is stale.

## Faults

";

/// The page as it is in the repository now.
pub(crate) fn read() -> io::Result<String> {
    match fs::read_to_string(path()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        text => text,
    }
}

fn path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/conformance-proof.md"))
}

/// What the page lists as red under this fault, if it has a line.
pub(crate) fn listed(fault: &str) -> Option<Red> {
    proof::faults().iter().find(|line| line.id == fault).map(red_of)
}

fn red_of(line: &proof::Fault<'_>) -> Red {
    let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Ids>();
    Red { always: owned(&line.scenarios), at_times: owned(&line.at_times) }
}

impl Rows {
    pub(crate) fn add(&self, fault: &'static str, red: Red) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(fault, red);
    }

    /// Writes the page: these rows, and those of the page for faults that did
    /// not run this time.
    pub(crate) fn write(&self) -> io::Result<()> {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let old = read()?;
        let old = proof::parse(&old);
        let mut text = format!(
            "{OPENING}| Fault | What is wrong | Rule | Scenarios that turn red |\n|---|---|---|---|\n"
        );
        for fault in faults::all() {
            let before = old.faults.iter().find(|line| line.id == fault.id);
            let red = match (rows.get(fault.id), before) {
                (Some(red), _) => red.clone(),
                (None, Some(line)) => red_of(line),
                (None, None) => continue,
            };
            let _ = writeln!(text, "{}", row(fault, &red));
        }
        let _ = write!(text, "\n## Rules without a fault\n\n");
        for (rule, reason) in reasons() {
            let _ = writeln!(text, "- **{rule}** {reason}");
        }
        fs::write(path(), text)
    }
}

fn row(fault: &Fault, red: &Red) -> String {
    let always = red.always.iter().map(|id| format!("`{id}`"));
    let red: Vec<_> = always.chain(red.at_times.iter().map(|id| format!("(`{id}`)"))).collect();
    format!("| `{}` | {} | {} | {} |", fault.id, fault.wrong, fault.rule, red.join(", "))
}

/// The rules that no fault breaks, each with its reason.
fn reasons() -> Vec<(&'static str, String)> {
    let reason = |rule: rules::Rule| {
        let no_scenario = EXEMPTIONS.iter().map(|exemption| (exemption, "There is no scenario: "));
        let exemptions =
            no_scenario.chain(WITHOUT_FAULT.iter().map(|exemption| (exemption, "No fault: ")));
        let (exemption, what) =
            exemptions.into_iter().find(|(exemption, _)| exemption.covers(rule.id))?;
        Some((rule.id, format!("{what}{}.", exemption.reason)))
    };
    rules::all().filter_map(reason).collect()
}

/// Scenarios in the line that do not exist, and whether none is of the fault's rule.
fn unsound(line: &proof::Fault<'_>, rule: &str) -> Vec<String> {
    let red = line.scenarios.iter().chain(&line.at_times);
    let unknown = red.filter(|id| rules_of(id).is_empty());
    let mut unsound: Vec<_> =
        unknown.map(|id| format!("{}: {id} is no scenario", line.id)).collect();
    if !line.scenarios.iter().any(|id| rules_of(id).contains(&rule)) {
        unsound.push(format!("{}: no scenario of {rule} is red", line.id));
    }
    unsound
}

/// Scenarios that no fault of a rule of theirs turns red, not even at times: they may hold
/// nothing. And exceptions that are none.
pub(crate) fn unseen() -> Vec<String> {
    let mut broken: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in proof::faults() {
        for id in line.scenarios.iter().chain(&line.at_times) {
            broken.entry(id).or_default().extend(&line.rules);
        }
    }
    let problem = |one: &Scenario| {
        let reason = UNSEEN.iter().find(|(id, _)| *id == one.id).map(|(_, reason)| *reason);
        let by_others = BY_OTHER_RULES.lines().any(|id| id == one.id);
        let own = |rules: &BTreeSet<&str>| one.rules.iter().any(|rule| rules.contains(rule));
        match (broken.get(one.id), reason, by_others) {
            (None, Some(reason), false) if !reason.is_empty() => None,
            (None, ..) => Some("no fault turns it red"),
            (Some(_), Some(_), _) => Some("needs no reason"),
            (Some(rules), None, true) if own(rules) => Some("is in by_other_rules.txt no longer"),
            (Some(rules), None, false) if !own(rules) => Some("no fault of its rules turns it red"),
            (Some(_), None, _) => None,
        }
    };
    let problems = scenarios::all().filter_map(|one| {
        Some(format!("{} ({}): {}", one.id, one.rules.join(", "), problem(one)?))
    });
    let listed = UNSEEN.iter().map(|(id, _)| *id).chain(BY_OTHER_RULES.lines());
    let unknown = listed.filter(|id| rules_of(id).is_empty());
    problems.chain(unknown.map(|id| format!("{id} is no scenario"))).collect()
}

/// Where page, faults and reasons do not fit together; rules without either are
/// for the suite's own table to tell.
pub(crate) fn drift() -> Vec<String> {
    let mut drift = Vec::new();
    for fault in faults::all() {
        match proof::faults().iter().find(|line| line.id == fault.id) {
            None => drift.push(format!("{} has no line; run script/proof", fault.id)),
            Some(line) if line.wrong != fault.wrong || line.rules != [fault.rule] => {
                drift.push(format!("the line of {} is stale", fault.id));
            }
            Some(line) => drift.extend(unsound(line, fault.rule)),
        }
    }
    for line in proof::faults() {
        if !faults::all().any(|fault| fault.id == line.id) {
            drift.push(format!("{} is no fault", line.id));
        }
    }
    let listed: Vec<_> =
        proof::unproved().iter().map(|one| (one.rule, one.reason.to_owned())).collect();
    if listed != reasons() {
        drift.push("the page's rules without a fault are stale".into());
    }
    drift
}
