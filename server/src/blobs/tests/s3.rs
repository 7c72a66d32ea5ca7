//! Against a stand-in for S3 on a real socket.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use super::super::setting::open_s3;
use super::*;

/// What goes wrong.
#[derive(Clone, Copy, Default)]
enum Fault {
    #[default]
    None,
    /// Every request gets this status.
    Status(StatusCode),
    /// A put is carried out, and its connection closed instead of a response.
    ResponseLost,
}

#[derive(Default)]
struct Bucket {
    files: BTreeMap<String, (Bytes, HeaderMap)>,
    requests: Vec<(Method, HeaderMap)>,
    fault: Fault,
}

type Shared = Arc<Mutex<Bucket>>;

async fn start() -> (Shared, String) {
    let bucket = Shared::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let shared = bucket.clone();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let shared = shared.clone();
            let service = service_fn(move |request| respond(shared.clone(), request));
            let builder = hyper::server::conn::http1::Builder::new();
            tokio::spawn(builder.serve_connection(TokioIo::new(stream), service));
        }
    });
    (bucket, endpoint)
}

async fn respond(
    bucket: Shared,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, &'static str> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let mut bucket = bucket.lock().unwrap();
    let (path, headers) = (parts.uri.path().to_owned(), parts.headers);
    bucket.requests.push((parts.method.clone(), headers.clone()));
    let mut response = Response::builder();
    if let Fault::Status(status) = bucket.fault {
        let body =
            "<Error><Code>Trouble</Code><SignatureProvided>s3cret</SignatureProvided></Error>";
        return Ok(response.status(status).body(body.into()).unwrap());
    }
    if parts.method == Method::PUT {
        if headers.get("if-none-match").is_some_and(|value| value == "*")
            && bucket.files.contains_key(&path)
        {
            return Ok(response.status(412).body(Full::default()).unwrap());
        }
        bucket.files.insert(path, (body, headers));
        if matches!(bucket.fault, Fault::ResponseLost) {
            return Err("the response is lost");
        }
        return Ok(response.header("etag", "\"1\"").body(Full::default()).unwrap());
    }
    let Some((file, stored)) = bucket.files.get(&path).cloned() else {
        return Ok(response.status(404).body(Full::default()).unwrap());
    };
    for (name, value) in stored.iter().filter(|(name, _)| name.as_str().starts_with("x-amz-meta")) {
        response = response.header(name, value);
    }
    let response =
        response.header("etag", "\"1\"").header("last-modified", "Mon, 02 Jan 2006 15:04:05 GMT");
    if parts.method == Method::HEAD {
        return Ok(response.header("content-length", file.len()).body(Full::default()).unwrap());
    }
    let range = headers.get("range").and_then(|range| range.to_str().ok()?.strip_prefix("bytes="));
    let Some((first, last)) = range.and_then(|range| range.split_once('-')) else {
        return Ok(response.body(file.into()).unwrap());
    };
    let (first, last) = (first.parse::<usize>().unwrap(), last.parse::<usize>().unwrap());
    let content_range = format!("bytes {first}-{last}/{}", file.len());
    let part = file.slice(first..=last);
    Ok(response.status(206).header("content-range", content_range).body(part.into()).unwrap())
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

fn open(prefix: &str, endpoint: &str) -> Blobs {
    open_s3("pictures", prefix, variables(endpoint).into_iter()).unwrap()
}

#[tokio::test]
async fn a_file_is_put_once_by_a_signed_request_and_read_whole_or_in_part() {
    let (bucket, endpoint) = start().await;
    let blobs = open("a/b", &endpoint);
    let name = AssetName::random(Media::Png);
    assert!(blobs.get(&name, None).await.unwrap().is_none());
    assert_eq!(blobs.size_of(&name).await.unwrap(), None);
    bucket.lock().unwrap().requests.clear();

    let bytes = sample(300_000);
    let mut upload = blobs.upload(&name, 300_000);
    upload.write(&bytes).await.unwrap();
    upload.finish().await.unwrap();
    {
        let bucket = bucket.lock().unwrap();
        let (method, headers) = bucket.requests.first().unwrap();
        assert_eq!(*method, Method::PUT);
        let signature = headers["authorization"].to_str().unwrap();
        assert!(signature.starts_with("AWS4-HMAC-SHA256 Credential=id/"), "{signature}");
        assert!(signature.contains("/here/s3/aws4_request"), "{signature}");
        assert!(!format!("{headers:?}").contains("s3cret"));
        let key = format!("/pictures/a/b/images/{name}");
        assert_eq!(bucket.files.keys().collect::<Vec<_>>(), [&key]);
    }
    let again = blobs.put_new(&name, Bytes::from_static(b"other")).await;
    assert!(matches!(again, Err(PutError::Taken)), "{again:?}");
    assert_eq!(blobs.size_of(&name).await.unwrap(), Some(300_000));
    assert_eq!(blobs.read_all(&name).await.unwrap().unwrap(), bytes);
    let part = blobs.get(&name, Some(2..5)).await.unwrap().unwrap();
    assert_eq!(part.size, 300_000);
    assert_eq!(collect(part).await, bytes[2..5]);
}

#[tokio::test]
async fn a_put_whose_response_is_lost_has_succeeded() {
    let (bucket, endpoint) = start().await;
    let (blobs, name) = (open("", &endpoint), AssetName::random(Media::Png));
    bucket.lock().unwrap().fault = Fault::ResponseLost;
    blobs.put_new(&name, Bytes::from_static(b"x")).await.unwrap();
    let again = blobs.put_new(&name, Bytes::from_static(b"x")).await;
    assert!(matches!(again, Err(PutError::Taken)), "{again:?}");
}

#[tokio::test]
async fn an_error_contains_no_response_body_and_no_asset_name() {
    let (bucket, endpoint) = start().await;
    let (blobs, name) = (open("", &endpoint), AssetName::random(Media::Png));
    for status in [500, 503, 507, 403] {
        bucket.lock().unwrap().fault = Fault::Status(StatusCode::from_u16(status).unwrap());
        let outcome = blobs.put_new(&name, Bytes::from_static(b"x")).await;
        let Err(PutError::Failed(error)) = outcome else { panic!("{outcome:?}") };
        let text = format!("{error} {error:?}");
        assert!(text.contains(&status.to_string()), "{text}");
        assert!(!text.contains("s3cret") && !text.contains(&name.to_string()), "{text}");
        assert!(blobs.size_of(&name).await.is_err());
    }
    bucket.lock().unwrap().fault = Fault::None;
    blobs.put_new(&name, Bytes::from_static(b"x")).await.unwrap();

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nowhere = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = open("", &nowhere).size_of(&name).await.unwrap_err().to_string();
    assert!(error.contains("refused") && !error.contains(&name.to_string()), "{error}");
}

#[tokio::test]
async fn incomplete_settings_are_refused_at_the_start() {
    for (missing, expected) in
        [("AWS_ALLOW_HTTP", "AWS_ALLOW_HTTP=true"), ("AWS_ACCESS_KEY_ID", "AccessKeyId")]
    {
        let mut variables = variables("http://127.0.0.1:1");
        variables.retain(|(name, _)| name != missing);
        let error = open_s3("pictures", "", variables.into_iter()).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("s3cret"), "{error}");
    }
}
