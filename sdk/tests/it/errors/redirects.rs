//! Redirects that are followed, and those that are errors.

use insta::assert_snapshot;
use promptarium::{Client, Error};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::kinds;
use crate::stub::{KEY, answering, client, envelope, failure, get, prompt};

#[tokio::test]
async fn redirects_to_another_origin_are_not_followed() {
    let elsewhere = answering(ResponseTemplate::new(200)).await;
    let target = format!("{}/api/v1/prompts/7?token=s3cret", elsewhere.uri());
    let answer = |status| ResponseTemplate::new(status).insert_header("location", target.as_str());
    for status in [301, 302, 303, 307, 308] {
        let error = failure(answer(status)).await;
        assert_eq!(kinds(&error), "redirect");
        assert_eq!(error.status().unwrap(), status);
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }
    assert!(elsewhere.received_requests().await.unwrap().is_empty());

    let named = ResponseTemplate::new(301).insert_header("location", "https://a:b@new.example/x?y");
    assert_snapshot!(failure(named).await, @"GET /prompts/{promptId}: 301 Moved Permanently redirects to https://new.example/x; not followed: the API key is not sent to another origin");
    let none = ResponseTemplate::new(302);
    assert_snapshot!(failure(none).await, @"GET /prompts/{promptId}: 302 Found has no valid Location");
}

/// The error of a redirect to this path, with the number of requests.
async fn redirected<C, T: std::fmt::Debug>(
    location: &str,
    make: impl FnOnce(&Client) -> C,
) -> (String, usize)
where
    C: IntoFuture<Output = Result<T, Error>>,
{
    let moved = ResponseTemplate::new(307).insert_header("location", location);
    let server = answering(moved).await;
    let error = make(&client(server.uri())).await.unwrap_err();
    assert_eq!(kinds(&error), "redirect");
    let requests = server.received_requests().await.unwrap().len();
    (error.to_string().replace(&server.uri(), "HOST"), requests)
}

#[tokio::test]
async fn a_get_follows_redirects_below_the_base_url_with_the_key() {
    let server = MockServer::start().await;
    for status in [301, 302, 303, 307, 308] {
        let port = server.address().port();
        let with_user = format!("http://a:b@127.0.0.1:{port}/api/v1/x");
        for location in ["/api/v1/prompts/7/", "7/", "?x", &with_user] {
            server.reset().await;
            let moved = ResponseTemplate::new(status).insert_header("location", location);
            let ok = ResponseTemplate::new(200).set_body_json(envelope(&prompt(7)));
            Mock::given(any()).respond_with(moved).up_to_n_times(1).mount(&server).await;
            Mock::given(any()).respond_with(ok).mount(&server).await;
            let answer = get(&client(server.uri())).send_with_meta().await.unwrap();
            assert_eq!(answer.meta.attempts(), 1, "a redirect is not a retry");
            let requests = server.received_requests().await.unwrap();
            assert_eq!(requests.len(), 2);
            assert_ne!(requests[0].url, requests[1].url);
            assert_eq!(requests[1].headers["authorization"], format!("Bearer {KEY}"));
        }
    }
}

#[tokio::test]
async fn other_redirects_of_the_same_origin_are_refused_with_the_reason() {
    for outside in ["/login?next=x", "/api/v10/prompts", "/api/v1/../v2/x", "/api/v1/%2e%2e/x"] {
        let (text, requests) = redirected(outside, get).await;
        assert!(
            text.ends_with(
                "; not followed: the API key is not sent to URLs outside of the base URL"
            ),
            "{text}"
        );
        assert_eq!(requests, 1);
    }
    let (text, requests) =
        redirected("/api/v1/x", |client| client.prompts().create("t", "p")).await;
    assert_snapshot!(text, @"POST /prompts: 307 Temporary Redirect redirects to HOST/api/v1/x; not followed: only GET requests are redirected (it is unknown whether the service carried it out)");
    assert_eq!(requests, 1);
    let (text, requests) = redirected("/api/v1/x", get).await;
    assert_snapshot!(text, @"GET /prompts/{promptId}: 307 Temporary Redirect redirects to HOST/api/v1/x; not followed: there were 5 redirects before");
    assert_eq!(requests, 6);
}

#[tokio::test]
async fn a_response_from_another_url_is_an_error_and_got_no_key() {
    let ok = ResponseTemplate::new(200).set_body_json(envelope(&prompt(7)));
    let elsewhere = answering(ok).await;
    let target = format!("http://localhost:{}/x?y", elsewhere.address().port());
    let answer = ResponseTemplate::new(302).insert_header("location", target.as_str());
    let server = answering(answer).await;
    let client = Client::builder().base_url(server.uri()).api_key(KEY);
    let client = client.http_client(reqwest::Client::new()).build().unwrap();
    let error = get(&client).await.unwrap_err();
    let text = error.to_string().replace(&elsewhere.address().port().to_string(), "PORT");
    assert_snapshot!(text, @"GET /prompts/{promptId}: 200 OK from http://localhost:PORT/x: the HTTP client followed a redirect; build it with `redirect::Policy::none()`");
    let requests = elsewhere.received_requests().await.unwrap();
    assert_eq!(requests.len(), 1);
    assert!(!requests[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_location_in_raw_utf_8_is_followed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = tokio::spawn(async move {
        let mut heads = Vec::new();
        let body = envelope(&prompt(7)).to_string();
        let moved = "HTTP/1.1 307 Moved\r\nlocation: /api/v1/h\u{e4}fen/7?\u{fc}=1\r\n".to_owned();
        let moved = moved + "content-length: 0\r\nconnection: close\r\n\r\n";
        let found = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        for answer in [moved, found] {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let read = stream.read(&mut request).await.unwrap();
            heads.push(String::from_utf8_lossy(&request[..read]).into_owned());
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        heads
    });
    assert_eq!(get(&client(format!("http://{address}"))).await.unwrap().title, "Prompt 7");
    let heads = served.await.unwrap();
    assert!(heads[1].starts_with("GET /api/v1/h%C3%A4fen/7?%C3%BC=1 HTTP/1.1"), "{}", heads[1]);
}
