//! Every kind of store, S3 as a server on a real socket, and the settings that choose one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use bytes::BytesMut;
use futures::future::join_all;
use futures::{TryStreamExt, stream};
use http::HeaderMap;
use tempfile::TempDir;
use tokio::net::TcpListener;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::setting::BlobSetting;
use super::*;
use crate::clock::Clock;
use crate::domain::Media;
use crate::limits::UPLOAD_BUFFER_BYTES;
use crate::store::memory::MemoryStore;

/// Longer than anything waits.
const NEVER: Duration = Duration::from_secs(1_000_000);

fn open_folder(folder: &TempDir) -> Blobs {
    Blobs::in_folder(folder.path()).unwrap()
}

/// A store of each kind; the last one takes uploads as S3 does.
fn stores() -> (TempDir, [Blobs; 3]) {
    let folder = TempDir::new().unwrap();
    let in_folder = open_folder(&folder);
    let like_s3 = Blobs { place: s3::S3::place(), ..Blobs::in_memory() };
    (folder, [Blobs::in_memory(), in_folder, like_s3])
}

fn sample(size: usize) -> Bytes {
    (0..size).map(|at| (at % 251) as u8).collect::<Vec<_>>().into()
}

#[tokio::test]
async fn reading_a_file_that_becomes_shorter_meanwhile_fails() {
    let folder = TempDir::new().unwrap();
    let (blobs, name) = (open_folder(&folder), AssetName::random(Media::Mp4));
    assert!(blobs.put_new(&name, sample(300_000)).await.unwrap());
    let got = blobs.get(&name, None).await.unwrap().unwrap();
    let path = folder.path().join(key(&name).as_ref());
    File::options().write(true).open(path).unwrap().set_len(100_000).unwrap();
    assert!(got.bytes.try_collect::<Vec<_>>().await.is_err());
}

#[tokio::test]
async fn an_upload_is_visible_whole_and_in_part_once_it_is_finished_and_can_be_examined_before() {
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
                let read = |file: &mut File| {
                    let mut all = Vec::new();
                    file.rewind()?;
                    io::Read::read_to_end(file, &mut all)?;
                    file.seek(SeekFrom::Start(all.len() as u64 / 2))?;
                    Ok(all)
                };
                assert!(!is_examined || upload.read(read).await.unwrap() == bytes);
                assert_eq!(blobs.size_of(&name).await.unwrap(), None);
                assert_eq!(blobs.read_all(&name, u64::MAX).await.unwrap(), None);
                assert!(blobs.get(&name, Some(0..1)).await.unwrap().is_none());
                assert!(upload.finish(&name).await.unwrap());
                assert_eq!(blobs.size_of(&name).await.unwrap(), Some(size as u64));
                let stored = blobs.read_all(&name, u64::MAX).await.unwrap();
                assert!(stored.as_ref() == Some(&bytes), "{size} {piece}");
                if size > 0 {
                    let (half, end) = (size as u64 / 2, size as u64);
                    let part = blobs.get(&name, Some(half..end)).await.unwrap().unwrap();
                    assert_eq!(part.size, end);
                    let part = part.bytes.try_collect::<BytesMut>().await.unwrap();
                    assert!(part == bytes[size / 2..], "{size}");
                }
            }
        }
        let mut dropped = blobs.upload();
        dropped.write(&sample(999_999)).await.unwrap();
    }
    for (below, count) in [("images", 21), ("videos", 0), (".uploads", 0)] {
        let files = fs::read_dir(folder.path().join(below)).unwrap();
        assert_eq!(files.count(), count, "{below}");
    }
}

#[tokio::test]
async fn of_concurrent_puts_of_a_name_one_succeeds() {
    let (_folder, stores) = stores();
    for blobs in stores {
        let name = AssetName::random(Media::Gif);
        // Some do not fit into the buffer.
        let file = |number: u8| vec![number; if number.is_multiple_of(2) { 10 } else { 300_000 }];
        let puts =
            (0..8).map(async |number| blobs.put_new(&name, file(number).into()).await.unwrap());
        let mut winners =
            join_all(puts).await.into_iter().enumerate().filter(|(_, is_new)| *is_new);
        let winner = winners.next().unwrap().0 as u8;
        assert!(winners.next().is_none());
        assert_eq!(blobs.read_all(&name, u64::MAX).await.unwrap().unwrap(), file(winner));
        assert!(!blobs.put_new(&name, Bytes::new()).await.unwrap());
    }
}

#[tokio::test]
async fn a_folder_keeps_its_files_and_removes_old_temporary_files_and_is_seen_when_it_is_gone() {
    let folder = TempDir::new().unwrap();
    let name = AssetName::random(Media::Jpeg);
    assert!(open_folder(&folder).put_new(&name, sample(10)).await.unwrap());
    let [old, new] = ["old", "new"].map(|name| folder.path().join(".uploads").join(name));
    for (path, age) in [(&old, 7201), (&new, 7100)] {
        let file = File::create(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }
    let blobs = open_folder(&folder);
    assert_eq!(blobs.read_all(&name, u64::MAX).await.unwrap(), Some(sample(10)));
    assert!(!old.exists() && new.exists());
    // A file in place of a folder.
    for path in [new.clone(), new.join("below")] {
        let error = Blobs::in_folder(&path).err().unwrap();
        assert!(error.to_string().contains(new.to_str().unwrap()), "{error}");
    }
    open_folder(&folder).check().await.unwrap();
    fs::remove_dir_all(folder.path()).unwrap();
    assert!(blobs.check().await.is_err());
}

#[tokio::test]
async fn another_folder_than_the_one_with_the_files_of_the_store_is_refused() {
    let store = MemoryStore::new(Clock::System);
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    for (at, accepted) in [(0, true), (1, false), (0, true)] {
        let blobs = open_folder(&folders[at]);
        blobs.verify().await.unwrap();
        let outcome = blobs.check_mark(&store).await.map_err(|error| error.to_string());
        assert_eq!(outcome.is_ok(), accepted, "{outcome:?}");
        for folder in folders.iter().filter(|_| !accepted) {
            assert!(outcome.as_ref().unwrap_err().contains(folder.path().to_str().unwrap()));
        }
    }
    // The mark counts, not the place.
    fs::copy(folders[0].path().join(MARK), folders[1].path().join(MARK)).unwrap();
    open_folder(&folders[1]).check_mark(&store).await.unwrap();
}

#[tokio::test]
async fn the_mark_of_a_folder_is_put_as_files_are() {
    let folder = TempDir::new().unwrap();
    // The puts of the library need hard links.
    let blobs = Blobs { store: Arc::new(InMemory::new()), ..open_folder(&folder) };
    blobs.verify().await.unwrap();
    let mark = || fs::read(folder.path().join(MARK)).unwrap();
    let first = mark();
    blobs.verify().await.unwrap();
    assert_eq!((first.len(), mark()), (32, first));
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
        ("s3://", Err("needs a bucket")),
        ("s3:///prefix", Err("needs a bucket")),
        ("s3://key:secret@bucket", Err("needs a bucket")),
        ("s3://bucket/a//b", Err("needs a bucket")),
        ("s3://bucket/../b", Err("needs a bucket")),
        ("s3://bucket/a?key=b", Err("needs a bucket")),
    ] {
        match (BlobSetting::parse(text), expected) {
            (Err(error), Err(begin)) => assert!(error.starts_with(begin), "{text}"),
            (parsed, expected) => assert_eq!(parsed.map_err(|_| ""), expected, "{text}"),
        }
    }
}

/// What goes wrong.
#[derive(Clone, Copy, Default, PartialEq)]
enum Fault {
    #[default]
    None,
    /// Requests of this method, or all if it is empty, get this status, and a body with this code.
    Refused(&'static str, u16, &'static str),
    /// A put is carried out, and answered as if it was not.
    ResponseLost,
    /// A put replaces what is there, whatever its condition.
    Replaces,
    /// The key lacks the permission to list, so absence is not told.
    NoList,
}

/// An S3 server.
#[derive(Default)]
struct Bucket {
    files: BTreeMap<String, (Bytes, HeaderMap)>,
    parts: BTreeMap<u32, Bytes>,
    /// Of the upload in parts.
    headers: HeaderMap,
    fault: Fault,
}

struct S3(Arc<Mutex<Bucket>>, MockServer);

impl S3 {
    async fn start() -> Self {
        let (bucket, server) = (Arc::<Mutex<Bucket>>::default(), MockServer::start().await);
        let shared = bucket.clone();
        let respond = move |request: &Request| shared.lock().unwrap().respond(request);
        Mock::given(any()).respond_with(respond).mount(&server).await;
        Self(bucket, server)
    }

    fn bucket(&self) -> MutexGuard<'_, Bucket> {
        self.0.lock().unwrap()
    }

    fn set(&self, fault: Fault) {
        self.bucket().fault = fault;
    }

    fn open(&self, prefix: &str) -> Blobs {
        open_with(prefix, settings(&self.1.uri())).unwrap()
    }

    /// The file below the prefix `a/b`, and the headers that it was put with.
    fn file(&self, name: &AssetName) -> (Bytes, HeaderMap) {
        self.bucket().files[&format!("/pictures/a/b/{}", name.path())].clone()
    }
}

fn refused(status: u16, code: &str) -> ResponseTemplate {
    let secret = "<SignatureProvided>s3cret</SignatureProvided>";
    ResponseTemplate::new(status)
        .set_body_string(format!("<Error><Code>{code}</Code>{secret}</Error>"))
}

impl Bucket {
    fn respond(&mut self, request: &Request) -> ResponseTemplate {
        let (path, method) = (request.url.path().to_owned(), request.method.as_str());
        let query = request.url.query().unwrap_or_default();
        let date = "Mon, 02 Jan 2006 15:04:05 GMT";
        let range =
            request.headers.get("range").and_then(|of| of.to_str().ok()?.strip_prefix("bytes="));
        let done = ResponseTemplate::new(if range.is_some() { 206 } else { 200 });
        let done = done.insert_header("etag", "\"1\"");
        let done = done.insert_header("last-modified", date);
        let answer = |name, text| done.clone().set_body_string(format!("<{name}>{text}</{name}>"));
        match (self.fault, method) {
            (Fault::Refused(of, status, code), _) if of.is_empty() || of == method => {
                refused(status, code)
            }
            (_, "DELETE") => {
                self.parts.clear();
                ResponseTemplate::new(204)
            }
            (_, "POST") if query.starts_with("uploads") => {
                self.headers = request.headers.clone();
                answer("InitiateMultipartUploadResult", "<UploadId>7</UploadId>")
            }
            (_, "POST") => {
                let file: Vec<u8> = self.parts.values().flatten().copied().collect();
                self.files.insert(path, (file.into(), self.headers.clone()));
                answer("CompleteMultipartUploadResult", "<ETag>1</ETag>")
            }
            (fault, "PUT") => {
                let body = Bytes::from(request.body.clone());
                let mut part = query.split('&').filter_map(|of| of.strip_prefix("partNumber="));
                let is_once = request.headers.get("if-none-match").is_some_and(|of| of == "*");
                if let Some(number) = part.next() {
                    self.parts.insert(number.parse().unwrap(), body);
                } else if is_once && self.files.contains_key(&path) && fault != Fault::Replaces {
                    return ResponseTemplate::new(412);
                } else {
                    self.files.insert(path, (body, request.headers.clone()));
                }
                if fault == Fault::ResponseLost { ResponseTemplate::new(503) } else { done }
            }
            (fault, _) => match self.files.get(&path) {
                Some((file, stored)) => {
                    let is_meta = |name: &str| name.starts_with("x-amz-meta");
                    let meta = stored.iter().filter(|(name, _)| is_meta(name.as_str()));
                    let found = match range.and_then(|range| range.split_once('-')) {
                        None => done.set_body_bytes(&file[..]),
                        Some((first, last)) => {
                            let of = format!("bytes {first}-{last}/{}", file.len());
                            let part = first.parse().unwrap()..=last.parse().unwrap();
                            done.set_body_bytes(&file[part]).insert_header("content-range", of)
                        }
                    };
                    meta.fold(found, |found, (name, value)| found.insert_header(name, value))
                }
                None if fault == Fault::NoList => refused(403, "AccessDenied"),
                None => ResponseTemplate::new(404),
            },
        }
    }
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
) -> Result<Blobs, Cause> {
    let variables = settings.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    s3::open("pictures", prefix, variables)
}

#[tokio::test]
async fn a_large_file_goes_to_s3_in_parts_and_is_not_replaced() {
    let s3 = S3::start().await;
    let blobs = s3.open("a/b");
    let (name, bytes) = (AssetName::random(Media::Mp4), sample(20 << 20));
    assert!(blobs.put_new(&name, bytes.clone()).await.unwrap());
    let sizes: Vec<_> = s3.bucket().parts.values().map(Bytes::len).collect();
    assert_eq!(sizes, [8 << 20, 8 << 20, 4 << 20]);
    let (file, headers) = s3.file(&name);
    assert!(file == bytes && headers["content-type"] == "video/mp4");
    assert!(!blobs.put_new(&name, bytes.clone()).await.unwrap());
    s3.set(Fault::Refused("", 403, "Trouble"));
    blobs.put_new(&AssetName::random(Media::Mp4), bytes).await.unwrap_err();
}

#[tokio::test]
async fn a_file_is_put_once_by_a_signed_request_even_if_its_response_is_lost() {
    let s3 = S3::start().await;
    for fault in [Fault::None, Fault::ResponseLost] {
        s3.set(fault);
        let (blobs, name, bytes) = (s3.open("a/b"), AssetName::random(Media::Png), sample(300_000));
        assert!(blobs.get(&name, None).await.unwrap().is_none());
        assert!(blobs.put_new(&name, bytes.clone()).await.unwrap());
        let part = blobs.get(&name, Some(2..5)).await.unwrap().unwrap();
        assert_eq!(part.size, 300_000);
        assert_eq!(part.bytes.try_collect::<BytesMut>().await.unwrap(), bytes[2..5]);
        let (file, headers) = s3.file(&name);
        assert!(file == bytes && headers["content-type"] == "image/png");
        let signature = headers["authorization"].to_str().unwrap();
        assert!(signature.starts_with("AWS4-HMAC-SHA256 Credential=id/"), "{signature}");
        assert!(!blobs.put_new(&name, Bytes::from_static(b"other")).await.unwrap());
        assert_eq!(blobs.size_of(&name).await.unwrap(), Some(300_000));
    }
}

#[tokio::test]
async fn an_error_contains_no_response_body_and_no_asset_name() {
    let s3 = S3::start().await;
    let (blobs, name) = (s3.open(""), AssetName::random(Media::Png));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nowhere = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let nowhere = open_with("", settings(&nowhere)).unwrap();
    let rows = [500, 507, 403].map(|status| (&blobs, status, status.to_string()));
    for (blobs, status, expected) in rows.into_iter().chain([(&nowhere, 0, "refused".into())]) {
        s3.set(Fault::Refused("", status.max(400), "Trouble"));
        let error = blobs.put_new(&name, Bytes::from_static(b"x")).await.unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(text.contains(&expected), "{expected}: {text}");
        assert!(!text.contains("s3cret") && !text.contains(&name.to_string()), "{text}");
        assert!(blobs.size_of(&name).await.is_err());
    }
    s3.set(Fault::None);
    blobs.put_new(&name, Bytes::from_static(b"x")).await.unwrap();
}

#[tokio::test]
async fn a_bucket_that_does_not_work_is_named_at_the_start() {
    let s3 = S3::start().await;
    for (fault, expected) in [
        (Fault::Refused("", 404, "NoSuchBucket"), "404"),
        (Fault::Refused("", 403, "AccessDenied"), "AccessDenied"),
        (Fault::Refused("", 400, "Malformed"), "Malformed"),
        (Fault::Refused("PUT", 403, "AccessDenied"), "write (s3:PutObject)"),
        (Fault::Refused("GET", 403, "AccessDenied"), "read (s3:GetObject)"),
        (Fault::Replaces, "ignores `If-None-Match: *`"),
    ] {
        s3.set(fault);
        let error = s3.open("a").verify().await.unwrap_err().to_string();
        assert!(error.starts_with("s3://pictures/a: files cannot be"), "{error}");
        assert!(error.contains(expected) && !error.contains('\n'), "{expected}: {error}");
    }
}

#[tokio::test]
async fn a_bucket_keeps_its_mark_and_is_seen_when_it_is_gone() {
    let s3 = S3::start().await;
    let blobs = s3.open("a");
    blobs.verify().await.unwrap();
    let mark = || s3.bucket().files["/pictures/a/.promptarium"].0.clone();
    let first = mark();
    assert_eq!(first.len(), 32);
    // Another server starts, and one at a store that replaces files.
    s3.open("a").verify().await.unwrap();
    s3.set(Fault::Replaces);
    s3.open("a").verify().await.unwrap_err();
    assert_eq!((mark(), s3.bucket().files.len()), (first, 1));

    let again = s3.open("a");
    again.check().await.unwrap();
    s3.bucket().files.clear();
    // It is believed for a moment.
    again.check().await.unwrap();
    assert!(blobs.check().await.is_err());
}

#[tokio::test]
async fn a_file_that_is_absent_is_so_without_the_permission_to_list() {
    let s3 = S3::start().await;
    let blobs = s3.open("");
    s3.set(Fault::NoList);
    let name = AssetName::random(Media::Png);
    assert!(blobs.size_of(&name).await.is_err());
    blobs.verify().await.unwrap();
    assert_eq!(blobs.size_of(&name).await.unwrap(), None);
    assert!(blobs.get(&name, Some(0..1)).await.unwrap().is_none());
    assert!(blobs.read_all(&name, u64::MAX).await.unwrap().is_none());
    blobs.put_new(&name, sample(3)).await.unwrap();
    assert_eq!(blobs.read_all(&name, u64::MAX).await.unwrap(), Some(sample(3)));
    // Where the permission is there, 403 has another reason.
    s3.set(Fault::None);
    let blobs = s3.open("");
    blobs.verify().await.unwrap();
    s3.set(Fault::Refused("HEAD", 403, "AccessDenied"));
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

#[tokio::test(start_paused = true)]
async fn a_silent_store_fails_each_step_within_ten_seconds() {
    let silent = Blobs::slow_in_both(NEVER, NEVER);
    let name = AssetName::random(Media::Png);
    let limit = Duration::from_secs(10);
    assert!(timeout(limit, silent.size_of(&name)).await.unwrap().is_err());
    assert!(timeout(limit, silent.get(&name, None)).await.unwrap().is_err());
    assert!(timeout(limit, silent.put_new(&name, sample(1))).await.unwrap().is_err());
    let first = stream::iter([Ok(Bytes::from_static(b"x"))]);
    let mut pieces = in_time_each(first.chain(stream::pending()).boxed());
    assert!(pieces.next().await.unwrap().is_ok());
    assert!(timeout(limit, pieces.next()).await.unwrap().unwrap().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_put_may_take_the_longer_the_larger_it_is() {
    for (seconds, size, is_stored) in [(7, 1, true), (47, 1, false), (47, 10 << 20, true)] {
        let memory = Blobs::slow(Duration::from_secs(seconds));
        let like_s3 = Blobs { place: s3::S3::place(), ..memory };
        let put = like_s3.put_new(&AssetName::random(Media::Png), sample(size)).await;
        assert_eq!(put.is_ok(), is_stored, "{seconds} s for {size} bytes: {put:?}");
    }
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
