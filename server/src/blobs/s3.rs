//! Files in an S3-compatible store.

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::ClientConfigKey;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use url::Url;

use super::{BlobError, Blobs, Place};
use crate::limits::{
    OUTBOUND_CONNECT_TIMEOUT, OUTBOUND_IDLE_TIMEOUT, S3_BACKOFF_FIRST, S3_BACKOFF_MAX,
    S3_READ_TIMEOUT, S3_RETRIES_MAX, S3_RETRY_FOR,
};
use crate::store::Cause;

const ALLOW_HTTP: AmazonS3ConfigKey = AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp);

/// The variables `AWS_…` configure it; an empty one counts as absent.
pub(super) fn open(
    bucket: &str,
    prefix: &str,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<Blobs, Cause> {
    let options = ClientOptions::new()
        .with_timeout_disabled()
        .with_connect_timeout(OUTBOUND_CONNECT_TIMEOUT)
        .with_read_timeout(S3_READ_TIMEOUT)
        .with_pool_idle_timeout(OUTBOUND_IDLE_TIMEOUT);
    let (mut builder, mut http_endpoint) =
        (AmazonS3Builder::new().with_client_options(options), None);
    let given = |(name, value): &(String, String)| name.starts_with("AWS_") && !value.is_empty();
    for (name, value) in variables.filter(given) {
        let Ok(key) = name.to_ascii_lowercase().parse() else { continue };
        let refused = |text| Err(format!("{name} {text}").into());
        // The library panics on a value that no header can have.
        if !value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
            return refused("has a character that is not printable ASCII, such as a line end");
        }
        if matches!(key, AmazonS3ConfigKey::Endpoint | AmazonS3ConfigKey::S3Endpoint) {
            let url = Url::parse(&value).ok().filter(Url::has_host);
            match url.as_ref().map(Url::scheme) {
                Some("https") => {}
                Some("http") => http_endpoint = Some(name),
                _ => return refused("must be http://HOST:PORT or https://HOST:PORT"),
            }
        }
        builder = builder.with_config(key, value);
    }
    let allow_http = builder.get_config_value(&ALLOW_HTTP).unwrap_or_default();
    let allow_http = ["1", "true", "on", "yes", "y"].contains(&&*allow_http.to_ascii_lowercase());
    if let Some(name) = http_endpoint.filter(|_| !allow_http) {
        let text = "begins with http://, which AWS_ALLOW_HTTP=true would allow";
        return Err(format!("{name} {text}").into());
    }
    // A client waits for the outcome, so failures are reported soon.
    let backoff =
        BackoffConfig { init_backoff: S3_BACKOFF_FIRST, max_backoff: S3_BACKOFF_MAX, base: 2. };
    let retry = RetryConfig { backoff, max_retries: S3_RETRIES_MAX, retry_timeout: S3_RETRY_FOR };
    let s3 = builder
        .with_bucket_name(bucket)
        .with_retry(retry)
        .with_allow_http(allow_http)
        .build()
        .map_err(|error| BlobError::from(error).text)?;
    let address = format!("s3://{bucket}/{prefix}");
    Ok(Blobs::new(PrefixStore::new(s3, prefix), Place::s3(), address))
}
