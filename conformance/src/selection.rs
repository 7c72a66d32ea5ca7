//! Which scenarios a run takes: profiles, narrowed by filters.

mod read_only;

use std::collections::BTreeSet;
use std::str::FromStr;

pub use self::read_only::READ_ONLY;
use crate::{Profile, Scenario, scenarios};

/// The scenarios of a run and the words that selected them.
#[derive(Clone)]
pub struct Selection {
    /// The profiles that were asked for; [`Profile::Reference`] includes the core.
    pub profiles: Vec<Profile>,
    /// Ids and beginnings of ids; none selects whole profiles.
    pub filters: Vec<String>,
    /// What they select, in the order of the list; never empty.
    pub scenarios: Vec<&'static Scenario>,
}

impl Selection {
    /// Takes the scenarios of `profiles` that some filter names by its whole id
    /// or, if no scenario has that id, by the beginning of it.
    ///
    /// # Errors
    /// One line if a filter selects nothing: a mistyped filter must not look
    /// like a run without faults.
    pub fn new(profiles: &[Profile], filters: Vec<String>) -> Result<Self, String> {
        let mut profiles = profiles.to_vec();
        profiles.sort_unstable();
        profiles.dedup();
        let selected = |profile| profiles.iter().any(|wanted| wanted.includes(profile));
        for filter in &filters {
            let named = scenarios::all().filter(|scenario| named_by(filter, scenario.id));
            let named: BTreeSet<_> = named.map(|scenario| scenario.profile).collect();
            let Some(nearest) = named.first() else {
                return Err(format!("no scenario has an id that begins with {filter:?}"));
            };
            if !named.iter().any(|profile| selected(*profile)) {
                let nearest = nearest.word();
                return Err(format!(
                    "{filter:?} names scenarios of the profile {nearest} only; \
                     add --profile {nearest}"
                ));
            }
        }
        let wanted = |scenario: &&Scenario| {
            selected(scenario.profile)
                && (filters.is_empty() || filters.iter().any(|one| named_by(one, scenario.id)))
        };
        let scenarios: Vec<_> = scenarios::all().filter(wanted).collect();
        if scenarios.is_empty() {
            return Err("no scenario was selected".into());
        }
        Ok(Self { profiles, filters, scenarios })
    }

    /// Leaves those that only read.
    ///
    /// # Errors
    /// One line if there are none.
    pub fn read_only(mut self) -> Result<Self, String> {
        self.scenarios.retain(|scenario| READ_ONLY.contains(&scenario.id));
        if self.scenarios.is_empty() {
            return Err("no scenario was selected: all that the filters name write".into());
        }
        Ok(self)
    }
}

fn named_by(filter: &str, id: &str) -> bool {
    id == filter
        || (id.starts_with(filter) && !scenarios::all().any(|scenario| scenario.id == filter))
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|profile| profile.word() == text);
        named.ok_or_else(|| "there are the profiles core, http and reference".into())
    }
}
