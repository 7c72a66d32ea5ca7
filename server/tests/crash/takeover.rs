//! The job of a worker that was killed or frozen: a second server completes it in time,
//! and exactly once.

use image::{ImageFormat, RgbImage};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::cluster::{Cluster, signal};
use crate::http::{Http, Request};
use crate::server::Server;
use crate::{KEY, TAKEOVER_MAX, TIMEOUT, wait_until};

/// Logs how each claim ends.
const LOG: &str = "warn,promptarium_server::generate::worker=debug";

/// A server whose worker waits for the provider to tell the status of a job.
struct Fixture {
    server: Server,
    provider: MockServer,
    cluster: Cluster,
    http: Http,
    folder: TempDir,
}

#[tokio::test(flavor = "multi_thread")]
async fn the_job_of_a_killed_worker_is_taken_over_in_time_and_completes_once() {
    let mut fixture = Fixture::start().await;
    fixture.server.kill().await;
    let (second, status) = fixture.take_over().await;
    fixture.assert_completed_once(&second, &status).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_was_frozen_beyond_its_lease_changes_nothing() {
    let fixture = Fixture::start().await;
    let frozen = &fixture.server;
    signal("STOP", &[frozen.id()]).await;
    let (second, status) = fixture.take_over().await;
    assert!(frozen.is_stopped(), "something woke it: {}", frozen.log());

    signal("CONT", &[frozen.id()]).await;
    let woken = wait_until(TIMEOUT, async || frozen.log().contains("LeaseLost")).await;
    assert!(woken.is_some(), "{}", frozen.log());
    for server in [frozen, &second] {
        fixture.assert_completed_once(server, &status).await;
    }
}

impl Fixture {
    async fn start() -> Self {
        let (cluster, folder) = (Cluster::start().await, TempDir::new().unwrap());
        let (provider, http) = (start_provider().await, Http::new());
        let server = start_server(&cluster, &provider, &folder, "first").await;
        let fixture = Self { server, provider, cluster, http, folder };
        let job = json!({ "clientJobId": "j", "modelId": "local/any", "prompt": "A harbour" });
        let request = Request::post("/generations", job);
        let response = fixture.http.call(&fixture.server.address, KEY, &request).await.response();
        assert_eq!(response.status, 202, "{}", response.summary());
        let claim = wait_until(TIMEOUT, async || fixture.provider_requests("GET").await > 0).await;
        assert!(claim.is_some(), "no worker claims the job");
        fixture
    }

    /// Starts a second server, and waits until it has completed the job.
    async fn take_over(&self) -> (Server, Value) {
        let begin = Instant::now();
        let server = start_server(&self.cluster, &self.provider, &self.folder, "second").await;
        let status = async || self.get(&server, "/generations/j/status").await;
        let rest = TAKEOVER_MAX.saturating_sub(begin.elapsed());
        wait_until(rest, async || status().await["status"] == "completed").await;
        let status = status().await;
        assert_eq!(status["status"], "completed", "the job was not taken over: {status}");
        println!("a job was completed by another worker after {:.1?}", begin.elapsed());
        (server, status)
    }

    /// The job was submitted once, and the server shows the same status and one prompt with
    /// one image.
    async fn assert_completed_once(&self, server: &Server, status: &Value) {
        assert_eq!(self.provider_requests("POST").await, 1);
        assert_eq!(self.get(server, "/generations/j/status").await, *status);
        let contents = self.get(server, &format!("/vaults/{}/prompts", status["vaultId"])).await;
        let [prompt] = &**contents.as_array().unwrap() else { panic!("{contents}") };
        assert_eq!(prompt["id"], status["promptId"]);
        let [image] = &**prompt["images"].as_array().unwrap() else { panic!("{contents}") };
        let file = self.http.get_asset(&server.address, image["url"].as_str().unwrap()).await;
        assert_eq!(file.status, 200, "{image}");
    }

    async fn provider_requests(&self, method: &str) -> usize {
        let requests = self.provider.received_requests().await.unwrap();
        requests.iter().filter(|request| request.method.as_str() == method).count()
    }

    async fn get(&self, server: &Server, path: &str) -> Value {
        self.http.call(&server.address, KEY, &Request::get(path)).await.response().data()
    }
}

async fn start_server(
    cluster: &Cluster,
    provider: &MockServer,
    folder: &TempDir,
    name: &str,
) -> Server {
    let (url, provider, folder) = (&cluster.url, provider.uri(), folder.path());
    let arguments = format!(
        "--database-url {url} --blob-store file:{} --seed-key {KEY}=client --log {LOG} \
         --provider queue --provider-url {provider} --provider-key k --provider-private-outputs",
        folder.join("blobs").display()
    );
    Server::start(folder.join(name), &arguments).await
}

/// A provider of the queue protocol for one job, which is completed at once. The first
/// request for its status gets no response in time.
async fn start_provider() -> MockServer {
    let server = MockServer::start().await;
    let at = |path: &str| format!("{}{path}", server.uri());
    let ticket = json!({
        "request_id": "r", "status_url": at("/status"), "response_url": at("/result"),
    });
    let output = json!({ "images": [{ "url": at("/image.png"), "width": 2, "height": 2 }] });
    let json = |body: Value| ResponseTemplate::new(200).set_body_json(body);
    let status = json(json!({ "status": "COMPLETED" }));
    let get = |at: &str| Mock::given(method("GET")).and(path(at.to_owned()));
    let late = get("/status").respond_with(status.clone().set_delay(2 * TIMEOUT));
    let mut png = std::io::Cursor::new(Vec::new());
    RgbImage::new(2, 2).write_to(&mut png, ImageFormat::Png).unwrap();
    let png = ResponseTemplate::new(200).set_body_raw(png.into_inner(), "image/png");
    for mock in [
        Mock::given(method("POST")).respond_with(json(ticket)),
        late.up_to_n_times(1),
        get("/status").respond_with(status),
        get("/result").respond_with(json(output)),
        get("/image.png").respond_with(png),
    ] {
        mock.mount(&server).await;
    }
    server
}
