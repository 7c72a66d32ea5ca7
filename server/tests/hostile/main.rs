//! Attacks on a server process, with a good client beside each one: it must see no error and wait
//! for nothing, and the server's memory must stay within a bound.
//!
//! `PROMPTARIUM_HOSTILE_ROUNDS` repeats the attacks that leave nothing behind; the default is one
//! round. The attacks are not run at the same time, because each measures time and memory.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test fails where something unexpected happens, and prints what it measures"
)]

#[path = "../it/support/program.rs"]
#[expect(dead_code, reason = "other tests use all of it")]
mod program;

mod good;
mod peer;
mod target;

mod bodies;
mod connections;
mod generations;
mod readers;
mod uploads;
mod vaults;

use std::time::Duration;

/// No test waits longer for anything.
const TIMEOUT: Duration = Duration::from_secs(60);
/// What a server may take at most, whatever is sent to it with the default settings.
const MEMORY_MAX_MIB: u64 = 256;

const MEBIBYTE: usize = 1024 * 1024;

/// How often an attack is made. What the server stores adds up, so attacks that store much are made
/// once.
fn rounds() -> usize {
    let rounds = std::env::var("PROMPTARIUM_HOSTILE_ROUNDS");
    rounds.map_or(1, |rounds| rounds.parse().expect("a number of rounds"))
}
