//! The scenarios that a run chooses from: the built-in ones, and those an organisation adds.
//! Ids of earlier versions lead to the scenarios that took their place.

use std::collections::HashSet;

use crate::{Scenario, scenarios};

/// Two columns: an id of an earlier version, and the id of the scenario that covers it now; empty
/// where the scenario was removed, as those that tested the SDK.
const RENAMED: &str = include_str!("renamed.tsv");

/// A list of scenarios with unique ids.
#[derive(Clone)]
pub struct Suite(Vec<&'static Scenario>);

impl Suite {
    /// The scenarios of this crate.
    pub fn builtin() -> Self {
        Self(scenarios::all().collect())
    }

    /// Adds scenarios behind these.
    ///
    /// # Panics
    /// If two scenarios have one id: reports, filters and known failures name scenarios by it.
    #[must_use]
    pub fn with(mut self, scenarios: &'static [Scenario]) -> Self {
        self.0.extend(scenarios);
        let mut ids = HashSet::new();
        for scenario in &self.0 {
            assert!(ids.insert(scenario.id), "two scenarios have the id {}", scenario.id);
        }
        self
    }

    /// All scenarios, in their order.
    pub fn scenarios(&self) -> impl Iterator<Item = &'static Scenario> + use<'_> {
        self.0.iter().copied()
    }

    /// The scenario of this id.
    pub fn find(&self, id: &str) -> Option<&'static Scenario> {
        self.scenarios().find(|scenario| scenario.id == id)
    }

    /// Whether an earlier version had a scenario of this id that nothing replaces.
    pub fn was_removed(&self, id: &str) -> bool {
        renamed().any(|old| old == (id, ""))
    }

    /// The scenario of this id, or of the one that took its place.
    pub fn find_renamed(&self, id: &str) -> Option<&'static Scenario> {
        let new = || renamed().find(|(old, _)| *old == id).map(|(_, new)| new);
        self.find(id).or_else(|| self.find(new()?))
    }
}

fn renamed() -> impl Iterator<Item = (&'static str, &'static str)> {
    RENAMED.lines().filter_map(|line| line.split_once('\t'))
}

#[cfg(test)]
mod tests {
    use super::{Suite, renamed};

    #[test]
    fn every_old_id_leads_to_a_scenario_and_is_none_itself() {
        let suite = Suite::builtin();
        for (old, new) in renamed() {
            assert!(suite.find(old).is_none(), "{old} is still there");
            if new.is_empty() {
                assert!(suite.was_removed(old), "{old}");
                continue;
            }
            assert!(suite.find(new).is_some(), "{old} leads to {new}, which is not there");
            assert_eq!(suite.find_renamed(old).map(|scenario| scenario.id), Some(new));
        }
    }
}
