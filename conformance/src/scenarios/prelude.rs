//! What the scenarios of prompts, vaults and their contents have in common.

pub(super) use serde_json::{Value, json};

pub(super) use crate::failure::Result;
pub(super) use crate::fixture::{Member, Prompt, Vault, Way, ids, race, same_fields, vault_ids};
pub(super) use crate::scenario::{core, reference};
pub(super) use crate::wire::ApiResponse;
pub(super) use crate::{Case, Failure, Scenario, check};
