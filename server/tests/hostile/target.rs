//! The server under attack.

use promptarium_server::test_support::ScratchDatabase;
use tempfile::TempDir;

use crate::good::GoodClient;
use crate::program::Running;
use crate::provider;
use crate::report::Round;

/// The key of whoever attacks, and a key of another account.
pub(crate) const ATTACKER: &str = "promptarium_live_m1_s3cret";
pub(crate) const GOOD: &str = "promptarium_live_g1_s3cret";

#[derive(Clone, Copy)]
pub(crate) enum StoreKind {
    Memory,
    Postgres,
}

impl StoreKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Postgres => "postgres",
        }
    }
}

/// A server process with both accounts, and a good client that uses it until [`Target::end`].
pub(crate) struct Target {
    server: Running,
    good: GoodClient,
    pub(crate) database: Option<ScratchDatabase>,
    _blobs: TempDir,
}

impl Target {
    /// Returns once the good client knows how long a generation takes without an attack.
    pub(crate) async fn start(store: StoreKind, settings: &[&str]) -> Self {
        let database = match store {
            StoreKind::Memory => None,
            StoreKind::Postgres => Some(ScratchDatabase::create().await.unwrap()),
        };
        let blobs = TempDir::new().unwrap();
        let mut arguments: Vec<String> = settings.iter().map(ToString::to_string).collect();
        for (flag, value) in [
            ("--blob-store", format!("file:{}", blobs.path().display())),
            ("--provider", "queue".to_owned()),
            ("--provider-url", provider::url().to_owned()),
            ("--provider-key", "k".to_owned()),
            ("--seed-key", format!("{ATTACKER}=mallory")),
            ("--seed-key", format!("{GOOD}=alice")),
            // Nobody reads the log, which would block the server once the pipe is full.
            ("--log", "off".to_owned()),
        ] {
            arguments.extend([flag.to_owned(), value]);
        }
        if let Some(database) = &database {
            arguments.extend(["--database-url".to_owned(), database.url()]);
        }
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let server = Running::start(&arguments, &[]).await;
        let good = GoodClient::start(server.base_url()).await;
        Self { server, good, database, _blobs: blobs }
    }

    pub(crate) fn base_url(&self) -> &str {
        self.server.base_url()
    }

    /// Host and port.
    pub(crate) fn address(&self) -> &str {
        let address = self.base_url().strip_prefix("http://").unwrap();
        address.split('/').next().unwrap()
    }

    /// Stops the good client, and returns what it saw and what the server took.
    pub(crate) async fn end(self) -> Round {
        let peak_mib = memory(&self.server, "VmHWM:");
        let (undisturbed, beside) = self.good.stop().await;
        Round { peak_mib, undisturbed, beside }
    }
}

/// One of the figures of the kernel, in MiB.
fn memory(server: &Running, name: &str) -> u64 {
    let status = format!("/proc/{}/status", server.process_id());
    let status = std::fs::read_to_string(status).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() / 1024
}
