//! The module in a build without the feature `postgres`: no URL is accepted, so there is no store.

#![expect(clippy::unused_async, reason = "the methods are those of the store in a database")]

use std::convert::Infallible;
use std::sync::Arc;

use crate::clock::Clock;
use crate::domain::NewKey;
use crate::quota::Quota;
use crate::store::{Cause, Result, Store};

#[derive(Clone, Debug)]
pub struct DatabaseUrl {
    pub(crate) connections: usize,
    pub(crate) never: Infallible,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Migration {
    #[default]
    Auto,
    Off,
}

#[derive(Clone)]
pub struct PostgresStore(Infallible);

pub(crate) struct PoolUse {
    pub(crate) busy: usize,
    pub(crate) idle: usize,
    pub(crate) max: usize,
    pub(crate) pipelined: usize,
    pub(crate) waiting: [(&'static str, usize); 4],
}

impl DatabaseUrl {
    pub fn parse(_text: &str) -> Result<Self, Cause> {
        Err("this program was built without the feature `postgres`".into())
    }
}

impl PostgresStore {
    pub async fn open(url: &DatabaseUrl, _: Migration, _: Clock) -> Result<Self, Infallible> {
        match url.never {}
    }

    pub(crate) fn as_dyn(&self) -> Arc<dyn Store> {
        match self.0 {}
    }

    pub fn with_vaults_max(self, _: usize) -> Self {
        self
    }

    pub(crate) fn quotas(&self) -> Vec<Quota> {
        match self.0 {}
    }

    pub(crate) fn pool_use(&self) -> PoolUse {
        match self.0 {}
    }
}

/// Methods of a store that does not exist.
macro_rules! absent {
    ($($vis:vis $name:ident($($of:ty),*) -> $result:ty;)*) => {
        impl PostgresStore {
            $($vis async fn $name(&self, $(_: $of),*) -> Result<$result> {
                match self.0 {}
            })*
        }
    };
}

absent! {
    pub signing_key() -> Box<[u8]>;
    pub add_public_url(&str) -> Vec<String>;
    pub blob_store(&[u8], Option<&[u8]>) -> Box<[u8]>;
    pub(crate) set_last_public_url(&str) -> ();
    pub(crate) keys_of(&str) -> Option<Vec<Infallible>>;
    pub(crate) seed_first_key(&str, &NewKey) -> bool;
}
