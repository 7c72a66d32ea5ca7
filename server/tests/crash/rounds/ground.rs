//! A database, two servers, some clients, and what one round does with them.

mod leases;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use promptarium_server::limits::JOB_LEASE as LEASE;
use rand::RngExt;
use rand::rngs::StdRng;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use self::leases::Leases;
use super::crash::Crash;
use crate::PATIENCE;
use crate::account::{Account, Actual, Change, Prompt, Tally, Vault};
use crate::check::Check;
use crate::cluster::Cluster;
use crate::folder::Folder;
use crate::http::{Got, Http};
use crate::load::Client;
use crate::server::Server;

const SERVERS: usize = 2;
const CLIENTS: usize = 6;
const WORKERS: &str = "2";

/// What a job may take beyond the lease of the worker that died with it.
const TAKE_OVER: Duration = Duration::from_secs(5);
/// What all jobs of a round may take beyond that, drawing included.
const DRAWING: Duration = Duration::from_secs(60);

/// Where rounds happen.
pub(crate) struct Ground {
    servers: Vec<Server>,
    cluster: Cluster,
    http: Http,
    addresses: Arc<[String]>,
    accounts: Vec<Account>,
    rng: StdRng,
    long: bool,
    _folder: Folder,
}

/// What one round came to.
pub(crate) struct Seen {
    tally: Tally,
    jobs: usize,
    /// The longest that a job was left to a dead worker, if one was.
    pub(crate) taken_over_after: Option<Duration>,
    /// Leases at the moment of the crash.
    leases: usize,
}

impl Ground {
    /// In a `long` run every crash meets jobs; otherwise only the one that is about
    /// them, as each may have to wait for a lease to run out.
    pub(crate) async fn prepare(rng: StdRng, long: bool) -> Self {
        let (cluster, folder) = (Cluster::start().await, Folder::create("crash"));
        let keys: Vec<_> =
            (0..CLIENTS).map(|n| format!("promptarium_live_c{n}_s3cretOfAClient")).collect();
        let mut arguments = vec!["--database-url".to_owned(), cluster.url.clone()];
        let files = folder.path().join("files").display().to_string();
        arguments.extend(["--blob-store".to_owned(), format!("file:{files}")]);
        arguments.extend(["--workers", WORKERS, "--log", "warn"].map(str::to_owned));
        for (n, key) in keys.iter().enumerate() {
            arguments.extend(["--seed-key".to_owned(), format!("{key}=client{n}")]);
        }
        let log = |n| folder.path().join(format!("server-{n}.log"));
        let starting = (0..SERVERS).map(|n| Server::start(log(n), arguments.clone()));
        let servers = futures::future::join_all(starting).await;
        let addresses: Vec<_> = servers.iter().map(|server| server.address.clone()).collect();
        let http = Http::new();
        let mut accounts = Vec::new();
        for (n, key) in keys.into_iter().enumerate() {
            accounts.push(furnished(&http, &addresses[0], key, n).await);
        }
        let addresses = addresses.into();
        Self { servers, cluster, http, addresses, accounts, rng, long, _folder: folder }
    }

    pub(crate) async fn round(&mut self, crash: Crash) -> Seen {
        let stop = Arc::new(AtomicBool::new(false));
        let mut clients = self.start_load(&stop, self.jobs_each(crash));
        self.a_while().await;
        let leases = self.crash(crash).await;
        self.a_while().await;
        stop.store(true, Ordering::SeqCst);
        while let Some(account) = clients.join_next().await {
            self.accounts.push(account.unwrap());
        }
        self.accounts.sort_by(|a, b| a.tag.cmp(&b.tag));
        self.wait_until_well().await;

        let taken_over_after = leases.gone(&self.cluster, LEASE + TAKE_OVER).await;
        let deadline = Instant::now() + LEASE + TAKE_OVER + DRAWING;
        let check = Check { http: &self.http, addresses: &self.addresses, deadline };
        futures::future::join_all(self.accounts.iter_mut().map(|one| check.settle(one))).await;
        self.nothing_was_wrong();
        let mut tally = Tally::default();
        for account in &mut self.accounts {
            tally += std::mem::take(&mut account.tally);
        }
        let jobs = self.accounts.iter().map(|account| account.jobs.len()).sum();
        Seen { tally, jobs, taken_over_after, leases: leases.count() }
    }

    /// How many generations a client may ask for in a round.
    fn jobs_each(&self, crash: Crash) -> u32 {
        match crash {
            Crash::Worker => 4,
            Crash::Server | Crash::Database => u32::from(self.long),
        }
    }

    fn start_load(&mut self, stop: &Arc<AtomicBool>, jobs: u32) -> JoinSet<Account> {
        let mut clients = JoinSet::new();
        for account in self.accounts.drain(..) {
            let (http, addresses) = (self.http.clone(), Arc::clone(&self.addresses));
            let client = Client::new(http, addresses, account, self.rng.random(), jobs);
            clients.spawn(client.run(Arc::clone(stop)));
        }
        clients
    }

    /// How long a crash is waited for, and what comes after it, is left to chance.
    async fn a_while(&mut self) {
        sleep(Duration::from_millis(self.rng.random_range(300..1500))).await;
    }

    /// Until everything runs again.
    async fn crash(&mut self, crash: Crash) -> Leases {
        let victim = self.rng.random_range(0..SERVERS);
        match crash {
            Crash::Server => {
                self.servers[victim].kill().await;
                let leases = Leases::now(&self.cluster).await;
                self.a_while().await;
                self.servers[victim].start_again().await;
                leases
            }
            Crash::Worker => {
                // More than one server can have.
                Leases::wait_for(&self.cluster, 3).await;
                self.servers[victim].kill().await;
                let leases = Leases::now(&self.cluster).await;
                if self.rng.random_bool(0.5) {
                    leases.gone(&self.cluster, LEASE + TAKE_OVER).await;
                }
                self.servers[victim].start_again().await;
                leases
            }
            Crash::Database => {
                self.cluster.crash().await;
                self.a_while().await;
                self.cluster.start_again().await;
                Leases::now(&self.cluster).await
            }
        }
    }

    /// Ready, and at rest: what the dead had begun in the database has ended, too.
    async fn wait_until_well(&self) {
        let well = async {
            for address in &*self.addresses {
                let url = format!("http://{address}/readyz");
                loop {
                    match self.http.get(&url).await {
                        Got::Answer(answer) if answer.status == 200 => break,
                        _ => sleep(Duration::from_millis(20)).await,
                    }
                }
            }
            let client = self.cluster.connect().await;
            let busy = "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() \
                        AND backend_type = 'client backend' AND state LIKE '%transaction%'";
            while client.query_one(busy, &[]).await.unwrap().get::<_, i64>(0) > 0 {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, well).await.expect("every server to be well again by itself");
    }

    fn nothing_was_wrong(&self) {
        let wrong: Vec<_> = self.accounts.iter().flat_map(|account| &account.wrong).collect();
        if wrong.is_empty() {
            return;
        }
        for server in &self.servers {
            let log = server.log();
            let lines: Vec<_> = log.lines().rev().take(40).collect();
            println!("{} logged at last:", server.address);
            lines.iter().rev().for_each(|line| println!("  {line}"));
        }
        let shown: Vec<_> = wrong.iter().take(20).map(|one| one.as_str()).collect();
        panic!("{} faults:\n{}", wrong.len(), shown.join("\n"));
    }

    /// After a long run also jobs of which nobody was told have come to an end.
    pub(crate) async fn end(&self) {
        Leases::none_are_open(&self.cluster, self.long).await;
        for server in &self.servers {
            assert!(!server.log().contains("panicked"), "{}", server.log());
        }
    }
}

/// An account with a few vaults.
async fn furnished(http: &Http, address: &str, key: String, n: usize) -> Account {
    let mut account = Account::new(key, format!("c{n}"));
    for vault in Actual::read(http, address, &account.key).await.vaults {
        let (id, vault) = vault;
        let (name, visibility) = (vault.name, vault.visibility);
        let members = Vec::new();
        account.world.vaults.insert(id, Vault { name, visibility, system: vault.system, members });
    }
    for visibility in ["private", "public", "unlisted"] {
        let (name, visibility) = (account.name("vault"), visibility.to_owned());
        account.jobs_vault =
            made(http, address, &mut account, Change::CreateVault { name, visibility }).await;
    }
    // One in which it stays as it is made, and the last one for outputs only.
    let title = account.name("prompt");
    let prompt = Prompt { text: title.clone(), title };
    made(http, address, &mut account, Change::CreatePrompt { prompt, vault: None }).await;
    account
}

async fn made(http: &Http, address: &str, account: &mut Account, change: Change) -> i64 {
    let (method, path, body, status) = change.request();
    match http.call(address, &account.key, method, &path, body.as_ref()).await {
        Got::Answer(answer) if answer.status == status => {
            let id = answer.data()["id"].as_i64().unwrap();
            account.world.apply(&change, Some(id));
            id
        }
        got => panic!("{change:?}: {got:?}"),
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { acknowledged, in_doubt, refused, not_sent, reads } = self.tally;
        write!(f, "{acknowledged} acknowledged, {in_doubt} in doubt ({refused} of them 503), ")?;
        write!(f, "{not_sent} not sent, {reads} read; {} jobs so far, ", self.jobs)?;
        write!(f, "{} leases at the crash", self.leases)?;
        match self.taken_over_after {
            Some(after) => write!(f, ", gone after {after:.1?}"),
            None => Ok(()),
        }
    }
}
