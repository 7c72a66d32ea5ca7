//! What nearly every file of scenarios uses.

pub(super) use std::collections::{BTreeSet, HashSet};
pub(super) use std::time::Duration;

pub(super) use futures::future::{join, join_all, try_join, try_join_all, try_join3};
pub(super) use http::Method;
pub(super) use serde_json::{Value, json};

pub(super) use crate::check::json_text;
pub(super) use crate::failure::Result;
pub(super) use crate::fixture::{
    Entry, Member, Prompt, Vault, Way, by_date, ids, merged, race, same_fields, vault_ids,
};
pub(super) use crate::scenario::{core, http, reference};
pub(super) use crate::wire::{ApiResponse, Call, Wire};
pub(super) use crate::{Case, Failure, Need, Profile, Scenario, Verdict, check};

/// Skips the scenario for this reason unless `holds`.
pub(super) fn skip_unless(holds: bool, reason: &str) -> Result {
    if holds { Ok(()) } else { Err(Failure::skipped(reason)) }
}
