//! The settings that the service itself is made from.

use super::args::Settings;
use super::reader::Reader;
use super::switch;
use crate::blobs::BlobSetting;
use crate::domain::{ModelNamespace, SigningKey, Vendor};
use crate::generate::ProviderSetting;
use crate::generate::queue::{QueueSetting, QueueSettingFault};
use crate::seed::Seed;
use crate::start::ServiceConfig;

/// Where files are kept beside a database: they should last as long as it does.
const BLOBS_DEFAULT: &str = "./data/blobs";

/// The most generations that may be attended to at once.
const WORKERS_MAX: usize = 1000;

/// `None` if a setting without which nothing goes is at fault.
pub(super) fn service(given: &Settings, reader: &mut Reader<'_>) -> Option<ServiceConfig> {
    let vendor = vendor(given, reader);
    let model_namespace = model_namespace(given, reader);
    let signing_key = reader.one("signing_key", given.signing_key.as_ref(), |text| {
        let fault = || format!("must have at least {} characters", SigningKey::BYTES_MIN);
        SigningKey::new(text.as_bytes()).ok_or_else(fault)
    });
    let blobs = match &given.blob_store {
        None if given.database_url.is_some() => Some(BlobSetting::Folder(BLOBS_DEFAULT.into())),
        None => Some(BlobSetting::Memory),
        Some(_) => reader.one("blob_store", given.blob_store.as_ref(), |text| {
            BlobSetting::parse(text).map_err(|fault| fault.to_string())
        }),
    };
    let provider = provider(given, reader);
    let workers = reader.one("workers", Some(&given.workers), |text| {
        let number = text.parse().ok().filter(|number| *number <= WORKERS_MAX);
        number.ok_or_else(|| format!("must be an integer from 0 to {WORKERS_MAX}"))
    });
    let vendor = vendor?;
    let seeds = reader.many("seed_key", &given.seed_key, |text| {
        Seed::parse(text, &vendor).map_err(|fault| fault.to_string())
    });
    Some(ServiceConfig {
        vendor,
        model_namespace: model_namespace?,
        seeds,
        signing_key,
        blobs: blobs?,
        provider: provider?,
        workers: workers?,
    })
}

/// What models begin with.
pub(super) fn model_namespace(given: &Settings, reader: &mut Reader<'_>) -> Option<ModelNamespace> {
    reader.one("model_namespace", Some(&given.model_namespace), |text| {
        let fault = || "must be letters, digits, `.`, `_` or `-`, without a slash".to_owned();
        ModelNamespace::new(text).ok_or_else(fault)
    })
}

/// What keys begin with.
pub(super) fn vendor(given: &Settings, reader: &mut Reader<'_>) -> Option<Vendor> {
    reader.one("vendor", Some(&given.vendor), |text| {
        Vendor::new(text).ok_or_else(|| "must be lower-case letters and digits".to_owned())
    })
}

/// Which of the two settings of the queue provider there are is checked here: a
/// provider that lacks one would fail at the first generation only.
fn provider(given: &Settings, reader: &mut Reader<'_>) -> Option<ProviderSetting> {
    let (url, key) = (given.provider_url.as_ref(), given.provider_key.as_ref());
    let is_queue = reader.one("provider", Some(&given.provider), |text| match text {
        "local" if url.is_some() => Err("must be queue where --provider-url is given".to_owned()),
        "local" => Ok(false),
        "queue" if url.is_none() => Err("is queue, which needs --provider-url".to_owned()),
        "queue" if key.is_none() => Err("is queue, which needs --provider-key".to_owned()),
        "queue" => Ok(true),
        _ => Err("must be local or queue".to_owned()),
    })?;
    if !is_queue {
        return Some(ProviderSetting::Local);
    }
    let secret = reader.one("provider_key", key, |text| Ok(text.to_owned()))?;
    let queue = reader.one("provider_url", url, |url| match QueueSetting::new(url, &secret) {
        Err(fault @ QueueSettingFault::Url) => Err(fault.to_string()),
        // What is wrong with the key is told under the key's name.
        queue => Ok(queue),
    })?;
    let queue = reader.one("provider_key", key, |_| queue.map_err(|fault| fault.to_string()))?;
    let private = given.provider_private_outputs.as_ref();
    let private = reader.one("provider_private_outputs", private, switch).unwrap_or(false);
    let queue = if private { queue.with_private_outputs() } else { queue };
    Some(ProviderSetting::Queue(queue.into()))
}
