//! Stores outputs as assets, at URLs derived from their job.

use async_trait::async_trait;

use super::Output;
use crate::blobs::asset_url::Assets;
use crate::blobs::{AssetName, BlobError, Blobs, PutError};
use crate::domain::{JobRecord, ProviderTicket, SigningKey};

/// Stores outputs where clients can download them.
#[async_trait]
pub trait OutputStore: Send + Sync + 'static {
    /// Stores one output of a job and returns its URL, which is the same for each call with the
    /// same job, ticket and index. After an error nothing of it is visible.
    async fn put(
        &self,
        job: &JobRecord,
        ticket: &ProviderTicket,
        index: usize,
        output: &Output,
    ) -> Result<Box<str>, BlobError>;
}

/// Stores outputs as assets.
pub(crate) struct AssetOutputStore {
    blobs: Blobs,
    assets: Assets,
    key: SigningKey,
}

impl AssetOutputStore {
    /// URLs cannot be guessed without `key`.
    pub(crate) fn new(blobs: Blobs, assets: Assets, key: &SigningKey) -> Self {
        Self { blobs, assets, key: key.clone() }
    }
}

#[async_trait]
impl OutputStore for AssetOutputStore {
    async fn put(
        &self,
        job: &JobRecord,
        ticket: &ProviderTicket,
        index: usize,
        output: &Output,
    ) -> Result<Box<str>, BlobError> {
        let name = AssetName::derived(&self.key, &context(job, ticket, index), output.media);
        match self.blobs.put_new(&name, output.bytes.clone()).await {
            // An earlier attempt has stored it.
            Ok(()) | Err(PutError::Taken) => Ok(self.assets.url_of(&name).into()),
            Err(PutError::Failed(error)) => Err(error),
        }
    }
}

/// What distinguishes an output from all others. A memory store assigns the same account ids at
/// each start, and names of jobs may be used again, so the creation time and the provider's
/// request id are part of it.
fn context(job: &JobRecord, ticket: &ProviderTicket, index: usize) -> Vec<u8> {
    let mut context = Vec::new();
    for text in [&*ticket.request_id, &job.key.client_job_id] {
        context.extend_from_slice(&(text.len() as u64).to_be_bytes());
        context.extend_from_slice(text.as_bytes());
    }
    context.extend_from_slice(&job.key.account.0.to_be_bytes());
    context.extend_from_slice(&job.created_at.as_microsecond().to_be_bytes());
    context.extend_from_slice(&(index as u64).to_be_bytes());
    context
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::{SignedDuration, Timestamp};
    use promptarium::VaultId;
    use url::Url;

    use super::*;
    use crate::domain::{AccountId, GenerationRequest, JobKey, JobState};
    use crate::generate::Progress;
    use crate::generate::tests::{pictures, ticket};

    fn job(account: i64, name: &str, made_after: i64) -> JobRecord {
        let made = Timestamp::UNIX_EPOCH + SignedDuration::from_micros(made_after);
        JobRecord {
            key: JobKey { account: AccountId(account), client_job_id: name.into() },
            request: Arc::new(GenerationRequest::default()),
            vault: VaultId::new(1),
            state: JobState::Queued(ticket("r")),
            created_at: made,
            updated_at: made,
        }
    }

    fn signing_key(byte: u8) -> SigningKey {
        SigningKey::new(&[byte; SigningKey::BYTES_MIN]).unwrap()
    }

    #[tokio::test]
    async fn an_output_has_one_url_for_its_index_in_its_job() {
        let assets = Assets::new(&Url::parse("http://localhost").unwrap());
        let blobs = Blobs::in_memory();
        let store = AssetOutputStore::new(blobs.clone(), assets.clone(), &signing_key(1));
        let Progress::Completed(outputs) = pictures(1) else { panic!("pictures are done") };
        let put = async |job: &JobRecord, request, index| {
            store.put(job, &ticket(request), index, &outputs[0]).await.unwrap()
        };
        let first = put(&job(1, "j", 0), "r", 0).await;
        assert_eq!(put(&job(1, "j", 0), "r", 0).await, first);
        let name = assets.name_in(&first).unwrap();
        assert_eq!(blobs.read_all(&name).await.unwrap(), Some(outputs[0].bytes.clone()));
        for (job, request, index) in [
            (job(1, "j", 0), "r", 1),
            (job(1, "j", 0), "s", 0),
            (job(1, "j", 1), "r", 0),
            (job(1, "k", 0), "r", 0),
            (job(2, "j", 0), "r", 0),
        ] {
            assert_ne!(put(&job, request, index).await, first, "{job:?} {request} {index}");
        }
        let other = AssetOutputStore::new(blobs, assets, &signing_key(2));
        let guessed = other.put(&job(1, "j", 0), &ticket("r"), 0, &outputs[0]).await.unwrap();
        assert_ne!(guessed, first);
    }
}
