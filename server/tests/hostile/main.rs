//! Attacks on a server process, each on the stores that have a part in it, in a release build on
//! both. Beside each attack a good client of another
//! account works: it must see no error and wait for nothing, its generations must end in time, and
//! the server's memory must stay within a bound.
//!
//! `PROMPTARIUM_HOSTILE_ROUNDS` repeats each attack, every time on a new server; the default is one
//! round. The attacks are not run at the same time, because each measures time and memory. Each
//! prints a row of the table in `docs/reference/benchmarks.md`.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails where something unexpected happens, and prints what it measures"
)]

mod good;
mod report;
mod target;

mod connections;
mod generations;
mod readers;
mod uploads;

#[path = "../support/lib.rs"]
#[expect(dead_code, reason = "each test program uses a part")]
mod support;

use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use libtest_mimic::{Arguments, Trial};

use crate::connections::{IDLE_SETTINGS, floods, idle, slow_heads};
use crate::generations::{hold_workers, largest_generations};
use crate::readers::{
    ACCOUNTS, held_downloads, images, of_three_accounts, pages, unread_downloads, vaults,
};
use crate::report::Report;
use crate::target::{IN_MEMORY, Target};
use crate::uploads::{
    forks, large_output, largest_at_once, largest_bodies, lists_of_vaults, stalled, unfinished,
};

/// How long attacks last that would not end.
const HELD_FOR: Duration = Duration::from_millis(if cfg!(debug_assertions) { 700 } else { 5000 });
const MEBIBYTE: usize = 1024 * 1024;

/// What a server may take at most with the default settings, in MiB: beside uploads, while it
/// copies outputs of the provider, and whatever else is sent to it.
const UPLOADS: usize = 128;
const OUTPUTS: usize = 512;
const OTHERS: usize = 256;

/// What an attacker does to a server: name, flags of the server, bound of its memory.
type Attack = (&'static str, fn(&Target) -> LocalBoxFuture<'_, ()>, &'static str, usize);

#[rustfmt::skip]
const ON_CONNECTIONS_AND_FILES: [Attack; 11] = [
    ("64_uploads_of_10_MiB", |t| largest_at_once(t).boxed_local(), "", UPLOADS),
    ("14_stalled_uploads", |t| stalled(t).boxed_local(), "", UPLOADS),
    ("40_unfinished_uploads", |t| unfinished(t).boxed_local(), IN_MEMORY, 200),
    ("1000_unread_images", |t| images(t).boxed_local(), "", OTHERS),
    ("256_unread_downloads", |t| unread_downloads(t).boxed_local(), IN_MEMORY, OTHERS),
    ("260_held_downloads", |t| held_downloads(t).boxed_local(), "", OTHERS),
    ("150_bodies_of_4_MiB", |t| largest_bodies(t).boxed_local(), "", OTHERS),
    ("output_of_500_MiB", |t| large_output(t).boxed_local(), "", UPLOADS),
    ("2000_slow_heads", |t| slow_heads(t).boxed_local(), "", OTHERS),
    ("idle_HTTP/2_connections", |t| idle(t).boxed_local(), IDLE_SETTINGS, OTHERS),
    ("control_frame_floods", |t| floods(t).boxed_local(), "", OTHERS),
];

#[rustfmt::skip]
const ON_THE_STORE: [Attack; 8] = [
    ("largest_generations", |t| largest_generations(t).boxed_local(), "", OTHERS),
    ("40_hanging_provider_answers", |t| hold_workers(t, "local/hang").boxed_local(), "", OUTPUTS),
    ("40_dripping_outputs", |t| hold_workers(t, "local/drip").boxed_local(), "", OUTPUTS),
    ("150_unread_pages", |t| pages(t).boxed_local(), "", OTHERS),
    ("30_unread_vaults", |t| vaults(t).boxed_local(), "", OTHERS),
    ("16_forks_of_a_large_vault", |t| forks(t).boxed_local(), "", OTHERS),
    ("lists_of_10000_vaults", |t| lists_of_vaults(t).boxed_local(), "", OTHERS),
    ("6_slow_readers_of_3_accounts", |t| of_three_accounts(t).boxed_local(), ACCOUNTS, OTHERS),
];

fn test(attack: &Attack, store: &str) {
    let (name, run, settings, memory_max_mib) = attack;
    let rounds = std::env::var("PROMPTARIUM_HOSTILE_ROUNDS");
    let rounds = rounds.map_or(1, |rounds| rounds.parse().expect("a number of rounds"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut report = Report::default();
    for _ in 0..rounds {
        report.add(runtime.block_on(async {
            let target = Target::start(store, settings).await;
            run(&target).await;
            target.end().await
        }));
    }
    println!("| {} | {store} | {report} |", name.replace('_', " "));
    report.check(*memory_max_mib);
}

fn main() {
    // Attackers hold thousands of connections.
    rlimit::increase_nofile_limit(u64::MAX).expect("more file descriptors");
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    // A debug build is for the ordinary run, which does not repeat what the store has no part in.
    let on_postgres = if cfg!(debug_assertions) { &[] } else { &ON_CONNECTIONS_AND_FILES[..] };
    let trials = [
        ("memory", &ON_CONNECTIONS_AND_FILES[..]),
        ("memory", &ON_THE_STORE[..]),
        ("folder", &ON_THE_STORE[..]),
        ("postgres", on_postgres),
        ("postgres", &ON_THE_STORE[..]),
    ];
    let trials = trials.into_iter().flat_map(|(store, attacks)| {
        attacks.iter().map(move |attack| {
            Trial::test(format!("{store}::{}", attack.0), move || {
                test(attack, store);
                Ok(())
            })
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}
