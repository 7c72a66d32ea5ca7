//! Where the API key comes from: a provider that is asked before each attempt, and clients that
//! differ in nothing else.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use promptarium::transport::Failure;
use promptarium::{Client, ClientBuilder, PromptId, RetryBudget, RetryPolicy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};

use crate::stub::{Scripted, envelope, prompt, response};

const SECOND: Duration = Duration::from_secs(1);

type Keys = Arc<std::sync::Mutex<Vec<String>>>;

/// A transport that records `Authorization` and answers like this.
fn recording(status: u16) -> (Scripted, Keys) {
    let keys = Keys::default();
    let seen = keys.clone();
    let script = Scripted::new(move |request| {
        let key = request.headers()["authorization"].to_str().unwrap().to_owned();
        seen.lock().unwrap().push(key);
        Ok(response(status, envelope(&prompt(7)).to_string()))
    });
    (script, keys)
}

fn builder(script: &Scripted) -> ClientBuilder {
    Client::builder().base_url("http://h/api/v1").transport(script.clone())
}

async fn get(client: &Client) -> Result<promptarium::Prompt, promptarium::Error> {
    client.prompts().get(PromptId::new(7)).await
}

#[tokio::test(start_paused = true)]
async fn a_provider_is_asked_for_the_key_before_each_attempt() {
    let (script, keys) = recording(503);
    let asked = AtomicUsize::new(0);
    let provider = move || {
        let key = format!("key-{}", asked.fetch_add(1, Ordering::SeqCst));
        async move { Ok::<_, io::Error>(key) }
    };
    let client = builder(&script).api_key_provider(provider).build().unwrap();
    assert!(keys.lock().unwrap().is_empty(), "it is not asked before it is needed");
    get(&client).await.unwrap_err();
    assert_eq!(*keys.lock().unwrap(), ["Bearer key-0", "Bearer key-1", "Bearer key-2"]);
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_provider_is_a_config_error_and_not_retried() {
    let (script, keys) = recording(200);
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let provider = move || {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Err::<String, _>(io::Error::other("the vault is sealed")) }
    };
    let client = builder(&script).api_key_provider(provider).build().unwrap();
    let error = get(&client).await.unwrap_err();
    assert!(error.is_config() && !error.is_retryable(), "{error}");
    // Its own text may be secret.
    insta::assert_snapshot!(error, @"GET /prompts/{promptId}: the provider of the API key failed");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "the vault is sealed");
    assert_eq!((asked.load(Ordering::SeqCst), keys.lock().unwrap().len()), (1, 0));
    // Nothing was sent.
    let error = client.prompts().create("t", "p").await.unwrap_err();
    assert!(!error.is_outcome_unknown(), "{error}");
    let error = client.generations().create("local/plasma", "p").await.unwrap_err();
    assert!(error.is_config() && !error.is_outcome_unknown(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_key_of_the_provider_that_cannot_be_used_is_not_repeated() {
    for key in ["", "s3cret\n", "s3cret s3cret", "s3cr\u{e9}t"] {
        let (script, keys) = recording(200);
        let provider = move || async move { Ok::<_, io::Error>(key.to_owned()) };
        let client = builder(&script).api_key_provider(provider).build().unwrap();
        let error = get(&client).await.unwrap_err();
        assert!(error.is_config(), "{error}");
        let text = format!("{error} {error:?}");
        assert!(text.contains("the API key of the provider cannot be used"), "{text}");
        assert!(!text.contains("s3cr"), "{text}");
        assert!(keys.lock().unwrap().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_provider_is_bounded_by_the_timeouts_of_the_call() {
    let slow = || async {
        sleep(3600 * SECOND).await;
        Ok::<_, io::Error>("key".to_owned())
    };
    let (script, keys) = recording(200);
    let client = builder(&script).api_key_provider(slow).retry(RetryPolicy::never());
    let client = client.build().unwrap();
    let call = || client.prompts().get(PromptId::new(7));
    for (call, limit) in [
        (call().timeout(SECOND), SECOND),
        (call().request_timeout(2 * SECOND), 2 * SECOND),
        (call().idle_timeout(3 * SECOND), 3 * SECOND),
        (call(), 20 * SECOND),
    ] {
        let start = Instant::now();
        let error = call.await.unwrap_err();
        assert_eq!(start.elapsed(), limit, "{error}");
        assert!(error.is_timeout() && error.to_string().contains("provider of the API key"));
        assert!(!error.is_outcome_unknown());
    }
    let start = Instant::now();
    let create = client.generations().create("local/plasma", "p").timeout(SECOND);
    assert!(!create.await.unwrap_err().is_outcome_unknown());
    assert_eq!(start.elapsed(), SECOND, "there is no job to ask for");
    assert!(keys.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_client_with_another_key_shares_settings_and_budget_but_not_the_rate_limit() {
    let keys = Keys::default();
    let seen = keys.clone();
    let script = Scripted::new(move |request| {
        let key = request.headers()["authorization"].to_str().unwrap().to_owned();
        seen.lock().unwrap().push(key.clone());
        if request.uri().path().ends_with("/8") {
            return Err(Failure::connecting("nobody there"));
        }
        if key == "Bearer one" && request.uri().path().ends_with("/9") {
            let mut refused = response(429, "");
            refused.headers_mut().insert("retry-after", "30".parse().unwrap());
            return Ok(refused);
        }
        Ok(response(200, envelope(&prompt(7)).to_string()))
    });
    let one = builder(&script).api_key("one").user_agent("tenants/1");
    let one = one.retry_budget(RetryBudget::new().reserve(5)).build().unwrap();
    let two = one.with_api_key("two").unwrap();
    assert_eq!(one.base_url(), two.base_url());
    get(&two).await.unwrap();
    get(&one).await.unwrap();
    assert_eq!(*keys.lock().unwrap(), ["Bearer two", "Bearer one"]);

    two.prompts().get(PromptId::new(8)).await.unwrap_err();
    assert_eq!(one.pressure().retries_left, Some(3));

    let refused = one.prompts().get(PromptId::new(9)).timeout(10 * SECOND).await.unwrap_err();
    assert!(refused.is_rate_limited());
    assert!(one.pressure().rate.is_some() && two.pressure().rate.is_none());
    let start = Instant::now();
    get(&two).await.unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO);

    let error = one.with_api_key(" ").unwrap_err();
    assert!(error.is_config());
    assert!(!format!("{two:?}").contains("two\""));
}

#[tokio::test]
async fn a_client_with_another_key_uses_the_same_connections() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let body = r#"{"data":[],"error":null}"#;
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                while stream.read(&mut [0; 4096]).await.is_ok_and(|read| read > 0) {
                    stream.write_all((head.clone() + body).as_bytes()).await.unwrap();
                }
            });
        }
    });
    let client = Client::new(format!("http://{address}/api/v1"), "first").unwrap();
    for number in 0..20 {
        let tenant = client.with_api_key(format!("tenant-{number}")).unwrap();
        assert!(tenant.vaults().list().await.unwrap().is_empty());
        // The connection returns to the pool in the background.
        sleep(Duration::from_millis(2)).await;
    }
    let opened = connections.load(Ordering::SeqCst);
    assert!(opened <= 3, "{opened} connections for 20 calls, one after the other");
}
