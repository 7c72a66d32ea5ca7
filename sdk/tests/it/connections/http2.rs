//! What an HTTP/2 server says of a request that it does not answer, and whether a POST is retried.
//!
//! The server writes the frames of RFC 9113 itself.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use promptarium::{Client, Error, Outcome};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::stub::KEY;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

const NO_ERROR: u32 = 0;
const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;

const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

fn go_away(last_stream: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last_stream.to_be_bytes(), code.to_be_bytes()].concat())
}

/// What the server does instead of answering the first request.
#[derive(Clone, Copy)]
enum First {
    Reset(u32),
    GoAway { last_stream: u32 },
    GoAwayAndClose { last_stream: u32 },
}

async fn serve(mut stream: TcpStream, first: First, requests: Arc<AtomicUsize>) {
    let mut preface = [0; 24];
    stream.read_exact(&mut preface).await.unwrap();
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
    let mut head = [0; 9];
    while stream.read_exact(&mut head).await.is_ok() {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        stream.read_exact(&mut vec![0; length as usize]).await.unwrap();
        let (kind, flags) = (head[3], head[4]);
        let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        if kind == SETTINGS && flags & ACK == 0 {
            stream.write_all(&frame(SETTINGS, ACK, 0, &[])).await.unwrap();
        }
        if !matches!(kind, DATA | HEADERS) || flags & END_STREAM == 0 {
            continue;
        }
        let answer = match first {
            _ if requests.fetch_add(1, Ordering::SeqCst) > 0 => {
                // `:status: 200`, by its index in the static table.
                let head = frame(HEADERS, END_HEADERS, id, &[0x88]);
                [head, frame(DATA, END_STREAM, id, b"null")].concat()
            }
            First::Reset(code) => frame(RST_STREAM, 0, id, &code.to_be_bytes()),
            First::GoAway { last_stream } => go_away(last_stream, NO_ERROR),
            First::GoAwayAndClose { last_stream } => {
                stream.write_all(&go_away(last_stream, NO_ERROR)).await.unwrap();
                return;
            }
        };
        stream.write_all(&answer).await.unwrap();
    }
}

async fn server(first: First) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = requests.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, first, counted.clone()));
        }
    });
    (address, requests)
}

/// The outcome of a POST, and the number of requests that the server received.
async fn post(first: First) -> (Result<(), Error>, usize) {
    let (address, requests) = server(first).await;
    let http = reqwest::Client::builder().http2_prior_knowledge().no_proxy();
    let http = http.redirect(reqwest::redirect::Policy::none()).retry(reqwest::retry::never());
    let client = Client::builder().base_url(format!("http://{address}/api/v1")).api_key(KEY);
    let client = client.http_client(http.build().unwrap()).build().unwrap();
    let outcome = client.post("/queue").await.map(drop);
    (outcome, requests.load(Ordering::SeqCst))
}

#[tokio::test]
async fn a_post_is_retried_after_refused_stream() {
    let (outcome, requests) = post(First::Reset(REFUSED_STREAM)).await;
    assert_eq!((outcome.map_err(|error| error.to_string()), requests), (Ok(()), 2));
}

#[tokio::test]
async fn a_post_is_retried_after_a_goaway_that_leaves_it_out() {
    let (outcome, requests) = post(First::GoAway { last_stream: 0 }).await;
    assert_eq!((outcome.map_err(|error| error.to_string()), requests), (Ok(()), 2));
    let (outcome, requests) = post(First::GoAwayAndClose { last_stream: 0 }).await;
    assert_eq!((outcome.map_err(|error| error.to_string()), requests), (Ok(()), 2));
}

#[tokio::test]
async fn a_post_that_may_have_been_processed_is_not_retried() {
    for first in [First::Reset(INTERNAL_ERROR), First::GoAwayAndClose { last_stream: 1 }] {
        let (outcome, requests) = post(first).await;
        let error = outcome.unwrap_err();
        assert_eq!((error.outcome(), requests), (Outcome::Unknown, 1), "{error}");
    }
}
