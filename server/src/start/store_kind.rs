//! Where a service stores everything but files, and what it finds there at its start.

use std::sync::Arc;

use crate::blobs::{BlobOpenError, BlobSetting, Blobs};
use crate::domain::{PublicUrl, SigningKey};
use crate::quota::Quota;
use crate::serve::metrics::AskPool;
use crate::store::postgres::PostgresStore;
use crate::store::{Store, StoreError};

/// Stores everything but files.
#[derive(Clone)]
pub enum StoreKind {
    /// A store that only this service uses. If no key is seeded, each start creates one.
    Single(Arc<dyn Store>),
    /// A database that several servers may use. It holds the signing key, unless one is
    /// configured, and gets a first key only while it has no account.
    Shared(PostgresStore),
}

impl StoreKind {
    pub(super) fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Single(store) => store.clone(),
            Self::Shared(store) => store.as_dyn(),
        }
    }

    pub(super) fn quotas(&self) -> Vec<Quota> {
        match self {
            Self::Single(_) => Vec::new(),
            Self::Shared(store) => store.quotas(),
        }
    }

    /// What tells the use of the database's connections.
    pub(super) fn pool(&self) -> Option<AskPool> {
        match self {
            Self::Single(_) => None,
            Self::Shared(store) => {
                let store = store.clone();
                Some(Box::new(move || store.pool_use()))
            }
        }
    }

    pub(super) async fn signing_key(&self) -> Result<SigningKey, StoreError> {
        match self {
            Self::Single(_) => Ok(SigningKey::random()),
            Self::Shared(store) => {
                let too_short =
                    || StoreError::Internal("the signing key in the database is too short".into());
                SigningKey::new(&store.signing_key().await?).ok_or_else(too_short)
            }
        }
    }

    /// The public URLs of this start and of all before it.
    pub(super) async fn public_urls(&self, public: &PublicUrl) -> Result<Vec<String>, StoreError> {
        match self {
            Self::Single(_) => Ok(Vec::new()),
            Self::Shared(store) => {
                store.add_public_url(public.url().as_str().trim_end_matches('/')).await
            }
        }
    }

    /// The store of files, if it is the one that the database knows.
    pub(super) async fn blobs(
        &self,
        given: Option<Blobs>,
        setting: &BlobSetting,
    ) -> Result<Blobs, BlobOpenError> {
        let blobs = given.map_or_else(|| Blobs::open(setting), Ok)?;
        blobs.verify().await?;
        if let Self::Shared(database) = self {
            blobs.check_mark(database).await?;
        }
        Ok(blobs)
    }
}
