//! Which blob store an operator wants, and opening it: `memory:`, `file:PATH` or
//! `s3://BUCKET/PREFIX`. S3 is configured further by the usual variables `AWS_…`.

use std::path::PathBuf;
use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::{ClientConfigKey, ClientOptions, HttpClient, HttpConnector};
use object_store::local::LocalFileSystem;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};
use url::Url;

use super::health::Health;
use super::staging::Staging;
use super::{BlobError, BlobOpenError, Blobs};
use crate::error_chain::error_chain;
use crate::limits::{S3_BACKOFF_FIRST, S3_BACKOFF_MAX, S3_RETRIES_MAX, S3_RETRY_FOR};
use crate::outbound::{AddressPolicy, Outbound};

/// Where files are to be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BlobSetting {
    /// In memory, until the process ends.
    #[default]
    Memory,
    /// In this folder, relative to the working directory.
    Folder(PathBuf),
    /// In an S3-compatible store.
    S3 {
        /// The bucket.
        bucket: Box<str>,
        /// Prefix of all object keys; may be empty.
        prefix: Box<str>,
    },
}

impl BlobSetting {
    /// Parses a setting. The error does not repeat it, because it may contain a key by mistake.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        match text.split_once(':') {
            Some(("memory", "")) => Ok(Self::Memory),
            Some(("file", "")) => Err("needs a path after file:"),
            Some(("file", path)) => Ok(Self::Folder(path.into())),
            Some(("s3", rest)) if rest.starts_with("//") => parse_s3(&rest[2..]),
            _ => Err("must be memory:, file:PATH or s3://BUCKET/PREFIX"),
        }
    }
}

fn parse_s3(text: &str) -> Result<BlobSetting, &'static str> {
    let (bucket, prefix) = text.split_once('/').unwrap_or((text, ""));
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    let is_plain = |word: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        !word.is_empty() && word.chars().all(allowed) && !matches!(word, "." | "..")
    };
    if !is_plain(bucket) {
        return Err("needs the name of a bucket after s3://, of letters, digits, `.`, `_` and `-`");
    }
    if !prefix.is_empty() && !prefix.split('/').all(is_plain) {
        return Err("needs a prefix of letters, digits, `.`, `_`, `-` and single slashes after \
                    the bucket; keys and endpoint go into AWS_... variables");
    }
    Ok(BlobSetting::S3 { bucket: bucket.into(), prefix: prefix.into() })
}

impl Blobs {
    /// Opens the store of a setting. A folder is created if it is absent. Whether a bucket
    /// works, [`Blobs::verify`] finds out.
    pub fn open(setting: &BlobSetting) -> Result<Self, BlobOpenError> {
        match setting {
            BlobSetting::Memory => Ok(Self::in_memory()),
            BlobSetting::Folder(path) => {
                // Relative only if there is no working directory.
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                let place = format!("file:{}", path.display());
                let staging = Staging::folder(&path).map_err(|error| {
                    BlobOpenError(format!(
                        "{place}: nothing can be written there ({error}); name a folder that this \
                         user may write"
                    ))
                })?;
                let store = Arc::new(LocalFileSystem::new_with_prefix(path).map_err(unusable)?);
                Ok(Self { store, staging, health: Health::default(), place: place.into() })
            }
            BlobSetting::S3 { bucket, prefix } => open_s3(
                bucket,
                prefix,
                std::env::vars_os().filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                }),
            ),
        }
    }
}

/// The variables `AWS_…` configure it; an empty one counts as absent.
pub(super) fn open_s3(
    bucket: &str,
    prefix: &str,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<Blobs, BlobOpenError> {
    let (mut builder, mut http_endpoint, mut allow_http) = (AmazonS3Builder::new(), None, false);
    let given = |(name, value): &(String, String)| name.starts_with("AWS_") && !value.is_empty();
    for (name, value) in variables.filter(given) {
        let Ok(key) = name.to_ascii_lowercase().parse() else { continue };
        let refused = |text| Err(BlobOpenError(format!("{name} {text}")));
        // The library panics on a value that no header can have.
        if !value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
            return refused("has a character that is not printable ASCII, such as a line end");
        }
        match key {
            AmazonS3ConfigKey::Endpoint | AmazonS3ConfigKey::S3Endpoint => {
                let url = Url::parse(&value).ok().filter(Url::has_host);
                match url.as_ref().map(Url::scheme) {
                    Some("https") => {}
                    Some("http") => http_endpoint = Some(name),
                    _ => return refused("must be http://HOST:PORT or https://HOST:PORT"),
                }
            }
            AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp) => {
                allow_http =
                    ["1", "true", "on", "yes", "y"].contains(&&*value.to_ascii_lowercase());
                continue;
            }
            _ => {}
        }
        builder = builder.with_config(key, value);
    }
    if let Some(name) = http_endpoint.filter(|_| !allow_http) {
        let text = format!("{name} begins with http://, which AWS_ALLOW_HTTP=true would allow");
        return Err(BlobOpenError(text));
    }
    let outbound =
        Outbound::new(AddressPolicy::Any).map_err(|error| BlobOpenError(error_chain(&error)))?;
    // A client waits for the outcome, so failures are reported soon.
    let backoff =
        BackoffConfig { init_backoff: S3_BACKOFF_FIRST, max_backoff: S3_BACKOFF_MAX, base: 2. };
    let retry = RetryConfig { backoff, max_retries: S3_RETRIES_MAX, retry_timeout: S3_RETRY_FOR };
    let s3 = builder
        .with_bucket_name(bucket)
        .with_retry(retry)
        .with_allow_http(allow_http)
        .with_http_connector(Connector(outbound))
        .build()
        .map_err(unusable)?;
    let store: Arc<dyn ObjectStore> =
        if prefix.is_empty() { Arc::new(s3) } else { Arc::new(PrefixStore::new(s3, prefix)) };
    let place = format!("s3://{bucket}/{prefix}").into();
    Ok(Blobs { store, staging: Staging::temp_file(), health: Health::default(), place })
}

fn unusable(error: object_store::Error) -> BlobOpenError {
    BlobOpenError(BlobError::from(error).text)
}

/// Gives the S3 library HTTP clients with the server's TLS settings.
#[derive(Debug)]
struct Connector(Outbound);

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allow_http = options.get_config_value(&ClientConfigKey::AllowHttp);
        let https_only = allow_http.as_deref() != Some("true");
        Ok(HttpClient::new(self.0.for_s3(https_only)))
    }
}
