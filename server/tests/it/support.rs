//! What the tests share: a plain client, the program as a child, a store that fails.

pub(crate) mod client;
pub(crate) mod failing;
pub(crate) mod program;

use std::time::Duration;

/// No test waits longer for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
