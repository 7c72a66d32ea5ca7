//! Many uploads at once.

use std::time::{Duration, Instant};

use promptarium_server::EmbeddedServer;

use super::{sample, slot_of};
use crate::support::folder::Folder;
use crate::support::program::Running;
use crate::support::slot::Slot;

const UPLOADS: usize = 64;
const SIZE: usize = 10_485_760;
const MEBIBYTE: u64 = 1024 * 1024;

/// The peak memory of a process in bytes.
fn peak_memory(process_id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process_id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kibibytes: u64 = line.trim().strip_suffix(" kB").unwrap().parse().unwrap();
    kibibytes * 1024
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn sixty_four_large_uploads_at_once_take_at_most_128_mebibytes() {
    let folder = Folder::new();
    let server = Running::start(&["--blob-store", &folder.as_store()], &[]).await;
    let mut slots = Vec::new();
    for _ in 0..UPLOADS {
        slots.push(Slot::of(server.base_url(), server.api_key(), "image/png", SIZE).await);
    }
    let bytes = sample(SIZE);
    let start = Instant::now();
    let answers = futures::future::join_all(slots.iter().map(|slot| slot.put(&bytes))).await;
    let time = start.elapsed();
    assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
    let peak = peak_memory(server.process_id()) / MEBIBYTE;
    println!("{UPLOADS} uploads of {SIZE} bytes: {time:?}, at most {peak} MiB");
    assert!(peak <= 128, "{peak} MiB");

    assert!(slots[UPLOADS - 1].get().await.bytes == bytes);
    assert_eq!(folder.files().len(), UPLOADS);
}

#[tokio::test]
async fn stalled_uploads_delay_no_other_upload() {
    let server = EmbeddedServer::start().await.unwrap();
    let mut stalled = Vec::new();
    for _ in 0..UPLOADS {
        let slot = slot_of(&server, SIZE).await;
        let mut connection = slot.connection().await;
        connection.send(slot.head(&format!("content-length: {SIZE}\r\n"))).await;
        connection.send("x").await;
        stalled.push(connection);
    }
    let slot = slot_of(&server, SIZE).await;
    let start = Instant::now();
    assert_eq!(slot.put(&sample(SIZE)).await.status, 200);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}
