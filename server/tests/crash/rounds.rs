//! Rounds of load on two replicas with a crash in each, and the comparison afterwards.

mod outages;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use crate::TAKEOVER_MAX;
use crate::check::check;
use crate::client::{Account, Client, Counts, Role};
use crate::cluster::{Cluster, LEASES};
use crate::state::{State, id_of};
use crate::support::http::Http;
use crate::support::program::Server;
use crate::support::{TIMEOUT, folder_store, wait_until};

const SERVERS: usize = 2;
const CLIENTS: usize = 6;
/// A client needs another account after each write of unknown outcome.
const ACCOUNTS: usize = 3;
/// What all jobs of a round may take in addition to the takeover.
const JOBS_MAX: Duration = Duration::from_secs(60);
/// Jobs that were submitted and have not ended.
const OPEN: &str = "SELECT state FROM job WHERE state NOT IN ('submitting', 'completed', 'failed')";
/// Transactions that have not ended.
const BUSY: &str = "SELECT pid::text FROM pg_stat_activity WHERE pid <> pg_backend_pid() \
                    AND backend_type = 'client backend' AND state LIKE '%transaction%'";

#[derive(Clone, Copy, Debug)]
enum Crash {
    /// A server is killed under load.
    Server,
    /// A server is killed while its workers have jobs.
    Worker,
    /// PostgreSQL is killed and started again.
    Database,
    /// PostgreSQL is killed and its standby promoted.
    Failover,
    /// PostgreSQL is stopped in this mode and started again.
    Restart(&'static str),
}

struct Deployment {
    servers: Vec<Server>,
    cluster: Cluster,
    standby: Option<Cluster>,
    addresses: Arc<[String]>,
    /// For each client.
    accounts: Vec<Vec<Account>>,
    counts: Counts,
    rng: StdRng,
    /// In a long run there are jobs in every round, which can take as long as a lease.
    long: bool,
    _folder: TempDir,
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_writes_survive_crashes_and_others_happen_wholly_or_not_at_all() {
    run(&[Crash::Server, Crash::Worker, Crash::Database]).await;
}

/// Repeats these crashes for the given number of rounds, by default each once.
async fn run(crashes: &[Crash]) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let rounds = number("PROMPTARIUM_CRASH_ROUNDS").unwrap_or(crashes.len() as u64);
    let seed = number("PROMPTARIUM_CRASH_SEED").unwrap_or_else(|| rand::random::<u32>().into());
    println!("{rounds} rounds, PROMPTARIUM_CRASH_SEED={seed}");
    let long = rounds > crashes.len() as u64;
    let cluster = Cluster::start().await;
    let standby = match crashes {
        [Crash::Failover] => Some(cluster.start_standby().await),
        _ => None,
    };
    let rng = StdRng::seed_from_u64(seed);
    let mut deployment = Deployment::start(cluster, standby, rng, long).await;
    for (round, crash) in (1..=rounds).zip(crashes.iter().copied().cycle()) {
        deployment.round(round, crash).await;
    }
    let ended = deployment.cluster.wait_until(TIMEOUT, OPEN, BTreeSet::is_empty).await;
    assert!(ended.is_some(), "jobs do not end");
    for server in &deployment.servers {
        assert!(!server.log().contains("panicked"), "{}", server.log());
    }
}

impl Deployment {
    async fn start(cluster: Cluster, standby: Option<Cluster>, rng: StdRng, long: bool) -> Self {
        let _folder = TempDir::new().unwrap();
        let key = |n| format!("promptarium_live_c{n}_s3cretOfAClient");
        let numbers = 0..CLIENTS * ACCOUNTS;
        let keys = numbers.clone().map(|n| format!(" --seed-key {}=client{n}", key(n)));
        let keys: String = keys.collect();
        let url = outages::url(&cluster, standby.as_ref());
        let blobs = folder_store(&_folder);
        let arguments =
            format!("--database-url {url} --blob-store {blobs}/blobs --workers 2 --log warn{keys}");
        let start = |n| Server::start(_folder.path().join(format!("{n}.log")), &arguments);
        let servers = join_all((0..SERVERS).map(start)).await;
        let addresses: Arc<[_]> = servers.iter().map(|server| server.address.clone()).collect();
        let accounts = numbers.map(|n| create_account(&servers[0], key(n), n));
        let mut accounts = join_all(accounts).await.into_iter();
        let accounts = (0..CLIENTS).map(|_| accounts.by_ref().take(ACCOUNTS).collect()).collect();
        let counts = Counts::default();
        Self { servers, cluster, standby, addresses, accounts, counts, rng, long, _folder }
    }

    async fn round(&mut self, round: u64, crash: Crash) {
        let stop = Arc::new(AtomicBool::new(false));
        let jobs_left = if let Crash::Worker = crash { 4 } else { u32::from(self.long) };
        let mut clients = Vec::new();
        for accounts in std::mem::take(&mut self.accounts) {
            let (addresses, counts) = (Arc::clone(&self.addresses), Arc::clone(&self.counts));
            let (http, rng) = (Http::default(), StdRng::seed_from_u64(self.rng.random()));
            let role = Role::Any;
            let client = Client { http, addresses, rng, jobs_left, counts, role };
            clients.push(tokio::spawn(client.run(accounts, Arc::clone(&stop))));
        }
        self.pause().await;
        let takeover = self.crash(crash).await;
        self.pause().await;
        stop.store(true, Ordering::SeqCst);
        for client in clients {
            self.accounts.push(client.await.unwrap());
        }
        self.wait_until_recovered().await;

        let deadline = Instant::now() + TAKEOVER_MAX + JOBS_MAX;
        let accounts = self.accounts.iter_mut().flatten();
        join_all(accounts.map(|account| check(&self.servers, deadline, account))).await;
        let counts = std::mem::take(&mut *self.counts.lock().unwrap());
        println!("round {round}, {crash:?}: {counts:?}, takeover after {takeover:.1?}");
        self.assert_no_faults();
        assert!(counts.contains_key("acknowledged"), "the clients did nothing");
        if let Some(standby) = &mut self.standby {
            standby.follow(&self.cluster).await;
            self.wait_until_recovered().await;
        }
    }

    /// Returns how long jobs kept the leases they had at the kill of a server.
    async fn crash(&mut self, crash: Crash) -> Option<Duration> {
        match crash {
            Crash::Server => return self.kill_server().await,
            Crash::Worker => {
                // More than the two workers of one server can have, unless they are too fast.
                let limit = Duration::from_secs(5);
                self.cluster.wait_until(limit, LEASES, |leases| leases.len() > 2).await;
                return self.kill_server().await;
            }
            Crash::Database => self.interrupt("immediate").await,
            Crash::Failover => self.fail_over().await,
            Crash::Restart(mode) => self.restart(mode).await,
        }
        None
    }

    async fn kill_server(&mut self) -> Option<Duration> {
        let victim = self.rng.random_range(0..SERVERS);
        self.servers[victim].kill().await;
        let leases = self.cluster.query(LEASES).await;
        let ended = |now: &BTreeSet<String>| now.is_disjoint(&leases);
        // Either the other server takes over alone, or both can.
        if self.rng.random_bool(0.5) {
            self.pause().await;
            self.servers[victim].start_again().await;
        }
        let takeover = self.cluster.wait_until(TAKEOVER_MAX, LEASES, ended).await;
        assert!(takeover.is_some(), "a job was not taken over within {TAKEOVER_MAX:?}");
        if self.servers[victim].process.is_none() {
            self.servers[victim].start_again().await;
        }
        takeover.filter(|_| !leases.is_empty())
    }

    /// A random time before and after a crash.
    async fn pause(&mut self) {
        sleep(Duration::from_millis(self.rng.random_range(300..1500))).await;
    }

    /// Waits until all servers are ready, and no statement of a dead server is running.
    async fn wait_until_recovered(&self) {
        for server in &self.servers {
            let is_ready = async || server.get("/readyz").await.status == 200;
            let ready = wait_until(TIMEOUT, is_ready).await;
            assert!(ready.is_some(), "a server does not recover by itself");
        }
        let idle = self.cluster.wait_until(TIMEOUT, BUSY, BTreeSet::is_empty).await;
        assert!(idle.is_some(), "a statement does not end");
    }

    fn assert_no_faults(&self) {
        let faults = self.accounts.iter().flatten().flat_map(|account| &account.faults);
        let faults: Vec<_> = faults.take(20).map(String::as_str).collect();
        if !faults.is_empty() {
            let logs: Vec<_> = self.servers.iter().map(Server::log).collect();
            panic!("{}\nlogs of the servers:\n{}", faults.join("\n"), logs.join("\n"));
        }
    }
}

/// Creates the vault for outputs, and reads the initial state.
pub(crate) async fn create_account(server: &Server, key: String, number: usize) -> Account {
    let body = json!({ "name": "Outputs", "visibility": "unlisted" });
    let jobs_vault = id_of(&server.call(&key, "POST", "/vaults", body).await.data());
    let mut account = Account { key, number, jobs_vault, ..Account::default() };
    account.state = State::list(server, &account.key, &mut account.faults).await;
    account
}
