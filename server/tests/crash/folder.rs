//! A server with a data folder is killed at random moments under load, while a provider has its jobs.
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
use crate::client::files::ACCEPTED;
use crate::client::{Account, Client, Counts, Role};
use crate::rounds::create_account;
use crate::support::http::Http;
use crate::support::program::Server;
use crate::support::{TIMEOUT, provider, wait_until};

const CLIENTS: [(Role, usize); 3] =
    [(Role::Any, 16), (Role::Uploader, 8), (Role::Generator, GENERATORS)];
const GENERATORS: usize = 8;
/// A client needs another account after each write of unknown outcome.
const ACCOUNTS: usize = 2;
/// Generations that a client may submit in a round.
const JOBS: u32 = 2;
/// Uploads of an account that are compared again in each round.
const UPLOADS: usize = 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_with_a_folder_has_all_that_it_acknowledged_and_no_half_steps() {
    let rounds = std::env::var("PROMPTARIUM_CRASH_FOLDER_ROUNDS");
    let rounds = rounds.map_or(3, |rounds| rounds.parse().expect("a number of rounds"));
    let folder = TempDir::new().unwrap();
    let key = |n| format!("promptarium_live_c{n}_s3cretOfAClient");
    let clients = CLIENTS.iter().flat_map(|(role, count)| vec![*role; *count]).collect::<Vec<_>>();
    let numbers = 0..clients.len() * ACCOUNTS;
    let keys: String =
        numbers.clone().map(|n| format!(" --seed-key {}=client{n}", key(n))).collect();
    let arguments = format!(
        "--data {} --workers 16 --log warn --provider queue --provider-url {} --provider-key k{keys}",
        folder.path().join("data").display(),
        provider::url(),
    );
    let mut servers = [Server::start(folder.path().join("log"), &arguments).await];
    let accounts = numbers.map(|n| create_account(&servers[0], key(n), n));
    let mut accounts = join_all(accounts).await;
    let (counts, mut in_flight) = (Counts::default(), Vec::new());
    for round in 1..=rounds {
        let (stop, mut running) = (Arc::new(AtomicBool::new(false)), Vec::new());
        let accepted = || counts.lock().unwrap().get(ACCEPTED).copied().unwrap_or_default();
        let before = accepted();
        for role in &clients {
            let own = accounts.drain(..ACCOUNTS).collect();
            let addresses = Arc::from([servers[0].address.clone()]);
            let (http, rng) = (Http::default(), StdRng::seed_from_u64(rand::random()));
            let jobs_left = if let Role::Generator = role { JOBS } else { 0 };
            let (counts, role) = (Counts::clone(&counts), *role);
            let client = Client { http, addresses, rng, jobs_left, counts, role };
            running.push(tokio::spawn(client.run(own, stop.clone())));
        }
        let are_in_flight = async || accepted() >= before + GENERATORS;
        wait_until(TIMEOUT, are_in_flight).await.expect("generations");
        sleep(Duration::from_millis(rand::rng().random_range(0..800))).await;
        servers[0].kill().await;
        stop.store(true, Ordering::SeqCst);
        for client in running {
            accounts.extend(client.await.unwrap());
        }
        // A generation takes longer than a round.
        in_flight.push(accounts.iter().map(open_jobs).sum::<usize>());
        assert!(in_flight.iter().all(|open| *open >= GENERATORS), "{in_flight:?}");
        servers[0].start_again().await;
        let deadline = Instant::now() + TAKEOVER_MAX;
        join_all(accounts.iter_mut().map(|account| check(&servers, deadline, account))).await;
        let faults: Vec<_> = accounts.iter().flat_map(|account| &account.faults).collect();
        assert!(faults.is_empty(), "round {round}: {faults:#?}\n{}", servers[0].log());
        let twice = provider::submissions().into_iter().find(|(_, times)| *times > 1);
        assert!(twice.is_none(), "round {round}: submitted more than once: {twice:?}");
        for Account { uploads, .. } in &mut accounts {
            uploads.drain(..uploads.len().saturating_sub(UPLOADS));
        }
    }
    println!("{rounds} rounds: {:?}", counts.lock().unwrap());
    let (submitted, fewest) = (provider::submissions().len(), in_flight.iter().min());
    let acknowledged: usize = in_flight.iter().sum();
    println!(
        "{submitted} generations submitted once each; acknowledged and in flight at the kills: \
         {acknowledged}, at least {fewest:?} in a round"
    );
    assert!(!servers[0].log().contains("panicked"), "{}", servers[0].log());
}

fn open_jobs(account: &Account) -> usize {
    let jobs = account.jobs.values();
    jobs.filter(|job| job.request_id.is_some() && job.prompt.is_none()).count()
}
