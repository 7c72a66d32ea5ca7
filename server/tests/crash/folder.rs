//! A server with a data folder is killed at random moments under load.
//!
//! `PROMPTARIUM_CRASH_FOLDER_ROUNDS` sets the number of rounds, 3 by default.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use crate::TAKEOVER_MAX;
use crate::check::check;
use crate::client::{Client, Counts};
use crate::rounds::create_account;
use crate::support::http::Http;
use crate::support::program::Server;

/// Each writes, uploads and generates.
const CLIENTS: usize = 16;
/// A client needs another account after each write of unknown outcome.
const ACCOUNTS: usize = 2;
/// Generations that each client may submit in a round.
const JOBS: u32 = 2;

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_with_a_folder_has_all_that_it_acknowledged_and_no_half_steps() {
    let rounds = std::env::var("PROMPTARIUM_CRASH_FOLDER_ROUNDS");
    let rounds = rounds.map_or(3, |rounds| rounds.parse().expect("a number of rounds"));
    let folder = TempDir::new().unwrap();
    let key = |n| format!("promptarium_live_c{n}_s3cretOfAClient");
    let numbers = 0..CLIENTS * ACCOUNTS;
    let keys: String =
        numbers.clone().map(|n| format!(" --seed-key {}=client{n}", key(n))).collect();
    let place = folder.path().join("data");
    let arguments = format!("--data {} --workers 4 --log warn{keys}", place.display());
    let mut servers = [Server::start(folder.path().join("log"), &arguments).await];
    let accounts = numbers.map(|n| create_account(&servers[0], key(n), n));
    let mut accounts = join_all(accounts).await;
    let counts = Counts::default();
    for round in 1..=rounds {
        let stop = Arc::new(AtomicBool::new(false));
        let mut clients = Vec::new();
        while !accounts.is_empty() {
            let own = accounts.split_off(accounts.len() - ACCOUNTS);
            let addresses = Arc::from([servers[0].address.clone()]);
            let (http, rng) = (Http::default(), StdRng::seed_from_u64(rand::random()));
            let (counts, jobs_left) = (counts.clone(), JOBS);
            let client = Client { http, addresses, rng, jobs_left, counts };
            clients.push(tokio::spawn(client.run(own, stop.clone())));
        }
        sleep(Duration::from_millis(rand::rng().random_range(50..1000))).await;
        servers[0].kill().await;
        stop.store(true, Ordering::SeqCst);
        for client in clients {
            accounts.extend(client.await.unwrap());
        }
        servers[0].start_again().await;
        let deadline = Instant::now() + TAKEOVER_MAX;
        join_all(accounts.iter_mut().map(|account| check(&servers, deadline, account))).await;
        let faults: Vec<_> = accounts.iter().flat_map(|account| &account.faults).collect();
        assert!(faults.is_empty(), "round {round}: {faults:#?}\n{}", servers[0].log());
    }
    println!("{rounds} rounds: {:?}", counts.lock().unwrap());
    assert!(!servers[0].log().contains("panicked"), "{}", servers[0].log());
}
