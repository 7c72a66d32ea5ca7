//! An S3-compatible store, configured as other programs are by the variables
//! `AWS_…`, and reached over the server's own HTTP client.

mod crypto;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};

use self::crypto::Sha2;
use self::wire::Wire;
use super::{BlobError, BlobsUnusable};
use crate::outbound::{Outbound, Reach};

/// Somebody waits for the answer, so that failures are told soon.
const RETRIES: RetryConfig = RetryConfig {
    backoff: BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(2),
        base: 2.,
    },
    max_retries: 3,
    retry_timeout: Duration::from_secs(20),
};

/// Opens a bucket with the settings among `variables`. Whether it is there is
/// seen when it is used.
pub(super) fn open(
    bucket: &str,
    prefix: &str,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<Arc<dyn ObjectStore>, BlobsUnusable> {
    let outbound =
        Outbound::new(Reach::Anywhere).map_err(|error| BlobsUnusable::because(error.in_full()))?;
    let s3 = builder(variables)
        .with_bucket_name(bucket)
        .with_retry(RETRIES)
        .with_crypto_provider(Arc::new(Sha2))
        .with_http_connector(Wire::over(outbound))
        .build()
        .map_err(|error| BlobsUnusable::new(BlobError::from(error)))?;
    Ok(below(s3, prefix))
}

fn below(s3: AmazonS3, prefix: &str) -> Arc<dyn ObjectStore> {
    if prefix.is_empty() { Arc::new(s3) } else { Arc::new(PrefixStore::new(s3, prefix)) }
}

/// Takes what is a setting of S3 and passes over every other variable.
fn builder(variables: impl IntoIterator<Item = (String, String)>) -> AmazonS3Builder {
    let settings = variables.into_iter().filter(|(name, _)| name.starts_with("AWS_"));
    settings.fold(AmazonS3Builder::new(), |builder, (name, value)| {
        match name.to_ascii_lowercase().parse() {
            Ok(key) => builder.with_config(key, value),
            Err(_) => builder,
        }
    })
}

#[cfg(test)]
mod tests;
