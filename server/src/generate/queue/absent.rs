//! The module in a build without the feature `provider-queue`.

use std::sync::Arc;

use super::QueueSetting;
use crate::generate::Provider;
use crate::store::Cause;

pub(crate) fn open(_: QueueSetting) -> Result<Arc<dyn Provider>, Cause> {
    Err("this program was built without the feature `provider-queue`".into())
}
