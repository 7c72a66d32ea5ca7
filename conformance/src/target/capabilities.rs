//! What a scenario may need beyond an address and a key, which parts of a target do not work, and
//! what a run says about both.

use std::fmt;
use std::sync::OnceLock;

use serde::Serialize;
use strum::VariantArray;

use crate::Failure;

/// Something a target may lack; a scenario that needs it is then skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, VariantArray)]
pub enum Need {
    /// A key of the same account that reads, without `prompts:write`.
    ReadOnlyKey,
    /// A key of another account.
    OtherAccount,
    /// A key that was revoked.
    RevokedKey,
}

/// Something that a run cannot test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Untestable {
    /// What it is.
    pub what: String,
    /// Why it cannot be tested.
    pub reason: String,
    /// What would change that.
    pub remedy: String,
}

impl Untestable {
    pub(crate) fn new(what: &str, reason: &str, remedy: &str) -> Self {
        let [what, reason, remedy] = [what, reason, remedy].map(str::to_owned);
        Self { what, reason, remedy }
    }
}

impl fmt::Display for Untestable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.what, self.reason, self.remedy)
    }
}

impl Need {
    /// What cannot be tested without it, why, and what would change that.
    pub(crate) fn untestable(self) -> Untestable {
        let (what, reason, remedy) = match self {
            Self::ReadOnlyKey => (
                "that a key without prompts:write cannot write",
                "no key without prompts:write is given, or it cannot read either",
                "set PROMPTARIUM_READ_ONLY_API_KEY to a key that may read",
            ),
            Self::OtherAccount => (
                "that accounts are isolated",
                "no key of another account is given",
                "set PROMPTARIUM_OTHER_API_KEY",
            ),
            Self::RevokedKey => (
                "that a revoked key is refused",
                "no revoked key is given",
                "set PROMPTARIUM_REVOKED_API_KEY",
            ),
        };
        Untestable::new(what, reason, remedy)
    }

    /// Why a scenario with this need is skipped, and what would change that.
    pub fn missing(self) -> String {
        let Untestable { reason, remedy, .. } = self.untestable();
        format!("{reason}; {remedy}")
    }
}

/// The reasons for which parts cannot be tested; none, unless the preflight found one.
#[derive(Debug, Default)]
pub(crate) struct Capabilities {
    /// Why no generation can be waited for.
    pub(crate) provider: OnceLock<String>,
    /// Why nothing can be uploaded.
    pub(crate) storage: OnceLock<String>,
    /// Set if the key without `prompts:write` may not read either.
    pub(crate) read_only_key: OnceLock<()>,
}

/// Skips a scenario that needs the part, if there is a reason why it cannot be tested.
pub(crate) fn must_work(part: &OnceLock<String>) -> Result<(), Failure> {
    part.get().map_or(Ok(()), |reason| Err(Failure::skipped(reason)))
}
