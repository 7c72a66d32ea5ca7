//! Connections that are held without use, and floods of frames that carry nothing.

use std::time::Duration;

use futures::future::join_all;
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, sleep, timeout};

use crate::HELD_FOR;
use crate::support::TIMEOUT;
use crate::support::client::Connection;
use crate::target::Target;

const SLOW: usize = 2_000;
/// The server's limit. A debug build opens them more slowly than they time out.
const IDLE: usize = if cfg!(debug_assertions) { 1_000 } else { 10_000 };
pub(crate) const IDLE_SETTINGS: &str = if cfg!(debug_assertions) {
    "--max-connections 1000 --idle-timeout 2"
} else {
    "--max-connections 10000 --idle-timeout 5"
};
const PING_PAUSE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 1 } else { 2 });
const FLOODS: usize = 8;

/// The preface of HTTP/2, and an empty SETTINGS frame.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// A HEADERS frame that ends its request: GET / over http, with the authority `test`.
const REQUEST: &[u8] = b"\0\0\x09\x01\x05\0\0\0\x01\x82\x86\x84\x41\x04test";
const PING: &[u8] = b"\0\0\x08\x06\0\0\0\0\0abcdefgh";
/// Answers the ping with which the library `h2` of the server begins to close a connection. Without
/// it the server waits ten seconds more.
const CLOSING_PING_ACK: &[u8] = b"\0\0\x08\x06\x01\0\0\0\0\x0b\x7b\xa2\xf0\x8b\x9b\xfe\x54";
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";
/// WINDOW_UPDATE of the connection by one byte.
const WINDOW_UPDATE: &[u8] = b"\0\0\x04\x08\0\0\0\0\0\0\0\0\x01";
/// A HEADERS frame of a request with a body: POST / over http, with the authority `test`.
const OPEN_REQUEST: &[u8] = b"\0\0\x09\x01\x04\0\0\0\x01\x83\x86\x84\x41\x04test";
/// A DATA frame of this body without bytes.
const EMPTY_DATA: &[u8] = b"\0\0\0\0\0\0\0\0\x01";

pub(crate) async fn slow_heads(target: &Target) {
    let opened = (0..SLOW).map(async |_| {
        let mut peer = target.connect().await;
        peer.send(format!("GET / HTTP/1.1\r\nx-padding: {}", "x".repeat(2_000))).await;
        peer
    });
    let mut peers = join_all(opened).await;
    for _ in 0..5 {
        sleep(HELD_FOR / 5).await;
        join_all(peers.iter_mut().map(async |peer| peer.send("x").await)).await;
    }
}

/// Opens as many connections as there may be, so that the last ones wait for the end of others,
/// and sends nothing but pings and their answers.
pub(crate) async fn idle(target: &Target) {
    let begin = Instant::now();
    let ended = join_all((0..IDLE).map(async |_| {
        let mut peer = target.connect().await;
        peer.send([PREFACE, REQUEST].concat()).await;
        while !is_closed(&mut peer, PING_PAUSE).await {
            peer.send([PING, CLOSING_PING_ACK].concat()).await;
            assert!(begin.elapsed() < TIMEOUT, "an idle connection stays");
        }
    }));
    ended.await;
    println!("{IDLE} idle connections were closed within {:.1?}", begin.elapsed());
    // There is room for others again.
    assert_eq!(target.connect().await.get("/healthz").await.status, 200);
}

/// Each connection sends frames of one type as fast as the server reads them, and is opened again when
/// the server closes it.
pub(crate) async fn floods(target: &Target) {
    let begin = Instant::now();
    let floods = [PING, SETTINGS, EMPTY_DATA, WINDOW_UPDATE].into_iter().cycle().take(FLOODS);
    join_all(floods.map(async |frame| {
        let frames = frame.repeat(500);
        while begin.elapsed() < HELD_FOR {
            let mut peer = target.connect().await;
            peer.send([PREFACE, OPEN_REQUEST].concat()).await;
            while begin.elapsed() < HELD_FOR
                && !is_closed(&mut peer, Duration::from_millis(1)).await
            {
                peer.send(&frames).await;
            }
        }
    }))
    .await;
}

/// Reads and drops what comes for a while; whether the server has closed the connection.
async fn is_closed(peer: &mut Connection, wait: Duration) -> bool {
    let mut read = [0; 4096];
    let begun = Instant::now();
    while let Ok(more) = timeout(wait, peer.stream.read(&mut read)).await {
        if !more.is_ok_and(|bytes| bytes > 0) {
            return true;
        }
        if begun.elapsed() > wait {
            break;
        }
    }
    false
}
