//! Generations over HTTP, with the built-in provider and with one that does as it
//! is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use promptarium::limits;
use promptarium_server::EmbeddedServer;
use promptarium_server::provider::{GenerationRequest, ProviderTicket};
use promptarium_server::provider::{PollError, Progress, Provider, SubmitError};
use promptarium_server::test_support::{BlobSetting, Blobs};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::support::PATIENCE;
use crate::support::client::{Answer, Connection, call, request};

/// Takes orders after a while, or does not, and never finishes one.
struct Told {
    takes: Result<(), SubmitError>,
    delay: Duration,
    submits: AtomicUsize,
}

impl Told {
    fn that(takes: Result<(), SubmitError>, delay_ms: u64) -> Arc<Self> {
        let delay = Duration::from_millis(delay_ms);
        Arc::new(Self { takes, delay, submits: AtomicUsize::new(0) })
    }
}

#[async_trait]
impl Provider for Told {
    async fn submit(&self, order: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        let number = self.submits.fetch_add(1, Ordering::SeqCst);
        sleep(self.delay).await;
        assert_ne!(&*order.model_id, "local/panic", "as asked");
        self.takes.clone()?;
        Ok(ProviderTicket {
            request_id: format!("r-{number}").into(),
            provider_state: "secret".into(),
        })
    }

    async fn poll(&self, _: &ProviderTicket, _: &GenerationRequest) -> Result<Progress, PollError> {
        Ok(Progress::InProgress)
    }
}

async fn server_with(provider: &Arc<Told>) -> EmbeddedServer {
    EmbeddedServer::builder().provider(provider.clone()).start().await.unwrap()
}

async fn order(server: &EmbeddedServer, body: Value) -> Answer {
    call(server, "POST", "/generations", Some(&body.to_string())).await
}

/// The path below the base URL that an answer to an order says to poll.
fn status_path(server: &EmbeddedServer, answer: &Answer) -> String {
    let url = answer.json()["data"]["statusUrl"].as_str().unwrap().to_owned();
    url.strip_prefix(server.base_url()).unwrap().to_owned()
}

async fn status(server: &EmbeddedServer, path: &str) -> Value {
    let answer = call(server, "GET", path, None).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["data"].clone()
}

async fn status_when(server: &EmbeddedServer, path: &str, wanted: &str) -> Value {
    let begun = Instant::now();
    loop {
        let status = status(server, path).await;
        if status["status"] == wanted {
            return status;
        }
        assert!(begun.elapsed() < PATIENCE, "{status}");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn an_order_ends_as_pictures_in_a_vault() {
    let server = EmbeddedServer::start().await.unwrap();
    let vault = call(&server, "POST", "/vaults", Some(r#"{"name":"Sky"}"#)).await.json();
    let vault = &vault["data"]["id"];
    let answer = order(
        &server,
        json!({
            "modelId": "local/plasma", "prompt": "A harbour", "aspectRatio": "16:9",
            "batchCount": 2, "vaultId": vault,
        }),
    );
    let answer = answer.await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let data = &answer.json()["data"];
    assert_eq!((&data["success"], data["clientJobId"].as_str().unwrap().len()), (&json!(true), 36));

    let path = status_path(&server, &answer);
    let done = status_when(&server, &path, "completed").await;
    assert_eq!(done["providerRequestId"], data["providerRequestId"]);
    assert_eq!((&done["vaultId"], &done["error"]), (vault, &Value::Null));
    let listed = call(&server, "GET", &format!("/vaults/{vault}/prompts"), None).await.json();
    let [prompt] = listed["data"].as_array().unwrap().as_slice() else { panic!("{listed}") };
    assert_eq!((&prompt["id"], &prompt["promptType"]), (&done["promptId"], &json!("image")));
    let images = prompt["images"].as_array().unwrap();
    assert_eq!(images.len(), 2);
    for image in images {
        let url = image["url"].as_str().unwrap();
        let path = url.splitn(4, '/').nth(3).unwrap();
        let mut connection = Connection::to(&server).await;
        connection.send(format!("GET /{path} HTTP/1.1\r\nhost: a\r\n\r\n")).await;
        let picture = connection.answer().await.unwrap();
        assert_eq!((picture.status, picture.header("content-type")), (200, Some("image/png")));
    }
    assert_ne!(images[0]["url"], images[1]["url"]);
}

#[tokio::test]
async fn a_status_has_every_field_and_shows_nothing_of_the_provider_but_its_name_for_the_job() {
    let server = server_with(&Told::that(Ok(()), 0)).await;
    let answer = order(
        &server,
        json!({"modelId": "m", "prompt": "p", "clientJobId": "j", "generationType": "video"}),
    );
    let path = status_path(&server, &answer.await);
    let status = status_when(&server, &path, "in_progress").await;
    let fields = status.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>();
    let mut expected = [
        "clientJobId",
        "providerRequestId",
        "status",
        "generationType",
        "vaultId",
        "promptId",
        "error",
        "createdAt",
        "updatedAt",
    ];
    expected.sort_unstable();
    assert_eq!(fields, expected);
    assert_eq!(
        (&status["clientJobId"], &status["providerRequestId"]),
        (&json!("j"), &json!("r-0"))
    );
    assert_eq!((&status["generationType"], &status["promptId"]), (&json!("video"), &Value::Null));
    assert!(!status.to_string().contains("secret"));
}

#[tokio::test]
async fn what_the_provider_does_not_take_is_told_and_leaves_no_job() {
    let refused = SubmitError::Refused("no such model".to_owned());
    let unavailable = SubmitError::Unavailable("secret".to_owned());
    for (why, status, said) in
        [(refused, 502, "no such model"), (unavailable, 503, "cannot be reached")]
    {
        let server = server_with(&Told::that(Err(why), 0)).await;
        let body = json!({"modelId": "m", "prompt": "p", "clientJobId": "j"});
        let answer = order(&server, body).await;
        assert_eq!(answer.status, status, "{answer:?}");
        assert!(answer.json()["error"].as_str().unwrap().contains(said), "{answer:?}");
        assert_eq!(answer.json()["details"], json!({}));
        assert!(!answer.body.contains("secret"));
        assert_eq!(call(&server, "GET", "/generations/j/status", None).await.status, 404);
    }
}

#[tokio::test]
async fn an_order_that_may_have_been_taken_is_a_failed_job_and_not_sent_again() {
    let unknown = SubmitError::Unknown("secret".to_owned());
    for (model, why) in [("local/panic", Ok(())), ("m", Err(unknown))] {
        let provider = Told::that(why, 0);
        let server = server_with(&provider).await;
        for _ in 0..2 {
            let body = json!({"modelId": model, "prompt": "p", "clientJobId": "j"});
            let answer = order(&server, body).await;
            assert_eq!(answer.status, 502, "{answer:?}");
            assert!(!answer.body.contains("secret") && !answer.body.contains("as asked"));
        }
        assert_eq!(provider.submits.load(Ordering::SeqCst), 1);
        let failed = status(&server, "/generations/j/status").await;
        assert_eq!(
            (&failed["status"], &failed["providerRequestId"]),
            (&json!("failed"), &Value::Null)
        );
        assert!(failed["error"].as_str().unwrap().contains("not known"), "{failed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_order_has_the_same_answer_however_it_is_written() {
    let provider = Told::that(Ok(()), 300);
    let server = server_with(&provider).await;
    let one = r#"{"modelId":"m","prompt":"A","clientJobId":"j","parameters":{"a":1,"b":[2]}}"#;
    let two = r#" {"parameters" : {"b":[2], "a":1}, "batchCount":1, "aspectRatio":"1:1",
        "clientJobId":"j", "generationType":"image", "prompt":"\u0041", "modelId":"m"} "#;
    let asks = (0..32).map(|at| {
        let body = if at % 2 == 0 { one } else { two };
        call(&server, "POST", "/generations", Some(body))
    });
    let answers = join_all(asks).await;
    let first = &answers[0];
    assert_eq!(first.status, 202, "{first:?}");
    assert!(answers.iter().all(|answer| answer.body == first.body));
    let third = call(&server, "POST", "/generations", Some(two)).await;
    assert_eq!((third.status, &first.body), (202, &third.body));
    assert_eq!(provider.submits.load(Ordering::SeqCst), 1);

    let other = order(&server, json!({"modelId": "m", "prompt": "B", "clientJobId": "j"})).await;
    assert_eq!(other.status, 400);
    assert!(other.json()["details"]["clientJobId"].is_string(), "{other:?}");
}

#[tokio::test]
async fn any_text_names_a_job_and_the_address_to_poll_leads_to_it() {
    let server = server_with(&Told::that(Ok(()), 0)).await;
    let longest = "漢".repeat(*limits::CLIENT_JOB_ID_CHARS.end());
    for name in ["a/../b?c=d#e", "%41", "ü 漢\u{1}\n", "status", "%2e", "...", "\\", "/", &longest]
    {
        let answer = order(&server, json!({"modelId": "m", "prompt": "p", "clientJobId": name}));
        let answer = answer.await;
        assert_eq!(answer.json()["data"]["clientJobId"], name);
        let path = status_path(&server, &answer);
        assert_eq!(status(&server, &path).await["clientJobId"], name, "{path}");
    }
    for path in ["/generations/%zz/status", "/generations/%ff/status", "/generations/none/status"] {
        let answer = call(&server, "GET", path, None).await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.json()["error"].as_str().unwrap().contains("generation"), "{answer:?}");
    }
}

#[tokio::test]
async fn a_job_belongs_to_its_account() {
    let server = EmbeddedServer::builder()
        .seed_key("promptarium_live_a_1=alice")
        .seed_key("promptarium_live_b_2=bob")
        .provider(Told::that(Ok(()), 0))
        .start()
        .await
        .unwrap();
    let body = r#"{"modelId":"m","prompt":"p","clientJobId":"j"}"#;
    let ask = async |key: &str, method: &str, path: &str, body| {
        let mut connection = Connection::to(&server).await;
        connection.send(request(key, method, path, body)).await;
        connection.answer().await.unwrap()
    };
    let (alice, bob) = ("promptarium_live_a_1", "promptarium_live_b_2");
    assert_eq!(ask(alice, "POST", "/generations", Some(body)).await.status, 202);
    assert_eq!(ask(bob, "GET", "/generations/j/status", None).await.status, 404);
    let bobs = ask(bob, "POST", "/generations", Some(body)).await;
    assert_eq!(bobs.json()["data"]["providerRequestId"], "r-1");
}

#[tokio::test]
async fn everything_that_is_wrong_with_an_order_is_told_at_once() {
    let server = server_with(&Told::that(Ok(()), 0)).await;
    let upload = format!("{}/storage/x.png", server.base_url().strip_suffix("/api/v1").unwrap());
    let answer = order(
        &server,
        json!({
            "modelId": "", "prompt": "", "generationType": "text", "clientJobId": "",
            "negativePrompt": 1, "imageInput": upload, "imageInputs": ["a b"], "aspectRatio": null,
            "batchCount": 5, "parameters": [], "vaultId": "1",
            "referenceImageUrls": [1, 2, 3, 4, 5, 6, 7, 8], "imageEditEndpointId": true,
        }),
    );
    let answer = answer.await;
    assert_eq!(answer.status, 400);
    insta::assert_snapshot!(serde_json::to_string_pretty(&answer.json()["details"]).unwrap(), @r#"
    {
      "aspectRatio": "must be a string, but is null",
      "batchCount": "must be 1 to 4, but is 5",
      "clientJobId": "must be 1 to 256 characters, but has 0",
      "generationType": "must be one of image, video, but is \"text\"",
      "imageEditEndpointId": "must be a string, but is a boolean",
      "imageInput": "is an upload address; use the slot's url",
      "imageInputs": "entry 1 must be a URL, but holds spaces or control characters",
      "modelId": "must be 1 to 256 characters, but has 0",
      "negativePrompt": "must be a string, but is a number",
      "parameters": "must be an object, but is an array",
      "prompt": "must be 1 to 100000 characters, but has 0",
      "referenceImageUrls": "must have at most 7 entries, but has 8",
      "vaultId": "must be an integer, but is a string"
    }
    "#);
}

#[tokio::test]
async fn texts_are_bounded() {
    let server = server_with(&Told::that(Ok(()), 0)).await;
    let url = |chars: usize| format!("https://a.example/{}", "é".repeat(chars - 18));
    let urls = limits::URL_CHARS_MAX;
    for (field, good, bad) in [
        ("modelId", json!("漢".repeat(256)), json!("m".repeat(257))),
        ("imageEditEndpointId", json!("m".repeat(256)), json!("m".repeat(257))),
        ("aspectRatio", json!("1".repeat(64)), json!("1".repeat(65))),
        ("imageInput", json!(url(urls)), json!(url(urls + 1))),
        ("imageInputs", json!([url(urls)]), json!([url(urls + 1)])),
        ("referenceImageUrls", json!([url(urls)]), json!([url(urls), url(urls + 1)])),
        ("clientJobId", json!("j".repeat(256)), json!("j".repeat(257))),
        ("clientJobId", json!("..."), json!(".")),
        ("clientJobId", json!("a.."), json!("..")),
    ] {
        for (value, status) in [(good, 202), (bad, 400)] {
            let mut body = json!({"modelId": "m", "prompt": "p"});
            body[field] = value;
            let answer = order(&server, body).await;
            assert_eq!(answer.status, status, "{field}: {}", answer.body);
            assert_eq!(answer.json()["details"][field].is_string(), status == 400, "{field}");
        }
    }
}

#[tokio::test]
async fn parameters_are_bounded_in_depth_and_size() {
    let server = server_with(&Told::that(Ok(()), 0)).await;
    // `{"p":…}` is the first of the levels.
    let nested = |levels: usize| {
        let deep = (1..levels).fold(json!("x"), |inner, _| json!([inner]));
        json!({"modelId": "m", "prompt": "p", "parameters": {"p": deep}})
    };
    let sized = |bytes: usize| {
        let text = "x".repeat(bytes - r#"{"p":""}"#.len());
        json!({"modelId": "m", "prompt": "p", "parameters": {"p": text}})
    };
    let (depth, bytes) =
        (limits::GENERATION_PARAMETERS_DEPTH_MAX, limits::GENERATION_PARAMETERS_BYTES_MAX);
    for (body, refused) in [
        (nested(depth), None),
        (nested(depth + 1), Some("must be nested at most 64 levels deep, but has 65")),
        (nested(126), Some("must be nested at most 64 levels deep, but has 126")),
        (sized(bytes), None),
        (sized(bytes + 1), Some("must be at most 262144 bytes of JSON, but has 262145")),
    ] {
        let answer = order(&server, body).await;
        assert_eq!(answer.status, if refused.is_some() { 400 } else { 202 }, "{refused:?}");
        assert_eq!(answer.json()["details"]["parameters"].as_str(), refused);
    }
}

#[tokio::test]
async fn a_caller_who_hangs_up_finds_the_job_later() {
    let provider = Told::that(Ok(()), 300);
    let server = server_with(&provider).await;
    let body = r#"{"modelId":"m","prompt":"p","clientJobId":"j"}"#;
    let mut connection = Connection::to(&server).await;
    connection.send(request(server.api_key(), "POST", "/generations", Some(body))).await;
    while provider.submits.load(Ordering::SeqCst) == 0 {
        sleep(Duration::from_millis(5)).await;
    }
    drop(connection);
    let begun = Instant::now();
    while call(&server, "GET", "/generations/j/status", None).await.status == 404 {
        assert!(begun.elapsed() < PATIENCE);
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(order(&server, serde_json::from_str(body).unwrap()).await.status, 202);
    assert_eq!(provider.submits.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_store_of_files_that_fails_for_a_while_only_delays_the_pictures() {
    let folder = std::env::temp_dir().join(format!("promptarium-{:032x}", rand::random::<u128>()));
    let blobs = Blobs::open(&BlobSetting::Folder(folder.clone())).unwrap();
    // A file where a folder has to be is as good as a full disk.
    std::fs::write(folder.join("images"), "").unwrap();
    let server = EmbeddedServer::builder().blobs(blobs).start().await.unwrap();
    let answer = order(&server, json!({"modelId": "local/plasma", "prompt": "A harbour"})).await;
    let path = status_path(&server, &answer);
    sleep(Duration::from_millis(1200)).await;
    assert_ne!(status(&server, &path).await["status"], "completed");
    std::fs::remove_file(folder.join("images")).unwrap();
    let done = status_when(&server, &path, "completed").await;
    let prompt = call(&server, "GET", &format!("/prompts/{}", done["promptId"]), None).await;
    assert_eq!(prompt.json()["data"]["images"].as_array().unwrap().len(), 1);
    let files = std::fs::read_dir(folder.join("images")).unwrap().count();
    assert_eq!(files, 1, "nothing is left of the tries that failed");
    server.shutdown().await;
    std::fs::remove_dir_all(folder).unwrap();
}
