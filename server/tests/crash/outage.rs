//! PostgreSQL away, and back: whoever asks meanwhile is told so in time, and
//! nobody has to do anything afterwards.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::cluster::Cluster;
use crate::folder::Folder;
use crate::http::{Answer, Http};
use crate::server::Server;

const KEY: &str = "promptarium_live_c1_s3cretOfAClient";
/// How long anyone waits to be told that it does not go.
const TOLD: Duration = Duration::from_secs(5);
/// The same where the database is silent. It is asked to end a statement by itself
/// after `statement_timeout`, and is given some time for that.
const TOLD_OF_SILENCE: Duration = Duration::from_secs(10);
const STATEMENT_TIMEOUT: &str = "?statement_timeout=1000";
/// How long it takes at most until everything is as before.
const RECOVERY: Duration = Duration::from_secs(15);

/// One server on a database of its own, with two prompts.
struct Service {
    server: Server,
    cluster: Cluster,
    http: Http,
    prompt: i64,
    /// One whose fate nobody knows after an outage.
    other: i64,
    _folder: Folder,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_database_is_told_in_time_and_comes_back_by_itself() {
    let service = Service::start().await;
    service.cluster.stop().await;
    service.says_that_it_is_away(TOLD).await;
    service.cluster.start_again().await;
    service.is_as_before().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crashed_database_is_told_in_time_and_comes_back_by_itself() {
    let service = Service::start().await;
    service.cluster.crash().await;
    service.says_that_it_is_away(TOLD).await;
    service.cluster.start_again().await;
    service.is_as_before().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_hangs_is_told_in_time_and_comes_back_by_itself() {
    let service = Service::start_at(STATEMENT_TIMEOUT).await;
    let processes = service.cluster.processes().await;
    service.cluster.signal(&processes, "STOP").await;
    service.says_that_it_is_away(TOLD_OF_SILENCE).await;
    service.cluster.signal(&processes, "CONT").await;
    service.is_as_before().await;
}

impl Service {
    async fn start() -> Self {
        Self::start_at("").await
    }

    async fn start_at(parameters: &str) -> Self {
        let (cluster, folder) = (Cluster::start().await, Folder::create("outage"));
        let files = format!("file:{}", folder.path().join("files").display());
        let seed = format!("{KEY}=client");
        let url = format!("{}{parameters}", cluster.url);
        let arguments = ["--database-url", &url, "--blob-store", &files, "--seed-key", &seed];
        let arguments = arguments.map(str::to_owned).to_vec();
        let server = Server::start(folder.path().join("log"), arguments).await;
        let service =
            Self { server, cluster, http: Http::new(), prompt: 0, other: 0, _folder: folder };
        let (prompt, other) = (service.make().await, service.make().await);
        assert_eq!(service.open("/readyz").await.status, 200);
        Self { prompt, other, ..service }
    }

    async fn make(&self) -> i64 {
        let body = json!({ "title": "Harbour", "prompt": "A harbour at dawn" });
        let made = self.call(Method::POST, "/prompts", Some(&body)).await;
        assert_eq!(made.status, 201, "{}", made.shown());
        made.data()["id"].as_i64().unwrap()
    }

    /// Several at once, so that none gets its answer from another one's failure.
    async fn says_that_it_is_away(&self, within: Duration) {
        let prompt = json!({ "title": "Quay", "prompt": "A quay at dusk" });
        let job = json!({ "modelId": "local/plasma", "prompt": "A quay" });
        let slot = json!({ "contentType": "image/png", "size": 9 });
        let one = format!("/prompts/{}", self.prompt);
        let other = format!("/prompts/{}", self.other);
        let asked = [
            (Method::GET, &*one, None),
            (Method::GET, "/prompts", None),
            (Method::GET, "/vaults", None),
            (Method::GET, "/generations/j/status", None),
            (Method::POST, "/prompts", Some(&prompt)),
            (Method::PATCH, &*other, Some(&prompt)),
            (Method::DELETE, &*other, None),
            (Method::POST, "/generations", Some(&job)),
            (Method::POST, "/uploads/images", Some(&slot)),
        ];
        let mut all = Vec::new();
        for (method, path, body) in asked {
            all.push(async move {
                let begun = Instant::now();
                let answer = self.call(method.clone(), path, body).await;
                assert!(begun.elapsed() < within, "{method} {path} took {:?}", begun.elapsed());
                is_a_503(&answer, &format!("{method} {path}"));
                assert!(
                    answer.headers.contains_key("retry-after") || method != Method::GET,
                    "{method} {path}"
                );
            });
        }
        let health = async {
            let begun = Instant::now();
            let readiness = self.open("/readyz").await;
            assert!(begun.elapsed() < within, "/readyz took {:?}", begun.elapsed());
            is_a_503(&readiness, "/readyz");
            let begun = Instant::now();
            assert_eq!(self.open("/healthz").await.status, 200);
            assert!(begun.elapsed() < Duration::from_secs(1), "it looks at nothing");
        };
        futures::future::join(health, futures::future::join_all(all)).await;
    }

    /// What was there before is there, and more can be made.
    async fn is_as_before(&self) {
        let begun = Instant::now();
        while self.open("/readyz").await.status != 200 {
            assert!(begun.elapsed() < RECOVERY, "it is not ready after {RECOVERY:?}");
            sleep(Duration::from_millis(20)).await;
        }
        let found = self.call(Method::GET, &format!("/prompts/{}", self.prompt), None).await;
        assert_eq!(found.status, 200, "{}", found.shown());
        self.make().await;
        let job = json!({ "modelId": "local/plasma", "prompt": "A mole", "clientJobId": "mole" });
        let queued = self.call(Method::POST, "/generations", Some(&job)).await;
        assert_eq!(queued.status, 202, "{}", queued.shown());
        let begun = Instant::now();
        loop {
            let status = self.call(Method::GET, "/generations/mole/status", None).await;
            if status.data()["status"] == "completed" {
                break;
            }
            assert!(begun.elapsed() < RECOVERY, "workers do not go on: {}", status.shown());
            sleep(Duration::from_millis(50)).await;
        }
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        self.http.call(&self.server.address, KEY, method, path, body).await.answer()
    }

    async fn open(&self, path: &str) -> Answer {
        self.http.get(&format!("http://{}{path}", self.server.address)).await.answer()
    }
}

fn is_a_503(answer: &Answer, what: &str) {
    let body = answer.json();
    assert_eq!(answer.status, 503, "{what}: {}", answer.shown());
    assert!(body["data"].is_null(), "{what}: {body}");
    assert!(body["error"].as_str().is_some_and(|text| !text.is_empty()), "{what}: {body}");
    assert!(body["details"].is_object(), "{what}: {body}");
}
