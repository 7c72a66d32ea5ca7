//! The scenarios that no fault turns red, and those that only a fault of another rule does. Rules
//! without a scenario have their reasons in the suite itself.

use std::collections::{BTreeMap, BTreeSet};

use promptarium_conformance::coverage::proof;
use promptarium_conformance::{Scenario, scenarios};

use crate::trial::rules_of;

/// A scenario and why no fault turns it red.
pub(crate) const UNSEEN: &[(&str, &str)] = &[(
    "keys.form.alphabet",
    "The keys of a run are given to it; a server that takes them as they are breaks nothing.",
)];

/// A scenario that turns red, but under no fault of a rule of its own, and why. It fails because
/// it depends on what is broken. None is to be added.
pub(crate) const BY_OTHER_RULES: &[(&str, &str)] = &[(
    "uploads.size.broken-off",
    "Only a fault in the storage could keep a part of a body; none stands there.",
)];

/// Which faults turn a scenario red, always or at times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    ByItsRules,
    ByOtherRules,
    Never,
}

/// The rules that are broken where a scenario is red.
pub(crate) struct Broken<'t>(BTreeMap<&'t str, BTreeSet<&'t str>>);

impl<'t> Broken<'t> {
    pub(crate) fn by(faults: &[proof::Fault<'t>]) -> Self {
        let mut broken = BTreeMap::<_, BTreeSet<_>>::new();
        for (fault, id) in faults.iter().flat_map(|fault| fault.red().map(move |id| (fault, id))) {
            broken.entry(id).or_default().insert(fault.rule);
        }
        Self(broken)
    }

    pub(crate) fn seen(&self, scenario: &Scenario) -> Seen {
        match self.0.get(scenario.id) {
            None => Seen::Never,
            Some(rules) if scenario.rules.iter().any(|rule| rules.contains(rule)) => {
                Seen::ByItsRules
            }
            Some(_) => Seen::ByOtherRules,
        }
    }
}

/// Scenarios that no fault of a rule of theirs turns red, not even at times: they may hold
/// nothing. And exceptions that are none.
pub(crate) fn drift() -> Vec<String> {
    let broken = Broken::by(proof::faults());
    let problem = |one: &Scenario| {
        let reason = UNSEEN.iter().find(|(id, _)| *id == one.id).map(|(_, reason)| *reason);
        let by_others = BY_OTHER_RULES.iter().any(|(id, _)| *id == one.id);
        match (broken.seen(one), reason, by_others) {
            (Seen::Never, Some(reason), false) if !reason.is_empty() => None,
            (Seen::Never, ..) => Some("no fault turns it red"),
            (_, Some(_), _) => Some("needs no reason"),
            (Seen::ByItsRules, None, true) => Some("a fault of its rules turns it red"),
            (Seen::ByOtherRules, None, false) => Some("no fault of its rules turns it red"),
            (_, None, _) => None,
        }
    };
    let problems = scenarios::all().filter_map(|one| {
        Some(format!("{} ({}): {}", one.id, one.rules.join(", "), problem(one)?))
    });
    let listed = UNSEEN.iter().chain(BY_OTHER_RULES).map(|(id, _)| *id);
    let unknown = listed.filter(|id| rules_of(id).is_empty());
    problems.chain(unknown.map(|id| format!("{id} is no scenario"))).collect()
}
