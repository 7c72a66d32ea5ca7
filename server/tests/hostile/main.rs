//! Attacks on a server process, each on both stores. Beside each attack a good client of another
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

#[path = "../it/support/client.rs"]
#[expect(dead_code, reason = "other tests use all of it")]
mod client;
#[path = "../it/support/program.rs"]
#[expect(dead_code, reason = "other tests use all of it")]
mod program;

mod attacker;
mod good;
mod provider;
mod report;
mod target;

mod bodies;
mod connections;
mod generations;
mod readers;
mod shares;
mod uploads;
mod vaults;

use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use libtest_mimic::{Arguments, Trial};

use crate::report::Report;
use crate::target::{StoreKind, Target};

/// No test waits longer for anything.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How long attacks last that would not end.
const HELD_FOR: Duration = Duration::from_millis(if cfg!(debug_assertions) { 700 } else { 5000 });
/// What a server may take at most, whatever is sent to it with the default settings.
const MEMORY_MAX_MIB: usize = 256;
/// The same while it copies outputs of the provider.
const OUTPUTS_MEMORY_MAX_MIB: usize = 512;

const MEBIBYTE: usize = 1024 * 1024;

/// What an attacker does to a server.
struct Attack {
    name: &'static str,
    run: fn(&Target) -> LocalBoxFuture<'_, ()>,
    /// Flags of the server.
    settings: &'static [&'static str],
    memory_max_mib: usize,
}

impl Attack {
    const fn new(name: &'static str, run: fn(&Target) -> LocalBoxFuture<'_, ()>) -> Self {
        Self { name, run, settings: &[], memory_max_mib: MEMORY_MAX_MIB }
    }

    const fn with_outputs(self) -> Self {
        Self { memory_max_mib: OUTPUTS_MEMORY_MAX_MIB, ..self }
    }

    const fn with(self, settings: &'static [&'static str]) -> Self {
        Self { settings, ..self }
    }

    fn test(&self, store: StoreKind) {
        let rounds = std::env::var("PROMPTARIUM_HOSTILE_ROUNDS");
        let rounds = rounds.map_or(1, |rounds| rounds.parse().expect("a number of rounds"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut report = Report::default();
        for _ in 0..rounds {
            let round = runtime.block_on(async {
                let target = Target::start(store, self.settings).await;
                (self.run)(&target).await;
                target.end().await
            });
            report.add(round);
        }
        println!("| {} | {} | {report} |", self.name.replace('_', " "), store.name());
        report.check(self.memory_max_mib);
    }
}

const ATTACKS: &[Attack] = &[
    Attack::new("64_uploads_of_10_MiB", |target| uploads::largest_at_once(target).boxed_local()),
    Attack::new("14_stalled_uploads", |target| uploads::stalled(target).boxed_local()),
    Attack::new("1000_unread_images", |target| uploads::unread_images(target).boxed_local()),
    Attack::new("150_bodies_of_4_MiB", |target| bodies::largest_at_once(target).boxed_local()),
    Attack::new("24_largest_generations", |target| {
        generations::largest_at_once(target).boxed_local()
    }),
    Attack::new("40_hanging_provider_answers", |target| {
        generations::hanging_answers(target).boxed_local()
    })
    .with_outputs(),
    Attack::new("40_dripping_outputs", |target| {
        generations::dripping_outputs(target).boxed_local()
    })
    .with_outputs(),
    Attack::new("300_unusable_generations", |target| generations::unusable(target).boxed_local()),
    Attack::new("150_unread_pages", |target| readers::pages(target).boxed_local()),
    Attack::new("30_unread_vaults", |target| readers::vaults(target).boxed_local()),
    Attack::new("16_forks_of_a_large_vault", |target| vaults::forks(target).boxed_local()),
    Attack::new("2000_slow_heads", |target| connections::slow_heads(target).boxed_local()),
    Attack::new("idle_HTTP/2_connections", |target| connections::idle(target).boxed_local())
        .with(&connections::IDLE_SETTINGS),
    Attack::new("260_held_downloads", |target| shares::downloads(target).boxed_local()),
    Attack::new("6_slow_readers_of_3_accounts", |target| shares::readers(target).boxed_local())
        .with(&shares::ACCOUNTS),
    Attack::new("control_frame_floods", |target| connections::floods(target).boxed_local()),
];

fn main() {
    // Attackers hold thousands of connections.
    rlimit::increase_nofile_limit(u64::MAX).expect("more file descriptors");
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let trials = [StoreKind::Memory, StoreKind::Postgres].into_iter().flat_map(|store| {
        ATTACKS.iter().map(move |attack| {
            let name = format!("{}::{}", store.name(), attack.name);
            Trial::test(name, move || {
                attack.test(store);
                Ok(())
            })
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}
