//! Which scenarios a run takes: a profile, narrowed by filters.

mod read_only;

use std::str::FromStr;

pub use self::read_only::READ_ONLY;
use crate::{Profile, Scenario, scenarios};

/// The scenarios of a run and the words that selected them.
#[derive(Clone)]
pub struct Selection {
    /// The profile that was asked for; [`Profile::Reference`] includes the core.
    pub profile: Profile,
    /// Ids and beginnings of ids; none selects the whole profile.
    pub filters: Vec<String>,
    /// What they select, in the order of the list; never empty.
    pub scenarios: Vec<&'static Scenario>,
}

impl Selection {
    /// Takes the scenarios of `profile` that some filter names by its whole id
    /// or, if no scenario has that id, by the beginning of it.
    ///
    /// # Errors
    /// One line if a filter selects nothing: a mistyped filter must not look
    /// like a run without faults.
    pub fn new(profile: Profile, filters: Vec<String>) -> Result<Self, String> {
        for filter in &filters {
            let mut named = scenarios::all().filter(|scenario| named_by(filter, scenario.id));
            match named.by_ref().map(|scenario| scenario.profile).min() {
                None => return Err(format!("no scenario has an id that begins with {filter:?}")),
                Some(nearest) if nearest > profile => {
                    return Err(format!(
                        "{filter:?} names scenarios of the profile reference only; \
                         add --profile reference"
                    ));
                }
                Some(_) => {}
            }
        }
        let wanted = |scenario: &&Scenario| {
            scenario.profile <= profile
                && (filters.is_empty() || filters.iter().any(|one| named_by(one, scenario.id)))
        };
        let scenarios: Vec<_> = scenarios::all().filter(wanted).collect();
        if scenarios.is_empty() {
            return Err("no scenario was selected".into());
        }
        Ok(Self { profile, filters, scenarios })
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
        match text {
            "core" => Ok(Self::Core),
            "reference" => Ok(Self::Reference),
            _ => Err("there are the profiles core and reference".into()),
        }
    }
}
