//! Connections that are held without use, and floods of frames that carry nothing.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::{Instant, sleep, timeout};

use crate::peer::Peer;
use crate::rounds;
use crate::target::Target;

const SLOW: usize = 2_000;
const IDLE: usize = 40;
const FLOODS: usize = 4;

/// The preface of HTTP/2, and an empty SETTINGS frame.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// A HEADERS frame that ends its request: GET / over http, with the authority `test`.
const REQUEST: &[u8] = b"\0\0\x09\x01\x05\0\0\0\x01\x82\x86\x84\x41\x04test";
const PING: &[u8] = b"\0\0\x08\x06\0\0\0\0\0abcdefgh";
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";
/// WINDOW_UPDATE of the connection by one byte.
const WINDOW_UPDATE: &[u8] = b"\0\0\x04\x08\0\0\0\0\0\0\0\0\x01";
/// PRIORITY of a stream that was never opened.
const PRIORITY: &[u8] = b"\0\0\x05\x02\0\0\0\0\x03\0\0\0\0\x10";

#[tokio::test]
async fn the_heads_of_2000_requests_come_slowly() {
    let target = Target::start(&[]).await;
    for _ in 0..rounds() {
        let opened = (0..SLOW).map(async |_| {
            let mut peer = Peer::open(target.address()).await;
            peer.send(format!("GET / HTTP/1.1\r\nx-padding: {}", "x".repeat(2_000))).await;
            peer
        });
        let mut peers = join_all(opened).await;
        for _ in 0..5 {
            sleep(Duration::from_millis(500)).await;
            join_all(peers.iter_mut().map(async |peer| peer.send("x").await)).await;
        }
    }
    target.end("2000 slow heads").await;
}

#[tokio::test]
async fn idle_http2_connections_end_although_they_send_pings() {
    let max = (IDLE + 2).to_string();
    let target = Target::start(&["--idle-timeout", "1", "--max-connections", &max]).await;
    let ended = (0..IDLE).map(async |_| {
        let mut peer = Peer::open(target.address()).await;
        peer.send([PREFACE, REQUEST].concat()).await;
        let began = Instant::now();
        while !peer.is_closed(Duration::from_millis(200)).await {
            peer.send(PING).await;
            assert!(began.elapsed() < Duration::from_secs(20), "an idle connection stays");
        }
    });
    join_all(ended).await;
    // There is room for others again.
    let mut next = Peer::open(target.address()).await;
    next.send("GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n").await;
    assert_eq!(next.head().await.unwrap().status, 200);
    target.end("idle HTTP/2 connections").await;
}

#[tokio::test]
async fn floods_of_control_frames_are_cut() {
    let target = Target::start(&[]).await;
    for _ in 0..rounds() {
        for frame in [PING, SETTINGS, WINDOW_UPDATE, PRIORITY] {
            let frames = frame.repeat(500);
            let floods = (0..FLOODS).map(async |_| {
                let mut peer = Peer::open(target.address()).await;
                peer.send(PREFACE).await;
                while !peer.is_closed(Duration::from_millis(1)).await {
                    peer.send(&frames).await;
                }
            });
            timeout(Duration::from_secs(20), join_all(floods)).await.expect("floods are cut");
        }
    }
    target.end("floods of control frames").await;
}
