//! What scenarios of several subjects start from.

pub mod credentials;
pub mod job;
pub mod pictures;
pub mod prompt;
pub mod slot;

/// All of it, with the prelude of every scenario.
pub mod prelude {
    pub use super::{credentials::*, job::*, pictures::*, prompt::*, slot::*};
    pub use crate::scenarios::prelude::*;
}
