//! Which scenarios a run takes: profiles, narrowed by filters.

use std::collections::BTreeSet;

use clap::Args;

use crate::{Need, Profile, Scenario, Suite};

/// What selects scenarios. A pattern is a whole id, or the beginning of ids if no scenario has
/// that id.
#[derive(Clone, Debug, Default, Args)]
pub struct Filters {
    /// What is expected: `core` is what the specification states, `http` what the RFCs
    /// of HTTP require of any server, `reference` the core and what the reference server
    /// chose where the specification is silent; repeatable. `run` takes the core by default.
    #[arg(long = "profile", value_name = "PROFILE")]
    pub profiles: Vec<Profile>,
    /// Only scenarios with this id or an id that begins so; repeatable.
    #[arg(long = "filter", value_name = "PREFIX")]
    pub filter: Vec<String>,
    /// No scenario with this id or an id that begins so; repeatable.
    #[arg(long, value_name = "PREFIX")]
    pub exclude: Vec<String>,
    /// The same as --filter.
    #[arg(value_name = "PREFIX")]
    pub prefixes: Vec<String>,
}

/// The scenarios of a run and what selected them.
#[derive(Clone)]
pub struct Selection {
    /// The profiles that were asked for; [`Profile::Reference`] includes the core.
    pub profiles: Vec<Profile>,
    /// Ids and beginnings of ids; none selects whole profiles.
    pub filters: Vec<String>,
    /// Ids and beginnings of ids that are left out.
    pub excluded: Vec<String>,
    /// What is selected, in the order of the list; never empty.
    pub scenarios: Vec<&'static Scenario>,
}

impl Filters {
    /// Whole profiles.
    pub fn profiles(profiles: &[Profile]) -> Self {
        Self { profiles: profiles.to_vec(), ..Self::default() }
    }

    /// Without a profile, all of them.
    #[must_use]
    pub(crate) fn or_all_profiles(mut self) -> Self {
        if self.profiles.is_empty() {
            self.profiles = Profile::ALL.to_vec();
        }
        self
    }
}

impl Selection {
    /// Takes the scenarios of the profiles (core, if none is given) that some filter matches and
    /// no exclusion. Fails with one line if a filter or an exclusion matches nothing: a mistyped
    /// one must not look like a run without failures.
    pub fn new(suite: &Suite, filters: Filters) -> Result<Self, String> {
        let Filters { mut profiles, filter: mut filters, exclude: excluded, prefixes } = filters;
        filters.extend(prefixes);
        if profiles.is_empty() {
            profiles.push(Profile::Core);
        }
        profiles.sort_unstable();
        profiles.dedup();
        let in_profiles = |profile| profiles.iter().any(|wanted| wanted.includes(profile));
        let matches = |pattern: &str, id: &str| {
            id == pattern || (id.starts_with(pattern) && suite.find(pattern).is_none())
        };
        for pattern in filters.iter().chain(&excluded) {
            let matched = suite.scenarios().filter(|scenario| matches(pattern, scenario.id));
            let matched: BTreeSet<_> = matched.map(|scenario| scenario.profile).collect();
            let Some(nearest) = matched.first().map(|profile| profile.word()) else {
                return Err(format!("no scenario has an id that begins with {pattern:?}"));
            };
            if filters.contains(pattern) && !matched.iter().any(|profile| in_profiles(*profile)) {
                return Err(format!(
                    "{pattern:?} names scenarios of the profile {nearest} only; \
                     add --profile {nearest}"
                ));
            }
        }
        let any = |patterns: &[String], id| patterns.iter().any(|pattern| matches(pattern, id));
        let selected = suite.scenarios().filter(|scenario| {
            in_profiles(scenario.profile)
                && (filters.is_empty() || any(&filters, scenario.id))
                && !any(&excluded, scenario.id)
        });
        let scenarios: Vec<_> = selected.collect();
        if scenarios.is_empty() {
            return Err("no scenario is selected".into());
        }
        Ok(Self { profiles, filters, excluded, scenarios })
    }

    /// Whether a selected scenario needs this.
    pub(crate) fn needs(&self, need: Need) -> bool {
        self.scenarios.iter().any(|scenario| scenario.needs.contains(&need))
    }

    /// Leaves those that only read. The error is one line.
    pub fn read_only(mut self) -> Result<Self, String> {
        self.scenarios.retain(|scenario| only_reads(scenario.id));
        if self.scenarios.is_empty() {
            return Err("no scenario is selected: all that the filters match write".into());
        }
        Ok(self)
    }
}

/// The scenarios that send nothing but `GET` and `HEAD`, by their ids or, with a dot at the end,
/// the beginnings of ids. A test compares it with what each scenario really sends.
const READ_ONLY: &str = "envelope.requests.base-url versioning.prefix.only-v1 \
    envelope.request-id.taken-over envelope.request-id.replaced pagination.limit.only-digits \
    prompts.queries.empty vaults.general.listed vaults.list.no-pagination-key \
    generations.status.unknown-404 keys.form.parts keys.form.whole keys.form.alphabet \
    auth.header.elsewhere auth.header.health auth.key.truncated-anywhere \
    auth.key.mistyped-anywhere auth.key.other-case auth.answer.envelope \
    auth.answer.envelope-revoked auth.answer.one-text errors.details.query \
    existing-data. fields.list-prompts.";

/// Whether the scenario of this id sends nothing but `GET` and `HEAD`.
pub fn only_reads(id: &str) -> bool {
    READ_ONLY.split(' ').any(|one| id == one || (one.ends_with('.') && id.starts_with(one)))
}
