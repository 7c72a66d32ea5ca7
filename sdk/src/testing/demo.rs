//! Runs the examples of this crate's documentation.
//!
//! An example is a function of a client; its client speaks to `service`, by a virtual
//! clock, in a folder of its own. It is no part of what the crate offers: only doc tests
//! call it, and they can call only what is public.

mod folder;
mod service;

use std::fmt;

use tokio::runtime::Builder;

use super::{Script, VirtualClock, builder};
#[cfg(feature = "blocking")]
use crate::blocking;
use crate::{Client, GenerationState};
use folder::Folder;

/// Runs an example.
///
/// # Panics
///
/// If it fails, or asks for what the service does not have.
pub fn run<F, E>(example: impl FnOnce(Client) -> F)
where
    F: Future<Output = Result<(), E>>,
    E: fmt::Display,
{
    run_with(|_| (), example);
}

/// [`run`], where the service first says what `first` tells it.
///
/// # Panics
///
/// As [`run`], and if the example does not ask for all of it.
pub fn run_with<F, E>(first: impl FnOnce(&Script), example: impl FnOnce(Client) -> F)
where
    F: Future<Output = Result<(), E>>,
    E: fmt::Display,
{
    let script = Script::new();
    first(&script);
    service::play(&script, &service::STATES);
    stage(&script, example);
}

/// [`run`], for examples that upload files.
///
/// The virtual clock does not see who waits for a file and would let every time limit run
/// out, so here time stands still, and a job is done as soon as it is asked for.
///
/// # Panics
///
/// As [`run`].
pub fn run_with_files<F, E>(example: impl FnOnce(Client) -> F)
where
    F: Future<Output = Result<(), E>>,
    E: fmt::Display,
{
    stage(&still(), example);
}

/// [`run`], for examples that block. Time stands still as in [`run_with_files`]: the clock
/// does not see their thread either.
///
/// # Panics
///
/// As [`run`].
#[cfg(feature = "blocking")]
pub fn run_blocking<E: fmt::Display>(example: impl FnOnce(blocking::Client) -> Result<(), E>) {
    let script = still();
    let client = made(builder(&script).build_blocking());
    check(&script, || example(client));
}

/// A service without time.
fn still() -> Script {
    let script = Script::with_clock(VirtualClock::by_hand());
    service::play(&script, &[GenerationState::Completed]);
    script
}

fn stage<F, E>(script: &Script, example: impl FnOnce(Client) -> F)
where
    F: Future<Output = Result<(), E>>,
    E: fmt::Display,
{
    let client = made(builder(script).build());
    let runtime = made(Builder::new_current_thread().enable_all().build());
    check(script, || runtime.block_on(async { example(client).await }));
}

/// Runs the example in its folder, and looks at how it ended.
fn check<E: fmt::Display>(script: &Script, example: impl FnOnce() -> Result<(), E>) {
    let folder = made(Folder::enter());
    let ended = example();
    drop(folder);
    made(ended);
    made(script.verify());
}

#[expect(clippy::panic, reason = "a panic is how a doc test fails")]
fn made<T, E: fmt::Display>(value: Result<T, E>) -> T {
    match value {
        Ok(value) => value,
        Err(error) => panic!("the example failed: {error}"),
    }
}
