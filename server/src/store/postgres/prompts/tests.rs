//! Steps on single prompts, and many of them at once. No other room takes part:
//! accounts, vaults and counts are made and read by plain SQL.

mod answers;
mod races;
pub(in crate::store::postgres) mod world;
