//! The database is unavailable for a while: requests fail in time with 503, and
//! everything works again without intervention when it is back.

use std::time::Duration;

use futures::future::{join, join_all};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::cluster::{Cluster, signal};
use crate::http::{Http, Request, Response};
use crate::server::Server;
use crate::{KEY, wait_until};

/// How long a request may take that fails.
const FAILURE_MAX: Duration = Duration::from_secs(5);
/// The same while the database does not respond.
const FROZEN_FAILURE_MAX: Duration = Duration::from_secs(10);
const RECOVERY_MAX: Duration = Duration::from_secs(15);

/// One server on its own database, with two prompts.
struct Service {
    server: Server,
    cluster: Cluster,
    http: Http,
    /// A prompt that is not changed, and one that may be changed during the outage.
    prompts: [i64; 2],
    _folder: TempDir,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_or_crashed_database_gives_503_in_time_and_recovery_by_itself() {
    let service = Service::start().await;
    for mode in ["fast", "immediate"] {
        service.cluster.stop(mode).await;
        service.assert_unavailable(FAILURE_MAX).await;
        service.cluster.start_again().await;
        service.assert_recovery(mode).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_database_gives_503_in_time_and_recovery_by_itself() {
    let service = Service::start().await;
    let processes = service.cluster.freeze().await;
    service.assert_unavailable(FROZEN_FAILURE_MAX).await;
    signal("CONT", &processes).await;
    service.assert_recovery("frozen").await;
}

impl Service {
    async fn start() -> Self {
        let (cluster, folder) = (Cluster::start().await, TempDir::new().unwrap());
        let (url, blobs) = (&cluster.url, folder.path().join("blobs"));
        let arguments = format!(
            "--database-url {url} --blob-store file:{} --seed-key {KEY}=client",
            blobs.display()
        );
        let server = Server::start(folder.path().join("log"), &arguments).await;
        let (http, prompts) = (Http::new(), [0; 2]);
        let mut service = Self { server, cluster, http, prompts, _folder: folder };
        service.prompts = [service.create_prompt().await, service.create_prompt().await];
        assert_eq!(service.get("/readyz").await.status, 200);
        service
    }

    async fn create_prompt(&self) -> i64 {
        let body = json!({ "title": "Harbour", "prompt": "A harbour at dawn" });
        let response = self.call(&Request::post("/prompts", body)).await;
        assert_eq!(response.status, 201, "{}", response.summary());
        response.data()["id"].as_i64().unwrap()
    }

    /// Sends all requests at once, so that none profits from the failure of another.
    async fn assert_unavailable(&self, limit: Duration) {
        let prompt = json!({ "title": "Quay", "prompt": "A quay at dusk" });
        let [one, other] = self.prompts.map(|id| format!("/prompts/{id}"));
        let job = json!({ "modelId": "local/plasma", "prompt": "A quay" });
        let slot = json!({ "contentType": "image/png", "size": 9 });
        let failures = [
            ("GET", &*one, Value::Null),
            ("GET", "/prompts", Value::Null),
            ("GET", "/vaults", Value::Null),
            ("GET", "/generations/j/status", Value::Null),
            ("POST", "/prompts", prompt.clone()),
            ("POST", "/prompts", json!({})),
            ("PATCH", &*other, prompt),
            ("DELETE", &*other, Value::Null),
            ("POST", "/generations", job),
            ("POST", "/uploads/images", slot),
        ]
        .map(|(method, path, body)| async move {
            let request = Request::new(method, path, body);
            let begin = Instant::now();
            let response = self.call(&request).await;
            assert!(begin.elapsed() < limit, "{request:?} took {:?}", begin.elapsed());
            assert_unavailable(&response, &format!("{request:?}"));
            // A write that may have happened must not be repeated blindly.
            let unknown = method != "GET" && response.summary().contains("not known whether");
            assert_eq!(response.headers.contains_key("retry-after"), !unknown, "{request:?}");
        });
        let health = async {
            let begin = Instant::now();
            let response = self.get("/readyz").await;
            assert_unavailable(&response, "/readyz");
            assert_eq!(response.headers["retry-after"], "2");
            assert!(begin.elapsed() < limit, "/readyz took {:?}", begin.elapsed());
            let begin = Instant::now();
            assert_eq!(self.get("/healthz").await.status, 200);
            assert!(begin.elapsed() < Duration::from_secs(1), "/healthz needs no database");
        };
        join(health, join_all(failures)).await;
    }

    /// Reads, writes and generations work again in time.
    async fn assert_recovery(&self, name: &str) {
        self.wait_for(async || self.get("/readyz").await.status == 200).await;
        let found = self.call(&Request::get(format!("/prompts/{}", self.prompts[0]))).await;
        assert_eq!(found.status, 200, "{}", found.summary());
        self.create_prompt().await;
        let job = json!({ "modelId": "local/plasma", "prompt": "A mole", "clientJobId": name });
        let queued = self.call(&Request::post("/generations", job)).await;
        assert_eq!(queued.status, 202, "{}", queued.summary());
        let status = Request::get(format!("/generations/{name}/status"));
        self.wait_for(async || self.call(&status).await.data()["status"] == "completed").await;
    }

    async fn wait_for(&self, condition: impl AsyncFn() -> bool) {
        let recovery = wait_until(RECOVERY_MAX, condition).await;
        assert!(recovery.is_some(), "no recovery: {}", self.server.log());
    }

    async fn call(&self, request: &Request) -> Response {
        self.http.call(&self.server.address, KEY, request).await.response()
    }

    async fn get(&self, path: &str) -> Response {
        self.http.get(&self.server.address, path).await.response()
    }
}

fn assert_unavailable(response: &Response, request: &str) {
    assert_eq!(response.status, 503, "{request}: {}", response.summary());
    assert!(response.is_error_envelope(), "{request}: {}", response.summary());
}
