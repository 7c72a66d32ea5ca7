//! Many uploads at once.

use std::time::Instant;

use bytes::Bytes;
use http_body_util::Full;
use hyper_util::rt::{TokioExecutor, TokioIo};
use promptarium_server::EmbeddedServer;
use tokio::net::TcpStream;

use super::{sample, slot_of};
use crate::support::PATIENCE;
use crate::support::folder::Folder;
use crate::support::program::Running;
use crate::support::slot::Slot;

const UPLOADS: usize = 64;
const SIZE: usize = 10_485_760;
const MEBIBYTE: u64 = 1024 * 1024;

/// The most memory the process has had so far, in bytes.
fn peak_memory(process_id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process_id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kibibytes: u64 = line.trim().strip_suffix(" kB").unwrap().parse().unwrap();
    kibibytes * 1024
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn sixty_four_large_uploads_at_once_stay_within_256_mebibytes() {
    let folder = Folder::new();
    let server = Running::start(&["--blob-store", &folder.as_store()], &[]).await;
    let mut slots = Vec::new();
    for _ in 0..UPLOADS {
        slots.push(Slot::of(server.base_url(), server.api_key(), "image/png", SIZE).await);
    }
    let bytes = sample(SIZE);
    let begun = Instant::now();
    let puts = slots.iter().map(|slot| slot.put(&bytes));
    let outcomes = futures::future::join_all(puts).await;
    let took = begun.elapsed();
    assert!(outcomes.iter().all(|answer| answer.status == 200), "{outcomes:?}");
    let peak = peak_memory(server.process_id());
    println!("{UPLOADS} uploads of {SIZE} bytes: {took:?}, {} MiB at most", peak / MEBIBYTE);
    assert!(peak < 256 * MEBIBYTE, "{} MiB", peak / MEBIBYTE);

    assert!(slots[UPLOADS - 1].get().await.bytes == bytes);
    assert_eq!(folder.files().len(), UPLOADS);
    assert!(folder.path().join("images").is_dir());
}

#[tokio::test]
async fn uploads_that_wait_do_not_hold_up_others_on_their_connection() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut slots = Vec::new();
    for _ in 0..20 {
        slots.push(slot_of(&server, SIZE).await);
    }
    let address = server.base_url().split('/').nth(2).unwrap();
    let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (sender, connection) =
        hyper::client::conn::http2::handshake::<_, _, Full<Bytes>>(TokioExecutor::new(), stream)
            .await
            .unwrap();
    tokio::spawn(connection);
    let bytes = Bytes::from(sample(SIZE));
    let puts = slots.iter().map(|slot| {
        let request = http::Request::put(&slot.upload_url)
            .header("authorization", format!("Bearer {}", slot.token))
            .header("content-type", &slot.content_type)
            .body(Full::new(bytes.clone()))
            .unwrap();
        let mut sender = sender.clone();
        async move { sender.send_request(request).await.unwrap().status() }
    });
    let begun = Instant::now();
    let statuses = futures::future::join_all(puts).await;
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
}
