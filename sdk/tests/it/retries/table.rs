//! The retry table of the README is the data of this test: each of its cells is tried on a server.

use std::time::Duration;

use futures::future::BoxFuture;
use http::Method;
use promptarium::request::RawRequest;
use promptarium::{
    Client, Error, ImageContentType, PromptId, RetryBudget, RetryPolicy, VaultId, VaultPromptId,
};
use tokio::net::TcpListener;
use wiremock::ResponseTemplate;

use crate::stub::{Raw, answering, every, patient};

const README: &str = include_str!("../../../README.md");
const ATTEMPTS: u32 = 3;

type Make = fn(&Client) -> BoxFuture<'static, Result<(), Error>>;

/// Each column of the table, and calls of that kind.
const COLUMNS: [(&str, &[Make]); 4] = [
    (
        "GET",
        &[
            |client| nothing(client.prompts().get(PromptId::new(7))),
            |client| nothing(client.prompts().list()),
            |client| nothing(client.vaults().list()),
            |client| nothing(client.generations().status("j")),
            |client| read(client.get("/usage")),
        ],
    ),
    (
        "idempotent POST",
        &[
            |client| nothing(client.vault(VaultId::new(3)).pin(VaultPromptId::new(21))),
            |client| nothing(client.vault(VaultId::new(3)).unpin(VaultPromptId::new(21))),
            |client| nothing(client.uploads().slot(ImageContentType::Png, 9)),
            |client| read(client.post("/usage").idempotent()),
        ],
    ),
    (
        "DELETE, PUT",
        &[
            |client| nothing(client.prompts().delete(PromptId::new(7))),
            |client| nothing(client.vaults().delete(VaultId::new(3))),
            |client| nothing(client.vault(VaultId::new(3)).remove(VaultPromptId::new(1))),
            |client| read(client.put("/usage").json(&7)),
        ],
    ),
    (
        "other POST, PATCH",
        &[
            |client| nothing(client.prompts().create("t", "p")),
            |client| nothing(client.prompts().update(PromptId::new(7)).title("t")),
            |client| nothing(client.vaults().create("n")),
            |client| nothing(client.vaults().fork(VaultId::new(3))),
            |client| nothing(client.vault(VaultId::new(3)).add([PromptId::new(7)])),
            |client| read(client.request(Method::POST, "/usage")),
        ],
    ),
];

fn nothing<T, F>(call: F) -> BoxFuture<'static, Result<(), Error>>
where
    F: IntoFuture<Output = Result<T, Error>, IntoFuture: Send> + 'static,
{
    let call = call.into_future();
    Box::pin(async move { call.await.map(drop) })
}

/// A raw call does not decode its body, so this is left out.
fn read(call: RawRequest) -> BoxFuture<'static, Result<(), Error>> {
    Box::pin(async move { call.await?.json::<serde_json::Value>().map(drop) })
}

/// What happens to each request of a server.
async fn happening(what: &str) -> Vec<Box<dyn Stage>> {
    let statuses: Vec<u16> = what.split([',', ' ']).filter_map(|word| word.parse().ok()).collect();
    match what {
        "no connection" => vec![Box::new(Nobody)],
        "connection lost before a response" => vec![Box::new(every(Raw::new("")).await)],
        "timeout before a response" => vec![Box::new(Silent::new().await)],
        "success with an incomplete body" => {
            let half = "HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"data\":";
            vec![Box::new(every(Raw::new(half)).await)]
        }
        "success with a body that cannot be decoded" => {
            vec![Box::new(answering(ResponseTemplate::new(200).set_body_string("{")).await)]
        }
        "redirect that is not followed" => statuses_that_stay(&[301, 302, 303, 307, 308]).await,
        "any other error status" => {
            statuses_that_stay(&[
                400, 401, 402, 403, 404, 405, 406, 409, 410, 411, 412, 413, 415, 422, 423, 425,
                451, 501, 505, 507, 511, 599,
            ])
            .await
        }
        _ if !statuses.is_empty() => statuses_that_stay(&statuses).await,
        _ => panic!("the table has a row that this test does not know: {what}"),
    }
}

async fn statuses_that_stay(statuses: &[u16]) -> Vec<Box<dyn Stage>> {
    let mut stages: Vec<Box<dyn Stage>> = Vec::new();
    for status in statuses {
        stages.push(Box::new(answering(ResponseTemplate::new(*status)).await));
    }
    stages
}

/// A server, and the number of requests it received.
trait Stage {
    fn address(&self) -> String;
    /// Requests received; `None` where none can be.
    fn requests(&self) -> BoxFuture<'_, Option<usize>>;
}

struct Nobody;

impl Stage for Nobody {
    fn address(&self) -> String {
        "http://127.0.0.1:1".to_owned()
    }
    fn requests(&self) -> BoxFuture<'_, Option<usize>> {
        Box::pin(async { None })
    }
}

/// Accepts connections and never answers.
struct Silent(TcpListener);

impl Silent {
    async fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }
}

impl Stage for Silent {
    fn address(&self) -> String {
        format!("http://{}", self.0.local_addr().unwrap())
    }
    fn requests(&self) -> BoxFuture<'_, Option<usize>> {
        Box::pin(async { None })
    }
}

impl Stage for wiremock::MockServer {
    fn address(&self) -> String {
        self.uri()
    }
    fn requests(&self) -> BoxFuture<'_, Option<usize>> {
        Box::pin(async { self.received_requests().await.map(|requests| requests.len()) })
    }
}

impl Stage for crate::stub::EveryTime {
    fn address(&self) -> String {
        format!("http://{}", self.address)
    }
    fn requests(&self) -> BoxFuture<'_, Option<usize>> {
        Box::pin(async { Some(self.count()) })
    }
}

/// The rows of the table: what happened, and the cells.
fn rows() -> Vec<(String, Vec<bool>)> {
    let table = README.lines().skip_while(|line| !line.starts_with("| what happened |"));
    let mut lines = table.take_while(|line| line.starts_with('|')).map(|line| {
        let cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        cells.collect::<Vec<_>>()
    });
    let head = lines.next().expect("the README has the table");
    let columns: Vec<_> = COLUMNS.iter().map(|(name, _)| *name).collect();
    assert_eq!(head[1..], columns);
    let row = |cells: Vec<String>| {
        let says = cells[1..].iter().map(|cell| match &**cell {
            "yes" => true,
            "no" => false,
            other => panic!("{other}"),
        });
        (cells[0].clone(), says.collect())
    };
    lines.skip(1).map(row).collect()
}

#[tokio::test]
async fn every_cell_of_the_table_holds() {
    let rows = rows();
    assert_eq!(rows.len(), 10);
    let mut tried = 0;
    for (what, says) in rows {
        for stage in happening(&what).await {
            // Short where it must expire, and long enough for a busy machine elsewhere.
            let timeout = if what.starts_with("timeout") { 100 } else { 20_000 };
            let client = client(&stage.address(), Duration::from_millis(timeout));
            for ((column, calls), again) in COLUMNS.iter().zip(&says) {
                for make in *calls {
                    let before = stage.requests().await;
                    let error = make(&client).await.unwrap_err();
                    let expected = if *again { ATTEMPTS } else { 1 };
                    assert_eq!(error.attempts(), expected, "{what}, {column}: {error}");
                    if let (Some(before), Some(after)) = (before, stage.requests().await) {
                        assert_eq!(after - before, expected as usize, "{what}, {column}: {error}");
                    }
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 700, "{tried}");
}

fn client(address: &str, request_timeout: Duration) -> Client {
    let delay = Duration::from_millis(1);
    let policy =
        RetryPolicy::new().max_attempts(ATTEMPTS).initial_backoff(delay).max_backoff(delay);
    let client = patient(address).retry(policy).retry_budget(RetryBudget::unlimited());
    client.request_timeout(request_timeout).build().unwrap()
}

#[tokio::test]
async fn a_generation_is_posted_once_and_its_id_is_in_the_error() {
    let server = answering(ResponseTemplate::new(503)).await;
    let call =
        client(&server.uri(), Duration::from_secs(20)).generations().create("local/plasma", "p");
    let id = call.job_id().clone();
    let error = call.await.unwrap_err();
    assert_eq!(error.job_id(), Some(&id));
    assert!(error.is_outcome_unknown());
    let requests = server.received_requests().await.unwrap();
    let posts: Vec<_> = requests.iter().filter(|request| request.method == "POST").collect();
    assert_eq!(posts.len(), 1);
    let body: serde_json::Value = posts[0].body_json().unwrap();
    assert_eq!(body["clientJobId"], id.as_str());
}

#[tokio::test]
async fn a_later_success_is_the_answer_and_tells_how_many_attempts_it_took() {
    let server = wiremock::MockServer::start().await;
    let any = || wiremock::Mock::given(wiremock::matchers::any());
    any().respond_with(ResponseTemplate::new(503)).up_to_n_times(2).mount(&server).await;
    let vaults = serde_json::json!({ "data": [], "error": null });
    any().respond_with(ResponseTemplate::new(200).set_body_json(vaults)).mount(&server).await;
    let vaults = client(&server.uri(), Duration::from_secs(20))
        .vaults()
        .list()
        .send_with_meta()
        .await
        .unwrap();
    assert!(vaults.value.is_empty());
    assert_eq!((vaults.meta.attempts(), vaults.meta.status().as_u16()), (3, 200));
}

#[tokio::test]
async fn a_call_may_be_tried_in_its_own_way() {
    let server = answering(ResponseTemplate::new(503)).await;
    let get = || client(&server.uri(), Duration::from_secs(20)).prompts().get(PromptId::new(7));
    assert_eq!(get().retry(RetryPolicy::never()).await.unwrap_err().attempts(), 1);
    let delay = Duration::from_millis(1);
    let five = RetryPolicy::new().max_attempts(5).initial_backoff(delay).max_backoff(delay);
    let error = get().retry(five).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "GET /prompts/{promptId}: 503 Service Unavailable, with an empty body (after 5 attempts)"
    );
}

#[test]
fn the_documentation_of_the_crate_has_the_same_table() {
    let table = |line: &&str| line.starts_with("| ") && line.matches('|').count() == 6;
    let docs = include_str!("../../../src/lib.rs").lines().filter_map(|l| l.strip_prefix("//! "));
    let (docs, readme): (Vec<_>, Vec<_>) =
        (docs.filter(table).collect(), README.lines().filter(table).collect());
    assert_eq!(docs, readme);
}
