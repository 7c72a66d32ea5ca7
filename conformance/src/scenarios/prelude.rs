//! What nearly every file of scenarios uses.

pub(super) use http::Method;
pub(super) use serde_json::{Value, json};

pub(super) use crate::check::json_text;
pub(super) use crate::failure::Result;
pub(super) use crate::fixture::{Member, Prompt, Vault, Way, ids, race, same_fields, vault_ids};
pub(super) use crate::scenario::{core, http, reference};
pub(super) use crate::wire::{ApiResponse, Call, Wire};
pub(super) use crate::{Case, Failure, Scenario, check};
