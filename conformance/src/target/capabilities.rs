//! What was found out about a target before the run: parts of it that do not
//! work from here, and why. Scenarios that need them are then skipped.

use std::sync::OnceLock;

use crate::Failure;

/// The reasons for which parts cannot be tested; none, unless a probe found one.
#[derive(Debug, Default)]
pub(crate) struct Capabilities {
    /// Why no generation can be waited for.
    pub(crate) provider: OnceLock<String>,
    /// Why nothing can be uploaded.
    pub(crate) storage: OnceLock<String>,
    /// Set if the key without `prompts:write` may not read either.
    pub(crate) read_only_key: OnceLock<()>,
}

/// Skips whoever needs the part, if there is a reason why it cannot be tested.
pub(crate) fn must_work(part: &OnceLock<String>) -> Result<(), Failure> {
    part.get().map_or(Ok(()), |reason| Err(Failure::blocked(reason)))
}
