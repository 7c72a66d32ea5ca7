//! Which scenarios a run takes.

use clap::Args;

use crate::{Need, Scenario, Suite, trace};

/// What selects scenarios. A pattern is a whole id, or the beginning of ids if no scenario has
/// that id; a rule such as `PR-12`; or a call such as `POST /prompts`.
#[derive(Clone, Debug, Default, Args)]
pub struct Filters {
    /// Only scenarios with this id or an id that begins so, of this rule (`PR-12`), or that
    /// look at this call (`POST /vaults/{vaultId}/prompts`); repeatable.
    #[arg(long = "filter", value_name = "PREFIX")]
    pub filter: Vec<String>,
    /// No scenario that --filter would take by the same pattern; repeatable.
    #[arg(long, value_name = "PREFIX")]
    pub exclude: Vec<String>,
    /// The same as --filter.
    #[arg(value_name = "PREFIX")]
    pub prefixes: Vec<String>,
}

/// The scenarios of a run and what selected them.
#[derive(Clone)]
pub struct Selection {
    /// Ids and beginnings of ids; none selects all.
    pub filters: Vec<String>,
    /// Ids and beginnings of ids that are left out.
    pub excluded: Vec<String>,
    /// What is selected, in the order of the list; never empty.
    pub scenarios: Vec<&'static Scenario>,
}

impl Selection {
    /// Takes the scenarios that some filter matches, all without a filter, and no exclusion. Fails
    /// with one line if a filter or an exclusion matches nothing: a mistyped one must not look like
    /// a run without failures.
    pub fn new(suite: &Suite, filters: Filters) -> Result<Self, String> {
        let Filters { filter: mut filters, exclude: excluded, prefixes } = filters;
        filters.extend(prefixes);
        let matches = |pattern: &str, scenario: &Scenario| {
            let Scenario { id, rules, .. } = *scenario;
            match pattern.split_once(' ') {
                Some((method, path)) => trace::looks_at(id, method, path),
                None if rules.contains(&pattern) || id == pattern => true,
                None => id.starts_with(pattern) && suite.find(pattern).is_none(),
            }
        };
        for pattern in filters.iter().chain(&excluded) {
            if !suite.scenarios().any(|scenario| matches(pattern, scenario)) {
                return Err(format!(
                    "no scenario has an id that begins with \"{pattern}\", proves a rule of that \
                     name or looks at such a call"
                ));
            }
        }
        let any = |patterns: &[String], one| patterns.iter().any(|pattern| matches(pattern, one));
        let mut scenarios: Vec<_> = suite.scenarios().collect();
        scenarios.retain(|one| filters.is_empty() || any(&filters, one));
        scenarios.retain(|one| !any(&excluded, one));
        if scenarios.is_empty() {
            return Err("no scenario is selected".into());
        }
        Ok(Self { filters, excluded, scenarios })
    }

    /// Whether a selected scenario needs this.
    pub(crate) fn needs(&self, need: Need) -> bool {
        self.scenarios.iter().any(|scenario| scenario.needs.contains(&need))
    }

    /// Leaves those that only read. The error is one line.
    pub fn read_only(mut self) -> Result<Self, String> {
        self.scenarios.retain(|scenario| scenario.reads);
        if self.scenarios.is_empty() {
            return Err("no scenario is selected: all that the filters match write".into());
        }
        Ok(self)
    }
}
