//! What nearly every file of scenarios uses.

pub use std::collections::{BTreeSet, HashSet};
pub use std::time::Duration;

pub use futures::future::{join, join_all, try_join, try_join_all, try_join3};
pub use http::Method;
pub use serde_json::{Value, json};

pub use crate::case::state;
pub use crate::check::json_text;
pub use crate::failure::Result;
pub(crate) use crate::failure::set_up;
pub use crate::fixture::{
    Entry, Member, Prompt, Vault, Walk, Way, by_date, ids, merged, race, same_fields, vault_ids,
};
pub use crate::scenario;
pub use crate::wire::{ApiResponse, Call, Wire};
pub use crate::{Case, Failure, Need, Scenario, Verdict, check};

/// Skips the scenario for this reason unless `holds`.
pub fn skip_unless(holds: bool, reason: &str) -> Result {
    if holds { Ok(()) } else { Err(Failure::skipped(reason)) }
}
