//! Which provider an operator wants.

use std::sync::Arc;

use super::Provider;
use super::local::LocalProvider;
use super::queue::{QueueProvider, QueueSetting};
use crate::blobs::Blobs;
use crate::blobs::asset_url::Assets;
use crate::clock::Clock;
use crate::outbound::{AddressPolicy, Outbound, OutboundError};

/// Who makes the pictures.
#[derive(Clone, Debug, Default)]
pub enum ProviderSetting {
    /// The service itself; needs nothing.
    #[default]
    Local,
    /// A service that is spoken to over HTTP.
    Queue(Box<QueueSetting>),
}

impl ProviderSetting {
    /// The provider that was wanted.
    ///
    /// # Errors
    /// If it cannot be spoken to at all.
    pub fn open(
        &self,
        clock: Clock,
        assets: Assets,
        blobs: Blobs,
    ) -> Result<Arc<dyn Provider>, OutboundError> {
        Ok(match self {
            Self::Local => Arc::new(LocalProvider::new(clock, assets, blobs)),
            Self::Queue(setting) => {
                // Where the operator's own address leads is the operator's affair.
                let outbound = Outbound::new(AddressPolicy::Any)?;
                Arc::new(QueueProvider::new((**setting).clone(), outbound))
            }
        })
    }
}
