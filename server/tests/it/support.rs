//! What the tests share: a plain client, the program as a child, stores that
//! fail, uploads.

pub(crate) mod client;
pub(crate) mod failing;
pub(crate) mod folder;
pub(crate) mod program;
pub(crate) mod slot;
pub(crate) mod troubled;

use std::time::Duration;

/// No test waits longer for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
