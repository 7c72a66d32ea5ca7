//! Error responses whose body does not arrive.

use std::time::Duration;

use promptarium::testing::{Answer, Script, builder, client, fixture};
use promptarium::{PromptId, RetryPolicy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::stub::{get, patient};

#[tokio::test(start_paused = true)]
async fn a_stalled_error_body_delays_its_status_by_two_seconds_at_most() {
    for status in [503, 400, 404] {
        let script = Script::new();
        script.any().always(Answer::error(status, "a long message").stall_at(20));
        let client = builder(&script).retry(RetryPolicy::never()).build().unwrap();
        let start = Instant::now();
        let error = client.prompts().get(PromptId::new(7)).await.unwrap_err();
        assert_eq!((error.status().unwrap().as_u16(), error.is_timeout()), (status, false));
        assert!(start.elapsed() <= Duration::from_millis(2010), "{:?}", start.elapsed());
        assert!(error.to_string().contains(r#"{"data":null"#), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_follows_soon_after_a_stalled_error_body() {
    let script = Script::new();
    let answers = script.get("/prompts/7").answer(Answer::error(503, "busy").stall_at(3));
    answers.answer(Answer::data(&fixture::prompt()));
    let (client, start) = (client(&script), Instant::now());
    client.prompts().get(PromptId::new(7)).await.unwrap();
    assert!(start.elapsed() < Duration::from_millis(2250), "{:?}", start.elapsed());
}

#[tokio::test]
async fn an_error_body_that_drips_delays_its_status_by_about_two_seconds() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 4096]).await;
        let head = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 9000\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    let client = patient(format!("http://{address}")).retry(RetryPolicy::never()).build().unwrap();
    let start = Instant::now();
    let error = get(&client).await.unwrap_err();
    assert_eq!(error.status().unwrap(), 503);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert!(error.body().unwrap().len() > 3);
}
