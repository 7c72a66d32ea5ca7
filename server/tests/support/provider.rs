//! A provider of the queue protocol. The last part of the model's id says how it behaves:
//! `picture` and `video` take 100 ms and succeed, `slow` takes 2 s, `fail` fails after that time, `hang` never answers
//! for its status, `late…` not the first time, and `drip` sends its output byte by byte.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::Cursor;
use std::net::TcpListener;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use http::{Method, Request, Response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use image::{ImageFormat, RgbImage};
use serde_json::{Value, json};
use tokio::time::sleep;

const GENERATION: Duration = Duration::from_millis(100);
const SLOW_GENERATION: Duration = Duration::from_secs(2);
const DRIP: Duration = Duration::from_millis(100);
pub(crate) const VIDEO_MIB: usize = 500;

/// How many requests there were, by method and behaviour.
static REQUESTS: Mutex<BTreeMap<(String, String), usize>> = Mutex::new(BTreeMap::new());

pub(crate) fn requests(method: &str, behaviour: &str) -> usize {
    let key = (method.to_owned(), behaviour.to_owned());
    REQUESTS.lock().unwrap().get(&key).copied().unwrap_or_default()
}

/// How often each prompt was submitted.
static SUBMISSIONS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

pub(crate) fn submissions() -> BTreeMap<String, usize> {
    SUBMISSIONS.lock().unwrap().clone()
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The provider of all tests, on a thread of its own.
pub(crate) fn url() -> &'static str {
    static URL: OnceLock<String> = OnceLock::new();
    URL.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(serve(listener));
        });
        url
    })
}

async fn serve(listener: TcpListener) {
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        tokio::spawn(async move {
            let connection = http1::Builder::new();
            let connection = connection.serve_connection(TokioIo::new(stream), service_fn(respond));
            // Servers are killed at the end of a test.
            drop(connection.await);
        });
    }
}

/// Submissions are at `/local/BEHAVIOUR`, and what belongs to one at `/BEHAVIOUR/SINCE/…`.
async fn respond(request: Request<Incoming>) -> Result<Answer, hyper::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let path: Vec<_> = head.uri.path().split('/').skip(1).collect();
    let behaviour = path[usize::from(head.method == Method::POST)].to_owned();
    let is_late = behaviour.starts_with("late") && requests("GET", &behaviour) == 0;
    let key = (head.method.to_string(), behaviour);
    *REQUESTS.lock().unwrap().entry(key).or_default() += 1;
    Ok(match (&head.method, &*path) {
        (&Method::POST, [_, behaviour]) => submitted(behaviour, &body),
        (&Method::GET, ["hang", _, "status"]) => std::future::pending().await,
        (&Method::GET, [_, _, "status"]) if is_late => std::future::pending().await,
        (&Method::GET, [behaviour, since, "status"]) => status(behaviour, since.parse().unwrap()),
        (&Method::GET, [behaviour, .., "result"]) => {
            let output = format!("{}{}", url(), head.uri.path().replace("result", "output"));
            let file = json!({ "url": output, "width": 2, "height": 2 });
            let field = if *behaviour == "video" { "video" } else { "image" };
            json_answer(&json!({ field: file }))
        }
        (&Method::GET, ["video", _, "output"]) => video(),
        (&Method::GET, ["drip", _, "output"]) => dripping(),
        (&Method::GET, [.., "output"]) => answer("image/png", picture()),
        other => panic!("{other:?}"),
    })
}

fn submitted(behaviour: &str, body: &[u8]) -> Answer {
    let body: Value = serde_json::from_slice(body).unwrap();
    let prompt = body["prompt"].as_str().unwrap_or_default().to_owned();
    *SUBMISSIONS.lock().unwrap().entry(prompt).or_default() += 1;
    let at = |what: &str| format!("{}/{behaviour}/{}/{what}", url(), now());
    json_answer(&json!({
        "request_id": "r", "status_url": at("status"), "response_url": at("result"),
    }))
}

fn status(behaviour: &str, since: u128) -> Answer {
    let time = if behaviour == "slow" { SLOW_GENERATION } else { GENERATION };
    json_answer(&match behaviour {
        _ if now() - since < time.as_millis() => json!({ "status": "IN_PROGRESS" }),
        "fail" => json!({ "status": "COMPLETED", "error": "as asked" }),
        _ => json!({ "status": "COMPLETED" }),
    })
}

/// An image that never ends.
fn dripping() -> Answer {
    let rest = stream::unfold((), |()| async {
        sleep(DRIP).await;
        Some((Bytes::from_static(b"x"), ()))
    });
    streamed(stream::iter([picture()]).chain(rest))
}

fn video() -> Answer {
    let piece = |number| {
        let mut piece = vec![0; 1 << 20];
        if number == 0 {
            piece[..16].copy_from_slice(b"\0\0\0\x10ftypisom\0\0\0\0");
        }
        Bytes::from(piece)
    };
    streamed(stream::iter(0..VIDEO_MIB).map(piece))
}

fn streamed(bytes: impl Stream<Item = Bytes> + Send + Sync + 'static) -> Answer {
    let frames = bytes.map(|bytes| Ok::<_, Infallible>(Frame::data(bytes)));
    Response::new(BodyExt::boxed(StreamBody::new(frames)))
}

fn json_answer(body: &Value) -> Answer {
    answer("application/json", body.to_string().into())
}

fn answer(content_type: &str, body: Bytes) -> Answer {
    Response::builder().header("content-type", content_type).body(Full::new(body).boxed()).unwrap()
}

fn picture() -> Bytes {
    let mut png = Cursor::new(Vec::new());
    RgbImage::new(2, 2).write_to(&mut png, ImageFormat::Png).unwrap();
    png.into_inner().into()
}

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()
}
