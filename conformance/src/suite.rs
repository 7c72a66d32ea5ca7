//! The scenarios that a run chooses from: the built-in ones, and those an organisation adds.

use std::collections::HashSet;

use crate::{Scenario, scenarios};

/// A list of scenarios with unique ids.
#[derive(Clone)]
pub struct Suite(Vec<&'static Scenario>);

impl Suite {
    /// The scenarios of this crate.
    pub fn builtin() -> Self {
        Self(scenarios::all().collect())
    }

    /// Adds scenarios behind these. Panics if two have one id, by which reports and filters name
    /// them.
    #[must_use]
    pub fn with(mut self, scenarios: impl IntoIterator<Item = &'static Scenario>) -> Self {
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
}
