//! What a service is made from that a test puts together from its parts, to look into
//! or to break.

use std::error::Error;

use promptarium_server::test_support::Config;

use crate::keys::seeds;

pub(crate) type NotStarted = Box<dyn Error + Send + Sync>;

/// Files in memory, everything else where this flag says or in memory too, and pictures of the built-in
/// provider.
pub(crate) fn config(workers: usize, place: Option<String>) -> Result<Config, NotStarted> {
    let seeds = seeds().into_iter().map(|seed| format!("--seed-key={seed}"));
    let webhooks =
        ["--allow-private-webhooks", "--webhook-delays=0,0.1,0.1,0.1"].map(str::to_owned);
    let flags = ["--blob-store=memory:".to_owned(), format!("--workers={workers}")];
    Ok(Config::of_flags(seeds.chain(place).chain(flags).chain(webhooks))?)
}
