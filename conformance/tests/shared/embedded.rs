//! An embedded server that knows the keys of these tests, to be set up further.

use promptarium_server::{EmbeddedServer, EmbeddedServerBuilder};

use crate::keys::seeds;

pub(crate) fn builder() -> EmbeddedServerBuilder {
    seeds().into_iter().fold(EmbeddedServer::builder(), EmbeddedServerBuilder::seed_key)
}
