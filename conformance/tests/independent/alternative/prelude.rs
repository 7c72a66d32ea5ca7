//! What nearly every file of this server uses.

pub(super) use serde_json::{Value, json};

pub(super) use super::answer::{Answer, Outcome, Refusal, bad, not_found, refuse, refused};
pub(super) use super::call::Call;
pub(super) use super::choices::Choices;
pub(super) use super::clock::{Millis, now};
pub(super) use super::fields::Fields;
pub(super) use super::jobs::{Job, State};
pub(super) use super::store::{Account, Image, Membership, Prompt, Stamp, Store, Vault};
pub(super) use super::{query, show, uploads, vaults};
