//! Every kind of store, S3 as a server on a real socket, and the settings that choose one.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use futures::stream;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tokio::net::TcpListener;

use super::*;
use crate::domain::Media;
use crate::limits::UPLOAD_BUFFER_BYTES;

/// Longer than anything waits.
const NEVER: Duration = Duration::from_secs(1_000_000);

fn open_folder(folder: &TempDir) -> Blobs {
    Blobs::open(&BlobSetting::Folder(folder.path().to_owned())).unwrap()
}

/// All files, relative to the folder.
fn files(folder: &TempDir) -> Vec<String> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.path().to_owned()]);
    while let Some(below) = folders.pop() {
        for path in std::fs::read_dir(below).unwrap().map(|entry| entry.unwrap().path()) {
            match path.strip_prefix(folder.path()).unwrap().to_str().unwrap() {
                _ if path.is_dir() => folders.push(path),
                MARK => {}
                file => files.push(file.to_owned()),
            }
        }
    }
    files
}

/// A store of each kind; the last one stages uploads as S3 does.
fn stores() -> (TempDir, [Blobs; 3]) {
    let folder = TempDir::new().unwrap();
    let in_folder = open_folder(&folder);
    let like_s3 = Blobs { staging: Staging::s3(), ..Blobs::in_memory() };
    (folder, [Blobs::in_memory(), in_folder, like_s3])
}

async fn collect(blob: Blob) -> Vec<u8> {
    blob.bytes.map_ok(|piece| piece.to_vec()).try_concat().await.unwrap()
}

fn sample(size: usize) -> Bytes {
    (0..size).map(|at| (at % 251) as u8).collect::<Vec<_>>().into()
}

#[tokio::test]
async fn a_file_comes_back_whole_and_in_part() {
    let (_folder, stores) = stores();
    for blobs in stores {
        for size in [0, 1, 300_000] {
            let (name, bytes) = (AssetName::random(Media::Mp4), sample(size));
            assert!(blobs.get(&name, None).await.unwrap().is_none());
            assert!(blobs.get(&name, Some(0..1)).await.unwrap().is_none());
            assert_eq!(blobs.size_of(&name).await.unwrap(), None);
            assert_eq!(blobs.read_all(&name).await.unwrap(), None);

            blobs.put_new(&name, bytes.clone()).await.unwrap();
            let blob = blobs.get(&name, None).await.unwrap().unwrap();
            assert_eq!(blob.size, size as u64);
            assert_eq!(collect(blob).await, bytes);
            assert_eq!(blobs.size_of(&name).await.unwrap(), Some(size as u64));
            assert_eq!(blobs.read_all(&name).await.unwrap(), Some(bytes.clone()));
            for range in [0..1, 299_999..300_000, 100_000..280_000] {
                if range.end > size as u64 {
                    continue;
                }
                let part = blobs.get(&name, Some(range.clone())).await.unwrap().unwrap();
                assert_eq!(part.size, size as u64);
                let expected = bytes.slice(range.start as usize..range.end as usize);
                assert_eq!(collect(part).await, expected, "{range:?}");
            }
        }
    }
}

#[tokio::test]
async fn an_upload_is_visible_once_it_is_finished_and_can_be_examined_before() {
    let (folder, stores) = stores();
    let buffer = UPLOAD_BUFFER_BYTES;
    for blobs in stores {
        for size in [0, 1, buffer - 1, buffer, buffer + 1, 2 * buffer, 20 << 20] {
            for (piece, is_examined) in [(100_000, true), (buffer, false), (3_000_000, true)] {
                let (name, bytes) = (AssetName::random(Media::Png), sample(size));
                let mut upload = blobs.upload();
                for piece in bytes.chunks(piece) {
                    upload.write(piece).await.unwrap();
                }
                let read = |file: &mut (dyn ReadSeek + 'static)| {
                    let mut all = Vec::new();
                    file.rewind()?;
                    file.read_to_end(&mut all)?;
                    file.seek(SeekFrom::Start(all.len() as u64 / 2))?;
                    Ok(all)
                };
                assert!(!is_examined || upload.read(read).await.unwrap() == bytes);
                assert_eq!(blobs.size_of(&name).await.unwrap(), None);
                upload.finish(&name).await.unwrap();
                let stored = blobs.read_all(&name).await.unwrap();
                assert!(stored == Some(bytes), "{size} {piece}");
            }
        }
        let mut dropped = blobs.upload();
        dropped.write(&sample(999_999)).await.unwrap();
    }
    let files = files(&folder);
    assert!(files.len() == 21 && files.iter().all(|file| file.starts_with("images/")), "{files:?}");
}

#[tokio::test]
async fn of_concurrent_puts_of_a_name_one_succeeds() {
    let (_folder, stores) = stores();
    for blobs in stores {
        let name = AssetName::random(Media::Gif);
        let puts = (0..8_u8).map(|number| {
            let (blobs, bytes) = (blobs.clone(), vec![number; 300_000]);
            async move {
                if number % 2 == 0 {
                    return blobs.put_new(&name, bytes.into()).await;
                }
                let mut upload = blobs.upload();
                upload.write(&bytes).await?;
                upload.finish(&name).await
            }
        });
        let outcomes = futures::future::join_all(puts).await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        let winner = outcomes.iter().position(Result::is_ok).unwrap() as u8;
        for outcome in outcomes.into_iter().filter_map(Result::err) {
            assert!(matches!(outcome, PutError::Taken), "{outcome}");
        }
        assert_eq!(blobs.read_all(&name).await.unwrap().unwrap(), vec![winner; 300_000]);
        assert!(matches!(blobs.put_new(&name, Bytes::new()).await, Err(PutError::Taken)));
    }
}

#[tokio::test]
async fn a_folder_keeps_its_files_and_removes_old_temporary_files() {
    let folder = TempDir::new().unwrap();
    let name = AssetName::random(Media::Jpeg);
    open_folder(&folder).put_new(&name, sample(10)).await.unwrap();
    let [old, new] = ["old", "new"].map(|name| folder.path().join(".uploads").join(name));
    for (path, age) in [(&old, 7201), (&new, 7100)] {
        let file = File::create(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }
    let blobs = open_folder(&folder);
    blobs.verify().await.unwrap();
    assert_eq!(blobs.read_all(&name).await.unwrap(), Some(sample(10)));
    assert!(!old.exists() && new.exists());
}

#[tokio::test]
async fn an_unusable_folder_is_named_and_one_that_is_gone_is_seen() {
    let folder = TempDir::new().unwrap();
    let blobs = open_folder(&folder);
    blobs.check().await.unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, b"").unwrap();
    for path in [file.clone(), file.join("below")] {
        let error = Blobs::open(&BlobSetting::Folder(path)).err().unwrap();
        assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
    }
    let blobs = open_folder(&folder);
    std::fs::remove_dir_all(folder.path()).unwrap();
    assert!(blobs.check().await.is_err());
}

#[test]
fn settings_are_parsed() {
    let s3 = |bucket: &str, prefix: &str| {
        Ok(BlobSetting::S3 { bucket: bucket.into(), prefix: prefix.into() })
    };
    for (text, expected) in [
        ("memory:", Ok(BlobSetting::Memory)),
        ("file:./data/blobs", Ok(BlobSetting::Folder("./data/blobs".into()))),
        ("file:/var/lib/a b", Ok(BlobSetting::Folder("/var/lib/a b".into()))),
        ("s3://pictures", s3("pictures", "")),
        ("s3://pictures/", s3("pictures", "")),
        ("s3://my.pictures/a/b/", s3("my.pictures", "a/b")),
        ("", Err("must be memory:")),
        ("memory", Err("must be memory:")),
        ("memory:x", Err("must be memory:")),
        ("/var/lib", Err("must be memory:")),
        ("https://bucket", Err("must be memory:")),
        ("file:", Err("needs a path")),
        ("s3://", Err("needs the name of a bucket")),
        ("s3:///prefix", Err("needs the name of a bucket")),
        ("s3://key:secret@bucket", Err("needs the name of a bucket")),
        ("s3://bucket/a//b", Err("needs a prefix")),
        ("s3://bucket/../b", Err("needs a prefix")),
        ("s3://bucket/a?key=b", Err("needs a prefix")),
    ] {
        match (BlobSetting::parse(text), expected) {
            (Err(error), Err(begin)) => assert!(error.starts_with(begin), "{text}"),
            (parsed, expected) => assert_eq!(parsed.map_err(|_| ""), expected, "{text}"),
        }
    }
}

/// What goes wrong.
#[derive(Clone, Copy, Default)]
enum Fault {
    #[default]
    None,
    /// Every request gets this status, and a body with this error code.
    Refused(u16, &'static str),
    /// A put is carried out, and its connection closed instead of a response.
    ResponseLost,
    /// A put replaces what is there, whatever its condition.
    Replaces,
    /// The key lacks the permission for this method.
    Denied(&'static str),
    /// The key lacks the permission to list, so absence is not told.
    NoList,
}

#[derive(Default)]
struct Bucket {
    files: BTreeMap<String, (Bytes, HeaderMap)>,
    parts: BTreeMap<u32, Bytes>,
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
    let query = parts.uri.query().unwrap_or_default();
    let part = query.split('&').find_map(|part| part.strip_prefix("partNumber=")?.parse().ok());
    Ok(match (bucket.fault, parts.method.as_str()) {
        (Fault::Refused(status, code), _) => refused(status, code),
        (Fault::Denied(denied), method) if denied == method => refused(403, "AccessDenied"),
        (_, "DELETE") => {
            bucket.parts.clear();
            response(204, "")
        }
        (_, "POST") if query.starts_with("uploads") => response(
            200,
            "<InitiateMultipartUploadResult><UploadId>7</UploadId></InitiateMultipartUploadResult>",
        ),
        (_, "POST") => {
            let file: Vec<u8> = bucket.parts.values().flatten().copied().collect();
            let started = bucket.requests.iter().rfind(|(_, of)| of.contains_key("content-type"));
            let headers = started.map(|(_, headers)| headers.clone()).unwrap_or_default();
            bucket.files.insert(path, (file.into(), headers));
            let ended = "<CompleteMultipartUploadResult><ETag>1</ETag>\
                         </CompleteMultipartUploadResult>";
            response(200, ended)
        }
        (fault, "PUT") => {
            let is_once = headers.get("if-none-match").is_some_and(|value| value == "*");
            if let Some(number) = part {
                bucket.parts.insert(number, body);
            } else if is_once
                && bucket.files.contains_key(&path)
                && !matches!(fault, Fault::Replaces)
            {
                return Ok(response(412, ""));
            } else {
                bucket.files.insert(path, (body, headers));
            }
            match fault {
                Fault::ResponseLost => return Err("the response is lost"),
                _ => response(200, ""),
            }
        }
        _ => read(&bucket, &parts.method, &path, &headers),
    })
}

fn response(status: u16, body: &str) -> Response<Full<Bytes>> {
    let response = Response::builder().status(status).header("etag", "\"1\"");
    response.body(body.to_owned().into()).unwrap()
}

fn refused(status: u16, code: &str) -> Response<Full<Bytes>> {
    let secret = "<SignatureProvided>s3cret</SignatureProvided>";
    response(status, &format!("<Error><Code>{code}</Code>{secret}</Error>"))
}

/// The response to GET and HEAD.
fn read(
    bucket: &Bucket,
    method: &Method,
    path: &str,
    headers: &HeaderMap,
) -> Response<Full<Bytes>> {
    let mut response = Response::builder();
    let Some((file, stored)) = bucket.files.get(path).cloned() else {
        if matches!(bucket.fault, Fault::NoList) {
            return refused(403, "AccessDenied");
        }
        return self::response(404, "");
    };
    for (name, value) in stored.iter().filter(|(name, _)| name.as_str().starts_with("x-amz-meta")) {
        response = response.header(name, value);
    }
    let response =
        response.header("etag", "\"1\"").header("last-modified", "Mon, 02 Jan 2006 15:04:05 GMT");
    if *method == Method::HEAD {
        return response.header("content-length", file.len()).body(Full::default()).unwrap();
    }
    let range = headers.get("range").and_then(|range| range.to_str().ok()?.strip_prefix("bytes="));
    let Some((first, last)) = range.and_then(|range| range.split_once('-')) else {
        return response.body(file.into()).unwrap();
    };
    let (first, last) = (first.parse::<usize>().unwrap(), last.parse::<usize>().unwrap());
    let content_range = format!("bytes {first}-{last}/{}", file.len());
    let part = file.slice(first..=last);
    response.status(206).header("content-range", content_range).body(part.into()).unwrap()
}

/// The type that the bucket has for a file.
fn type_of(bucket: &Shared, name: &AssetName) -> String {
    let stored = &bucket.lock().unwrap().files;
    let (_, headers) = &stored[&format!("/pictures/a/b/{}", name.path())];
    headers["content-type"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_large_file_goes_to_s3_in_parts_and_is_not_replaced() {
    let (bucket, endpoint) = start().await;
    let blobs = open("a/b", &endpoint);
    let name = AssetName::random(Media::Mp4);
    let bytes = sample(20 << 20);
    let spool = async || {
        let mut file = blobs.upload();
        for piece in bytes.chunks(1_000_000) {
            file.write(piece).await.unwrap();
        }
        let read = file.read(|file| file.seek(SeekFrom::End(0))).await;
        assert_eq!(read.unwrap(), bytes.len() as u64);
        file
    };
    spool().await.finish(&name).await.unwrap();
    let sizes: Vec<_> = bucket.lock().unwrap().parts.values().map(Bytes::len).collect();
    assert_eq!(sizes, [8 << 20, 8 << 20, 4 << 20]);
    assert!(blobs.read_all(&name).await.unwrap().unwrap() == bytes);
    assert_eq!(type_of(&bucket, &name), "video/mp4");
    assert!(matches!(spool().await.finish(&name).await, Err(PutError::Taken)));
    bucket.lock().unwrap().fault = Fault::Refused(403, "Trouble");
    let refused = spool().await.finish(&AssetName::random(Media::Mp4)).await;
    assert!(matches!(refused, Err(PutError::Failed(_))), "{refused:?}");
}

fn settings(endpoint: &str) -> [(&'static str, &str); 5] {
    [
        ("AWS_ENDPOINT", endpoint),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "s3cret"),
        ("AWS_REGION", "here"),
    ]
}

fn open_with<'a>(
    prefix: &str,
    settings: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Blobs, BlobOpenError> {
    let variables = settings.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    s3::open("pictures", prefix, variables)
}

fn open(prefix: &str, endpoint: &str) -> Blobs {
    open_with(prefix, settings(endpoint)).unwrap()
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
    let mut upload = blobs.upload();
    upload.write(&bytes).await.unwrap();
    upload.finish(&name).await.unwrap();
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
    assert_eq!(type_of(&bucket, &name), "image/png");
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
        bucket.lock().unwrap().fault = Fault::Refused(status, "Trouble");
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
async fn a_bucket_that_does_not_work_is_named_at_the_start_and_seen_later() {
    let (bucket, endpoint) = start().await;
    let blobs = open("a", &endpoint);
    for (status, code) in [(404, "NoSuchBucket"), (403, "AccessDenied"), (400, "Malformed")] {
        bucket.lock().unwrap().fault = Fault::Refused(status, code);
        let error = blobs.verify().await.unwrap_err().to_string();
        assert!(error.contains("cannot be put there") && !error.contains('\n'), "{error}");
        assert!(error.contains(code) || error.contains(&status.to_string()), "{error}");
    }
    bucket.lock().unwrap().fault = Fault::None;
    blobs.verify().await.unwrap();
    // Another server starts.
    open("a", &endpoint).verify().await.unwrap();
    assert_eq!(
        bucket.lock().unwrap().files.keys().collect::<Vec<_>>(),
        ["/pictures/a/.promptarium"]
    );

    let again = open("a", &endpoint);
    again.check().await.unwrap();
    bucket.lock().unwrap().files.clear();
    // It is believed for a moment.
    again.check().await.unwrap();
    assert!(blobs.check().await.is_err());
}

#[tokio::test]
async fn a_bucket_that_replaces_files_is_refused_and_keeps_its_mark() {
    let (bucket, endpoint) = start().await;
    open("", &endpoint).verify().await.unwrap();
    let mark = || bucket.lock().unwrap().files["/pictures/.promptarium"].0.clone();
    let first = mark();
    bucket.lock().unwrap().fault = Fault::Replaces;
    let error = open("", &endpoint).verify().await.unwrap_err().to_string();
    assert!(
        error.contains("ignores `If-None-Match: *`") && error.contains("s3://pictures"),
        "{error}"
    );
    assert_eq!(mark(), first);
    assert_eq!(first.len(), 32);
}

#[tokio::test]
async fn a_permission_that_is_missing_is_named_at_the_start() {
    let (bucket, endpoint) = start().await;
    for (method, permission) in [("PUT", "write (s3:PutObject)"), ("GET", "read (s3:GetObject)")] {
        bucket.lock().unwrap().fault = Fault::Denied(method);
        let error = open("", &endpoint).verify().await.unwrap_err().to_string();
        assert!(error.contains(permission) && error.starts_with("--blob-store: s3://"), "{error}");
    }
}

#[tokio::test]
async fn a_file_that_is_absent_is_so_without_the_permission_to_list() {
    let (bucket, endpoint) = start().await;
    let blobs = open("", &endpoint);
    bucket.lock().unwrap().fault = Fault::NoList;
    let name = AssetName::random(Media::Png);
    assert!(blobs.size_of(&name).await.is_err());
    blobs.verify().await.unwrap();
    assert_eq!(blobs.size_of(&name).await.unwrap(), None);
    assert!(blobs.get(&name, Some(0..1)).await.unwrap().is_none());
    assert!(blobs.read_all(&name).await.unwrap().is_none());
    blobs.put_new(&name, sample(3)).await.unwrap();
    assert_eq!(blobs.read_all(&name).await.unwrap(), Some(sample(3)));
    // Where the permission is there, 403 has another reason.
    bucket.lock().unwrap().fault = Fault::None;
    let blobs = open("", &endpoint);
    blobs.verify().await.unwrap();
    bucket.lock().unwrap().fault = Fault::Denied("HEAD");
    assert!(blobs.size_of(&AssetName::random(Media::Png)).await.is_err());
}

#[test]
fn variables_of_s3_are_checked() {
    for (name, value, expected) in [
        ("AWS_ENDPOINT", "127.0.0.1:9000", Some("AWS_ENDPOINT must be http://HOST:PORT")),
        ("AWS_ENDPOINT_URL", "localhost:9000", Some("AWS_ENDPOINT_URL must be")),
        ("AWS_ENDPOINT_URL_S3", "minio", Some("AWS_ENDPOINT_URL_S3 must be")),
        ("AWS_ENDPOINT", "http://", Some("AWS_ENDPOINT must be")),
        ("AWS_SECRET_ACCESS_KEY", "s3cret\n", Some("AWS_SECRET_ACCESS_KEY has a character")),
        ("AWS_REGION", "hïer", Some("AWS_REGION has a character")),
        ("AWS_ALLOW_HTTP", "0", Some("AWS_ENDPOINT begins with http://")),
        ("AWS_ALLOW_HTTP", "1", None),
        ("AWS_ALLOW_HTTP", "TRUE", None),
        ("AWS_SESSION_TOKEN", "", None),
        ("AWS_ALLOW_HTTP", "", Some("AWS_ALLOW_HTTP=true")),
        ("AWS_ACCESS_KEY_ID", "", Some("AccessKeyId")),
    ] {
        let usual = settings("http://127.0.0.1:1").into_iter().filter(|(usual, _)| *usual != name);
        let error = open_with("", usual.chain([(name, value)])).err().map(|e| e.to_string());
        let error = error.as_deref();
        assert_eq!(error.is_some(), expected.is_some(), "{name}={value:?}: {error:?}");
        let (error, expected) = (error.unwrap_or_default(), expected.unwrap_or_default());
        assert!(error.contains(expected) && !error.contains("s3cret"), "{error}");
    }
}

/// How long each step takes with a store that does not answer.
#[tokio::test(start_paused = true)]
async fn a_silent_store_fails_each_step_within_ten_seconds() {
    let silent = Blobs::slow_in_both(NEVER, NEVER);
    let name = AssetName::random(Media::Png);
    let limit = Duration::from_secs(10);
    assert!(timeout(limit, silent.size_of(&name)).await.unwrap().is_err());
    assert!(timeout(limit, silent.get(&name, None)).await.unwrap().is_err());
    let put = timeout(limit, silent.put_new(&name, Bytes::from_static(b"x"))).await.unwrap();
    assert!(matches!(put, Err(PutError::Failed(_))), "{put:?}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_put_is_waited_for_while_the_store_answers() {
    let slow = Blobs::slow(Duration::from_secs(50));
    let name = AssetName::random(Media::Png);
    slow.put_new(&name, Bytes::from_static(b"x")).await.unwrap();
    assert_eq!(slow.size_of(&name).await.unwrap(), Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_response_that_stops_coming_ends_with_an_error() {
    let first = stream::iter([Ok(Bytes::from_static(b"x"))]);
    let mut pieces = pieces_in_time(BLOBS_TIMEOUT, first.chain(stream::pending()).boxed());
    assert!(pieces.next().await.unwrap().is_ok());
    let next = timeout(2 * BLOBS_TIMEOUT, pieces.next()).await.unwrap();
    assert!(next.unwrap().is_err());
}

#[test]
fn the_text_has_no_xml_and_no_asset_name() {
    let xml = "403 Forbidden: <?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code>\
               <SignatureProvided>s3cret</SignatureProvided></Error>";
    let name = "0123456789abcdefghijklmno0.png";
    for (text, expected) in [
        (xml, "403 Forbidden: SignatureDoesNotMatch"),
        ("500: <html>s3cret", "500"),
        ("500: <Code>s3 cret</Code>", "500"),
        ("no response", "no response"),
        (
            &format!("PUT http://h/b/images/{name}: {name}. x"),
            "PUT http://h/b/images/<asset>: <asset>. x",
        ),
        (&format!("\"{name}\", /x/{name}#1"), "\"<asset>\", /x/<asset>#1"),
    ] {
        let source = io::Error::other(text.to_owned());
        assert_eq!(BlobError::from(source).text, expected);
    }
}

#[test]
fn a_full_disk_is_recognised_in_the_causes() {
    let full = Box::new(io::Error::from(io::ErrorKind::StorageFull));
    let wrapped = object_store::Error::Generic { store: "t", source: full };
    assert!(BlobError::from(wrapped).is_full());
    assert!(!BlobError::from(io::Error::from(io::ErrorKind::PermissionDenied)).is_full());
}
