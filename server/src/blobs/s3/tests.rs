//! Against a stand-in for S3 on a real socket.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::TryStreamExt;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;

use super::super::{AssetName, Blobs, PutError};
use super::*;
use crate::domain::Media;

/// What it keeps, what it was asked, and what is wrong with it.
#[derive(Default)]
struct Bucket {
    files: BTreeMap<String, Bytes>,
    asked: Vec<(Method, String, HeaderMap)>,
    broken: Option<StatusCode>,
}

type Shared = Arc<Mutex<Bucket>>;

async fn stand_in() -> (Shared, String) {
    let bucket = Shared::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let shared = bucket.clone();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let shared = shared.clone();
            tokio::spawn(async move {
                let service = service_fn(move |request| answer(shared.clone(), request));
                let builder = auto::Builder::new(TokioExecutor::new());
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    (bucket, address)
}

async fn answer(
    bucket: Shared,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let mut bucket = bucket.lock().unwrap();
    let path = parts.uri.path().to_owned();
    bucket.asked.push((parts.method.clone(), path.clone(), parts.headers.clone()));
    let answer = Response::builder();
    if let Some(status) = bucket.broken {
        let said =
            "<Error><Code>Trouble</Code><SignatureProvided>s3cret</SignatureProvided></Error>";
        return Ok(answer.status(status).body(said.into()).unwrap());
    }
    if parts.method == Method::PUT {
        if parts.headers.get("if-none-match").is_some_and(|value| value == "*")
            && bucket.files.contains_key(&path)
        {
            return Ok(answer.status(412).body(Full::default()).unwrap());
        }
        bucket.files.insert(path, body);
        return Ok(answer.header("etag", "\"1\"").body(Full::default()).unwrap());
    }
    let Some(file) = bucket.files.get(&path).cloned() else {
        return Ok(answer.status(404).body(Full::default()).unwrap());
    };
    let answer =
        answer.header("etag", "\"1\"").header("last-modified", "Mon, 02 Jan 2006 15:04:05 GMT");
    if parts.method == Method::HEAD {
        return Ok(answer.header("content-length", file.len()).body(Full::default()).unwrap());
    }
    let range =
        parts.headers.get("range").and_then(|range| range.to_str().ok()?.strip_prefix("bytes="));
    let Some((first, last)) = range.and_then(|range| range.split_once('-')) else {
        return Ok(answer.body(file.into()).unwrap());
    };
    let (first, last) = (first.parse::<usize>().unwrap(), last.parse::<usize>().unwrap());
    let of = format!("bytes {first}-{last}/{}", file.len());
    let part = file.slice(first..=last);
    Ok(answer.status(206).header("content-range", of).body(part.into()).unwrap())
}

fn variables(endpoint: &str) -> Vec<(String, String)> {
    [
        ("AWS_ENDPOINT", endpoint),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "s3cret"),
        ("AWS_REGION", "here"),
        ("AWS_NOT_A_SETTING", "x"),
        ("OTHER", "x"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

fn blobs(prefix: &str, endpoint: &str) -> Blobs {
    Blobs::over(open("pictures", prefix, variables(endpoint)).unwrap())
}

#[tokio::test]
async fn a_file_goes_in_once_and_comes_out_whole_or_in_part() {
    let (bucket, endpoint) = stand_in().await;
    let blobs = blobs("a/b", &endpoint);
    let name = AssetName::random(Media::Png);
    assert!(blobs.get(&name).await.unwrap().is_none());
    assert_eq!(blobs.size_of(&name).await.unwrap(), None);

    let pieces = ["01", "23456", "789"].map(Bytes::from);
    blobs.put_new_of(&name, pieces.to_vec()).await.unwrap();
    let again = blobs.put_new(&name, Bytes::from_static(b"other")).await;
    assert!(matches!(again, Err(PutError::Taken)), "{again:?}");

    let key = format!("/pictures/a/b/images/{name}");
    assert_eq!(bucket.lock().unwrap().files.keys().collect::<Vec<_>>(), [&key]);
    assert_eq!(blobs.size_of(&name).await.unwrap(), Some(10));
    assert_eq!(blobs.read_all(&name).await.unwrap().unwrap(), "0123456789");
    let part = blobs.get_range(&name, 2..5).await.unwrap().unwrap();
    assert_eq!(part.size, 10);
    let bytes = part.bytes.map_ok(|piece| piece.to_vec()).try_concat().await.unwrap();
    assert_eq!(bytes, b"234");
}

#[tokio::test]
async fn requests_are_signed_and_the_secret_stays_here() {
    let (bucket, endpoint) = stand_in().await;
    blobs("", &endpoint)
        .put_new(&AssetName::random(Media::Png), Bytes::from_static(b"x"))
        .await
        .unwrap();
    let bucket = bucket.lock().unwrap();
    let (method, _, headers) = bucket.asked.first().unwrap();
    assert_eq!(*method, Method::PUT);
    let signature = headers["authorization"].to_str().unwrap();
    assert!(signature.starts_with("AWS4-HMAC-SHA256 Credential=id/"), "{signature}");
    assert!(
        signature.contains("/here/s3/aws4_request") && !format!("{headers:?}").contains("s3cret")
    );
}

#[tokio::test]
async fn of_several_at_once_one_is_put() {
    let (_bucket, endpoint) = stand_in().await;
    let blobs = blobs("", &endpoint);
    let name = AssetName::random(Media::Png);
    let puts = (0..6_u8).map(|number| blobs.put_new(&name, vec![number; 1_000].into()));
    let outcomes = futures::future::join_all(puts).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    let taken = outcomes.iter().filter(|outcome| matches!(outcome, Err(PutError::Taken)));
    assert_eq!(taken.count(), 5);
}

#[tokio::test]
async fn a_failure_is_told_without_what_the_store_said() {
    let (bucket, endpoint) = stand_in().await;
    let blobs = blobs("", &endpoint);
    let name = AssetName::random(Media::Png);
    for status in [500, 503, 507, 403] {
        bucket.lock().unwrap().broken = Some(StatusCode::from_u16(status).unwrap());
        let outcome = blobs.put_new(&name, Bytes::from_static(b"x")).await;
        let Err(PutError::Failed(error)) = outcome else { panic!("{outcome:?}") };
        let said = format!("{error} {error:?}");
        assert!(said.contains(&status.to_string()) && !said.contains("s3cret"), "{said}");
        assert!(blobs.get(&name).await.is_err() && blobs.size_of(&name).await.is_err());
    }
    bucket.lock().unwrap().broken = None;
    assert!(blobs.get(&name).await.unwrap().is_none());
    blobs.put_new(&name, Bytes::from_static(b"x")).await.unwrap();
}

#[tokio::test]
async fn plain_http_has_to_be_allowed() {
    let (bucket, endpoint) = stand_in().await;
    let mut variables = variables(&endpoint);
    variables.retain(|(name, _)| name != "AWS_ALLOW_HTTP");
    let blobs = Blobs::over(open("pictures", "", variables).unwrap());
    let error = blobs.get(&AssetName::random(Media::Png)).await.unwrap_err().to_string();
    assert!(error.contains("AWS_ALLOW_HTTP"), "{error}");
    assert!(bucket.lock().unwrap().asked.is_empty());
}

#[tokio::test]
async fn nobody_there_is_a_failure_like_any_other() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = blobs("", &endpoint).size_of(&AssetName::random(Media::Png)).await.unwrap_err();
    assert!(error.to_string().contains("no connection"), "{error}");
}

#[test]
fn half_a_credential_is_told_at_the_start() {
    let mut variables = variables("http://127.0.0.1:1");
    variables.retain(|(name, _)| name != "AWS_ACCESS_KEY_ID");
    let error = open("pictures", "", variables).unwrap_err().to_string();
    assert!(error.contains("AccessKeyId") && !error.contains("s3cret"), "{error}");
}
