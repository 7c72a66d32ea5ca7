//! What the modules of resources use.

pub(super) use std::sync::Arc;

pub(super) use async_trait::async_trait;
pub(super) use const_format::formatcp;
pub(super) use jiff::Timestamp;
pub(super) use promptarium::{PromptId, VaultId, VaultPromptId};
pub(super) use tokio_postgres::Row;
pub(super) use tokio_postgres::types::Json;
pub(super) use uuid::Uuid;

pub(super) use super::db::Db;
pub(super) use super::rows::*;
pub(super) use super::send::{By, LOCK_ACCOUNT, Params, Step, Values, refs};
pub(super) use super::statement::Statement;
pub(super) use super::{PostgresStore, rows};
pub(super) use crate::clock::{after, before};
pub(super) use crate::domain::*;
pub(super) use crate::store::*;
