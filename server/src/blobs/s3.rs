//! Files in an S3-compatible store. A complete upload is read back: whole under a quota of bytes in
//! memory, or in parts if it is large, which only an output is.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::ClientConfigKey;
use object_store::prefix::PrefixStore;
use object_store::{
    Attribute, Attributes, BackoffConfig, ClientOptions, Error, GetOptions, ObjectStore as _,
    PutMode, PutOptions, RetryConfig,
};
use tokio::time::timeout;
use url::Url;

use super::{BlobError, Blobs, Place, Remote, Upload, key, random_id};
use crate::domain::AssetName;
use crate::limits::product::{
    OUTBOUND_CONNECT_TIMEOUT, OUTBOUND_IDLE_TIMEOUT, S3_BACKOFF_FIRST, S3_BACKOFF_MAX,
    S3_CONFIRM_TIMEOUT, S3_PART_BYTES, S3_READ_TIMEOUT, S3_RETRIES_MAX, S3_RETRY_FOR,
    S3_UPLOAD_BYTES_MAX, S3_UPLOAD_WAIT, S3_WHOLE_BYTES_MAX,
};
use crate::limits::{BLOBS_TIMEOUT, S3_RATE_MIN};
use crate::quota::{Client, Permit, Quota};
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
    Ok(Blobs::new(PrefixStore::new(s3, prefix), S3::place(), address))
}

/// The bytes on their way to S3.
pub(super) struct S3(Quota);

impl S3 {
    pub(super) fn place() -> Place {
        let (what, most) = ("the memory for uploads to S3", S3_UPLOAD_BYTES_MAX);
        Place::Remote(Arc::new(Self(Quota::new("s3_uploads", what, most, most))))
    }

    /// Waits until this many bytes may be in memory.
    async fn permit(&self, bytes: u64) -> Result<Permit, BlobError> {
        let permit = self.0.acquire(Client::Server, bytes as usize, S3_UPLOAD_WAIT).await;
        permit.map_err(|over| BlobError::text(over.to_string()))
    }

    /// Puts a large file in parts. Unlike a whole one it would replace a file of its name that
    /// was stored meanwhile; only the output of one job can, and it is the same.
    async fn put_parts(&self, mut file: Upload, name: &AssetName) -> Result<bool, BlobError> {
        let (blobs, size) = (file.blobs.clone(), file.size);
        if blobs.size_of(name).await?.is_some() {
            return Ok(false);
        }
        let of_type = (Attribute::ContentType, name.media().content_type());
        let options = Attributes::from_iter([of_type]).into();
        let mut upload = blobs.store.put_multipart_opts(&key(name), options).await?;
        let sent = async {
            for start in (0..size).step_by(S3_PART_BYTES as usize) {
                let _permit = self.permit(S3_PART_BYTES).await?;
                let part = file.part(start, S3_PART_BYTES).await?;
                upload.put_part(part.into()).await?;
            }
            upload.complete().await?;
            Ok::<_, BlobError>(true)
        };
        let sent = sent.await;
        if sent.is_err() {
            // If this fails too, the store keeps the parts; see docs/configure.md.
            let _ = upload.abort().await;
        }
        sent
    }
}

#[async_trait]
impl Remote for S3 {
    /// A whole file is an object with a random id. After a failure the id tells whether the store
    /// has taken this very put although its response was lost, or a retry of it met the name as
    /// taken.
    async fn publish(&self, mut upload: Upload, name: &AssetName) -> Result<bool, BlobError> {
        if upload.size > S3_WHOLE_BYTES_MAX {
            return self.put_parts(upload, name).await;
        }
        let _permit = self.permit(upload.size).await?;
        let (store, bytes) = (upload.blobs.store.clone(), upload.whole().await?);
        let (attribute, id) = (Attribute::Metadata("put-id".into()), random_id());
        let of_type = (Attribute::ContentType, name.media().content_type().to_owned());
        let attributes = [(attribute.clone(), id.clone()), of_type].into_iter().collect();
        let options = PutOptions { mode: PutMode::Create, attributes, ..PutOptions::default() };
        let (location, head) = (key(name), GetOptions { head: true, ..GetOptions::default() });
        let limit = BLOBS_TIMEOUT + Duration::from_secs(bytes.len() as u64 / S3_RATE_MIN);
        let putting = store.put_opts(&location, bytes.into(), options);
        let put = timeout(limit, putting).await.map_err(|_| BlobError::silent(limit))?;
        let Err(error) = put else { return Ok(true) };
        match timeout(S3_CONFIRM_TIMEOUT, store.get_opts(&location, head)).await {
            Ok(Ok(got)) if got.attributes.get(&attribute).is_some_and(|at| **at == *id) => Ok(true),
            _ if matches!(error, Error::AlreadyExists { .. }) => Ok(false),
            _ => Err(error.into()),
        }
    }

    fn quota(&self) -> Quota {
        self.0.clone()
    }
}
