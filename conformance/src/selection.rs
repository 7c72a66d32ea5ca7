//! Which scenarios a run takes: a profile, narrowed by filters.

mod read_only;

use std::str::FromStr;

use clap::Args;

pub use self::read_only::READ_ONLY;
use crate::{Profile, Scenario, Suite};

/// What selects scenarios. A pattern is a whole id, or the beginning of ids if no scenario has
/// that id.
#[derive(Clone, Debug, Default, Args)]
pub struct Filters {
    /// What is expected: `core` is what the specification states, `reference`
    /// adds what the reference server chose where it is silent.
    #[arg(long, value_name = "core|reference")]
    pub profile: Option<Profile>,
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
    /// The profile that was asked for; [`Profile::Reference`] includes the core.
    pub profile: Profile,
    /// Ids and beginnings of ids; none selects the whole profile.
    pub filters: Vec<String>,
    /// Ids and beginnings of ids that are left out.
    pub excluded: Vec<String>,
    /// What is selected, in the order of the list; never empty.
    pub scenarios: Vec<&'static Scenario>,
}

impl Filters {
    /// A whole profile.
    pub fn profile(profile: Profile) -> Self {
        Self { profile: Some(profile), ..Self::default() }
    }

    /// Without a profile, the widest one.
    #[must_use]
    pub(crate) fn or_everything(self) -> Self {
        Self { profile: self.profile.or(Some(Profile::Reference)), ..self }
    }
}

impl Selection {
    /// Takes the scenarios of the profile (core, if none is given) that some filter matches and
    /// no exclusion.
    ///
    /// # Errors
    /// One line if a filter or an exclusion matches nothing: a mistyped one must not look like a
    /// run without failures.
    pub fn new(suite: &Suite, filters: Filters) -> Result<Self, String> {
        let Filters { profile, filter: mut filters, exclude: excluded, prefixes } = filters;
        filters.extend(prefixes);
        let profile = profile.unwrap_or(Profile::Core);
        let matches = |pattern: &str, id: &str| {
            id == pattern || (id.starts_with(pattern) && suite.find(pattern).is_none())
        };
        for pattern in filters.iter().chain(&excluded) {
            let named = suite.scenarios().filter(|scenario| matches(pattern, scenario.id));
            match named.map(|scenario| scenario.profile).min() {
                None => return Err(format!("no scenario has an id that begins with {pattern:?}")),
                Some(nearest) if nearest > profile && filters.contains(pattern) => {
                    return Err(format!(
                        "{pattern:?} names scenarios of the profile reference only; \
                         add --profile reference"
                    ));
                }
                Some(_) => {}
            }
        }
        let any = |patterns: &[String], id| patterns.iter().any(|pattern| matches(pattern, id));
        let selected = suite.scenarios().filter(|scenario| {
            scenario.profile <= profile
                && (filters.is_empty() || any(&filters, scenario.id))
                && !any(&excluded, scenario.id)
        });
        let scenarios: Vec<_> = selected.collect();
        if scenarios.is_empty() {
            return Err("no scenario is selected".into());
        }
        Ok(Self { profile, filters, excluded, scenarios })
    }

    /// Leaves those that only read.
    ///
    /// # Errors
    /// One line if there are none.
    pub fn read_only(mut self) -> Result<Self, String> {
        self.scenarios.retain(|scenario| READ_ONLY.contains(&scenario.id));
        if self.scenarios.is_empty() {
            return Err("no scenario is selected: all that the filters match write".into());
        }
        Ok(self)
    }
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "core" => Ok(Self::Core),
            "reference" => Ok(Self::Reference),
            _ => Err("there are the profiles core and reference".into()),
        }
    }
}
