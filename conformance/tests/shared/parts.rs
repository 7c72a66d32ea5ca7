//! What a service is made from that a test puts together from its parts, to look into
//! or to break.

use std::error::Error;

use promptarium_server::test_support::Config;

use crate::keys::seeds;

/// Why there is no service.
pub(crate) type NotStarted = Box<dyn Error + Send + Sync>;

/// Everything in memory, and pictures of the built-in provider.
pub(crate) fn config(workers: usize) -> Result<Config, NotStarted> {
    let seeds = seeds().into_iter().map(|seed| format!("--seed-key={seed}"));
    Ok(Config::of_flags(seeds.chain([format!("--workers={workers}")]))?)
}
