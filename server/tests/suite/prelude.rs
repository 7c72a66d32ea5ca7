//! What nearly every file of scenarios uses.

pub(crate) use promptarium_conformance::scenarios::prelude::*;
