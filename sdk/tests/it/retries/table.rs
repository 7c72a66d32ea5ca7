//! The retry table of the README is the data of this test: each of its cells is tried.

use std::time::Duration;

use futures::future::BoxFuture;
use http::Method;
use promptarium::request::RawRequest;
use promptarium::testing::{Answer, Script, builder};
use promptarium::transport::Failure;
use promptarium::{
    Client, Error, ImageContentType, Outcome, PromptId, RetryBudget, RetryPolicy, VaultId,
    VaultPromptId,
};
use wiremock::ResponseTemplate;

use crate::stub::{EveryTime, Raw, Scripted, answering, every, patient};

const README: &str = include_str!("../../../README.md");
const ATTEMPTS: u32 = 3;

type Make = fn(&Client) -> BoxFuture<'static, Result<(), Error>>;

/// Each column of the table, and calls of that kind.
const COLUMNS: [(&str, &[Make]); 3] = [
    (
        "GET, idempotent POST",
        &[
            |client| nothing(client.prompts().get(PromptId::new(7))),
            |client| nothing(client.prompts().list()),
            |client| nothing(client.vaults().list()),
            |client| nothing(client.generations().status("j")),
            |client| read(client.get("/usage")),
            |client| nothing(client.vault(VaultId::new(3)).pin(VaultPromptId::new(21))),
            |client| nothing(client.vault(VaultId::new(3)).unpin(VaultPromptId::new(21))),
            |client| nothing(client.uploads().slot(ImageContentType::Png, 9)),
            |client| read(client.post("/usage").idempotent()),
            |client| nothing(client.prompts().create("t", "p").idempotent()),
            |client| nothing(client.vault(VaultId::new(3)).add([PromptId::new(7)]).idempotent()),
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

/// Statuses of refusals that are not those of the rows above.
const REFUSALS: [u16; 17] =
    [400, 401, 402, 403, 404, 405, 406, 409, 410, 411, 412, 413, 415, 418, 422, 423, 451];

/// With `Retry-After`. One that cannot be read is there too, and the backoff is the usual one.
fn with_delays(all: &[u16]) -> Vec<Answer> {
    let unreadable = statuses(all).into_iter().map(|answer| answer.header("retry-after", "soon"));
    let delayed = statuses(all).into_iter().map(|answer| answer.retry_after(Duration::ZERO));
    delayed.chain(unreadable).collect()
}

fn statuses(statuses: &[u16]) -> Vec<Answer> {
    statuses.iter().map(|status| Answer::raw(*status, "", "")).collect()
}

/// The answers that are meant by a row.
fn meant_by(what: &str) -> Vec<Answer> {
    let whole = Answer::raw(200, "application/json", r#"{"data":null,"error":null}"#);
    let with_delay = |answer: Answer| answer.retry_after(Duration::ZERO);
    match what {
        "not processed: no connection, `REFUSED_STREAM` or `GOAWAY` of HTTP/2" => {
            vec![Answer::no_connection()]
        }
        "429 (rate limit), 425" => statuses(&[429, 425]),
        "408, 5xx except 501, 505 and 511" => {
            let mut all = statuses(&[408, 500, 502, 503, 504, 507, 520, 524, 529, 599]);
            all.extend(statuses(&[408, 503, 520]).into_iter().map(with_delay));
            all
        }
        "connection lost or timeout before a response" => {
            vec![Answer::disconnect(), Answer::never()]
        }
        "another 4xx with `Retry-After`" => with_delays(&REFUSALS),
        "501, 505, 511 with `Retry-After`" => with_delays(&[501, 505, 511]),
        "success with an incomplete body" => vec![whole.clone().cut_at(8), whole.stall_at(8)],
        "success with a body that cannot be decoded, redirect, other error status" => {
            let mut all = statuses(&REFUSALS);
            all.extend(statuses(&[501, 505, 511]));
            let redirects = statuses(&[301, 302, 303, 304, 307, 308]);
            all.extend(redirects.clone());
            all.extend(redirects.into_iter().map(with_delay));
            all.push(Answer::raw(200, "application/json", "{"));
            all
        }
        other => panic!("the table has a row that this test does not know: {other}"),
    }
}

/// The cells of each row, the head first.
fn rows() -> Vec<Vec<&'static str>> {
    let table = README.lines().skip_while(|line| !line.starts_with("| what happened |"));
    let lines = table.take_while(|line| line.starts_with('|'));
    let lines = lines.filter(|line| !line.starts_with("|-"));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[tokio::test(start_paused = true)]
async fn every_cell_of_the_table_holds() {
    let rows = rows();
    assert_eq!(rows.len(), 9);
    let columns: Vec<_> = COLUMNS.iter().map(|(name, _)| *name).collect();
    assert_eq!(rows[0][1..], columns);
    let mut tried = 0;
    for row in &rows[1..] {
        for answer in meant_by(row[0]) {
            for ((column, calls), cell) in COLUMNS.iter().zip(&row[1..]) {
                let attempts = match *cell {
                    "yes" => ATTEMPTS,
                    "no" => 1,
                    other => panic!("{other}"),
                };
                for make in *calls {
                    let script = Script::new();
                    script.any().always(answer.clone());
                    let error = make(&builder(&script).build().unwrap()).await.unwrap_err();
                    assert_eq!(error.attempts(), attempts, "{row:?}, {column}: {error}");
                    assert_eq!(script.calls().len(), attempts as usize, "{row:?}, {column}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 1500, "{tried}");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_certainly_not_processed_is_retried_whatever_it_is() {
    for (column, calls) in COLUMNS {
        for make in calls {
            let script = Scripted::new(|_| Err(Failure::not_processed("REFUSED_STREAM")));
            let client = Client::builder().base_url("http://h/api/v1").api_key("k");
            let client = client.transport(script.clone()).build().unwrap();
            let error = make(&client).await.unwrap_err();
            assert_eq!((error.attempts(), script.times().len()), (3, 3), "{column}: {error}");
            assert_eq!(error.outcome(), Outcome::NotDone);
        }
    }
}

#[tokio::test]
async fn failures_of_real_connections_are_those_of_the_table() {
    let half = "HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"data\":";
    let (lost, cut) = (every(Raw::new("")).await, every(Raw::new(half)).await);
    let servers = [
        ("http://127.0.0.1:1".to_owned(), None, [3, 3, 3]),
        (format!("http://{}", lost.address), Some(&lost), [3, 3, 1]),
        (format!("http://{}", cut.address), Some(&cut), [3, 1, 1]),
    ];
    for (address, server, expected) in servers {
        let client = client(&address, Duration::from_secs(20));
        for ((column, calls), attempts) in COLUMNS.iter().zip(expected) {
            let before = server.map(EveryTime::count);
            let error = calls[0](&client).await.unwrap_err();
            assert_eq!(error.attempts(), attempts, "{column}: {error}");
            if let (Some(server), Some(before)) = (server, before) {
                assert_eq!(server.count() - before, attempts as usize, "{column}: {error}");
            }
        }
    }
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
    // The status is asked for as long as this.
    let client = client(&server.uri(), Duration::from_millis(500));
    let call = client.generations().create("local/plasma", "p");
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
    let docs = include_str!("../../../src/lib.rs");
    assert!(docs.starts_with("#![doc = include_str!(\"../README.md\")]\n"));
}
