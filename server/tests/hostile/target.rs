//! The server under attack, and the attacker as a client of the API.

use futures::future::join_all;
use promptarium_server::test_support::ScratchDatabase;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::HELD_FOR;
use crate::good::GoodClient;
use crate::report::Report;
use crate::support::client::{Connection, Response, Server, request};
use crate::support::http::Http;
use crate::support::program::Running;
use crate::support::{folder_store, provider};

/// The key of whoever attacks, and a key of another account.
pub(crate) const ATTACKER: &str = "promptarium_live_m1_s3cret";
pub(crate) const GOOD: &str = "promptarium_live_g1_s3cret";

/// A flag; by default files are in a folder.
pub(crate) const IN_MEMORY: &str = "--blob-store=memory:";

/// A server process with both accounts, and a good client that uses it until [`Target::end`].
pub(crate) struct Target {
    pub(crate) server: Running,
    good: GoodClient,
    pub(crate) database: Option<ScratchDatabase>,
    pub(crate) blobs: TempDir,
}

impl Target {
    /// Returns once the good client knows how long a generation takes without an attack.
    pub(crate) async fn start(store: &str, settings: &str) -> Self {
        let database = match store {
            "postgres" => Some(ScratchDatabase::create().await.unwrap()),
            _ => None,
        };
        let blobs = TempDir::new().unwrap();
        // Nobody reads the log, which would block the server once the pipe is full.
        let mut arguments = format!(
            "--provider=queue --provider-url={} --provider-key=k --seed-key={ATTACKER}=mallory \
             --seed-key={GOOD}=alice --log=off {settings}",
            provider::url()
        );
        if let Some(database) = &database {
            arguments += &format!(" --database-url={}", database.url());
        }
        if store == "folder" {
            arguments += &format!(" --data={}", blobs.path().join("data").display());
        }
        if !settings.contains(IN_MEMORY) {
            arguments += &format!(" --blob-store={}", folder_store(&blobs));
        }
        let server = Running::start(&arguments).await;
        let good = GoodClient::start(server.access().0.to_string()).await;
        Self { server, good, database, blobs }
    }

    pub(crate) async fn connect(&self) -> Connection {
        Connection::to(&self.server).await
    }

    pub(crate) fn attacker(&self) -> Attacker {
        self.client(ATTACKER)
    }

    pub(crate) fn client(&self, key: &'static str) -> Attacker {
        Attacker { http: Http::default(), address: self.server.access().0.to_string(), key }
    }

    /// Clients that read nothing for a while, and then only the head of the response: some get what
    /// they asked for, and all others are refused with one of these statuses.
    pub(crate) async fn unread(&self, request: &str, readers: usize, refusals: &[u16]) {
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
        println!("{sent} responses were sent and {refused} requests refused");
        assert!(sent > 0 && sent + refused == readers, "{heads:?}");
    }

    /// Stops the good client, and returns what it saw and what the server took.
    pub(crate) async fn end(self) -> Report {
        let peak = self.server.status("VmHWM");
        let peak_mib = peak.strip_suffix(" kB").unwrap().parse::<usize>().unwrap() / 1024;
        Report { peak_mib, ..self.good.stop().await }
    }
}

/// Whether a response has one of these statuses, and says when to try again.
pub(crate) fn is_refusal(response: &Response, statuses: &[u16]) -> bool {
    statuses.contains(&response.status) && response.header("retry-after").is_some()
}

/// The owner of a key, for what an attack prepares.
pub(crate) struct Attacker {
    http: Http,
    address: String,
    key: &'static str,
}

impl Attacker {
    /// The status and the `data` of a response, or the whole body of a refusal.
    pub(crate) async fn call(&self, method: &str, path: &str, json: &str) -> (u16, Value) {
        let request = request(self.key, method, path, Some(json));
        let response = self.http.ask(&self.address, request).await;
        let is_success = response.status < 300;
        (response.status, if is_success { response.data() } else { response.json() })
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.done("GET", path, "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Value {
        self.done("POST", path, &body.to_string()).await
    }

    async fn done(&self, method: &str, path: &str, json: &str) -> Value {
        let (status, data) = self.call(method, path, json).await;
        assert!((200..300).contains(&status), "{path}: {status} {data}");
        data
    }

    /// A vault of so many equal prompts.
    pub(crate) async fn vault(&self, prompts: usize, text: &str) -> i64 {
        let vault = json!({ "name": "Large", "visibility": "public" });
        let vault = self.post("/vaults", &vault).await["id"].as_i64().unwrap();
        let prompt = json!({ "title": "t", "prompt": text, "vaultId": vault });
        for _ in 0..prompts {
            self.post("/prompts", &prompt).await;
        }
        vault
    }
}
