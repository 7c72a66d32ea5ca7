//! The module in a build without the feature `provider-queue`: no setting can be made.

#[path = "fields.rs"]
pub(crate) mod fields;

use std::convert::Infallible;

use self::fields::ModelFields;
use crate::generate::local::LocalProvider;
use crate::quota::Quota;

pub(crate) type OutboundError = Infallible;
pub(crate) type QueueProvider = LocalProvider;

#[derive(Clone, Debug)]
pub(crate) struct QueueSetting {
    pub(crate) private_outputs: bool,
    pub(crate) model_fields: ModelFields,
    pub(crate) results: Quota,
    never: Infallible,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot be used, because this program was built without the feature `provider-queue`")]
pub(crate) enum QueueSettingError {
    Url,
    Key,
}

impl QueueSetting {
    pub(crate) fn new(_url: &str, _key: &str) -> Result<Self, QueueSettingError> {
        Err(QueueSettingError::Url)
    }
}

impl LocalProvider {
    pub(crate) fn new(QueueSetting { never, .. }: QueueSetting) -> Result<Self, OutboundError> {
        match never {}
    }
}
