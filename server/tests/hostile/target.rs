//! The server under attack.

use futures::future::join_all;
use promptarium_server::test_support::ScratchDatabase;
use tempfile::TempDir;
use tokio::time::sleep;

use crate::HELD_FOR;
use crate::client::{Connection, Response};
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
    pub(crate) server: Running,
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

    pub(crate) async fn connect(&self) -> Connection {
        Connection::to(&self.server).await
    }

    /// Clients that read nothing for a while, and then only the head of the response. How many got
    /// what they asked for, and how many were refused with one of these statuses.
    pub(crate) async fn unread(
        &self,
        request: &str,
        readers: usize,
        refusals: &[u16],
    ) -> (usize, usize) {
        let mut peers = join_all((0..readers).map(async |_| {
            let mut peer = self.connect().await;
            peer.send(request).await;
            peer
        }))
        .await;
        sleep(HELD_FOR).await;
        let heads = peers.iter_mut().map(async |peer| peer.head_response().await.unwrap());
        let heads = join_all(heads).await;
        let sent = heads.iter().filter(|head| head.status == 200).count();
        let refused = heads.iter().filter(|head| is_refusal(head, refusals)).count();
        assert!(sent > 0 && sent + refused == readers, "{heads:?}");
        (sent, refused)
    }

    /// Stops the good client, and returns what it saw and what the server took.
    pub(crate) async fn end(self) -> Round {
        let peak_mib = self.server.peak_mib();
        let (undisturbed, beside) = self.good.stop().await;
        Round { peak_mib, undisturbed, beside }
    }
}

/// Whether a response has one of these statuses, and says when to try again.
pub(crate) fn is_refusal(response: &Response, statuses: &[u16]) -> bool {
    statuses.contains(&response.status) && response.header("retry-after").is_some()
}
