//! The keys of servers that scenarios run against in these tests, two accounts in all,
//! and the target that they open. Each test program takes this in by its path.

use promptarium_conformance::TargetConfig;
use promptarium_server::{EmbeddedServer, EmbeddedServerBuilder};

pub(crate) const MAIN: &str = "promptarium_live_main_h7Kq2mVx9PzL4wTc";
pub(crate) const READ_ONLY: &str = "promptarium_live_read_b3NsY8dRf6GjQ1uW";
pub(crate) const OTHER: &str = "promptarium_live_other_t5XaC2eZk9HvM7pJ";
pub(crate) const REVOKED: &str = "promptarium_live_gone_r4UgD8iSn3BwF6yL";

/// The keys as a server is told of them.
pub(crate) fn seeds() -> [String; 4] {
    [
        format!("{MAIN}=alice:prompts:write"),
        format!("{READ_ONLY}=alice:none"),
        format!("{OTHER}=bob:prompts:write"),
        format!("{REVOKED}=alice:revoked"),
    ]
}

/// An embedded server that knows them, to be set up further.
pub(crate) fn builder() -> EmbeddedServerBuilder {
    builder_with(seeds())
}

pub(crate) fn builder_with(seeds: impl IntoIterator<Item = String>) -> EmbeddedServerBuilder {
    seeds.into_iter().fold(EmbeddedServer::builder(), EmbeddedServerBuilder::seed_key)
}

/// What a run is told about the server at this address.
pub(crate) fn target(base_url: &str) -> Result<TargetConfig, url::ParseError> {
    let mut config = TargetConfig::new(base_url.parse()?, MAIN);
    config.read_only_api_key = Some(READ_ONLY.into());
    config.other_api_key = Some(OTHER.into());
    config.revoked_api_key = Some(REVOKED.into());
    Ok(config)
}
