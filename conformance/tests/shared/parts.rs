//! What a service is made from that a test puts together from its parts, to look into
//! or to break.

use std::error::Error;

use promptarium_server::test_support::BlobSetting;
use promptarium_server::test_support::{JobSettings, ModelNamespace, Vendor};
use promptarium_server::test_support::{SeedKey, ServiceConfig};

use crate::keys::seeds;

/// Why there is no service.
pub(crate) type NotStarted = Box<dyn Error + Send + Sync>;

/// Everything in memory, and pictures of the built-in provider.
pub(crate) fn config(workers: usize) -> Result<ServiceConfig, NotStarted> {
    let vendor = Vendor::new("promptarium").ok_or("no vendor")?;
    let seeds =
        seeds().iter().map(|seed| SeedKey::parse(seed, &vendor)).collect::<Result<_, _>>()?;
    Ok(ServiceConfig {
        vendor,
        model_namespace: ModelNamespace::new("local").ok_or("no namespace")?,
        seeds,
        signing_key: None,
        blobs: BlobSetting::Memory,
        provider: None,
        jobs: JobSettings { workers, ..JobSettings::default() },
        memory_budget: 128 << 20,
        rate_limits: Vec::new(),
        cors_origins: Vec::new(),
    })
}
