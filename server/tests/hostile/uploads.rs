//! Uploads: many at once, and ones that stall.

use futures::future::join_all;
use tokio::time::sleep;

use crate::client::{Connection, Slot};
use crate::target::{ATTACKER, Target};
use crate::{HELD_FOR, MEBIBYTE};

/// The largest upload.
const SIZE: usize = 10 * MEBIBYTE;
const AT_ONCE: usize = 64;
const STALLED: usize = 14;
const READERS: usize = 1_000;

/// Connections with the head of an upload.
async fn begun(target: &Target, count: usize) -> Vec<Connection> {
    let mut peers = Vec::new();
    for _ in 0..count {
        peers.push(slot(target).await.begin(SIZE).await);
    }
    peers
}

async fn slot(target: &Target) -> Slot {
    Slot::of(target.base_url(), ATTACKER, "image/png", SIZE).await
}

/// A request for a stored file of the largest size.
pub(crate) async fn request_for_image(target: &Target) -> (String, String) {
    let slot = slot(target).await;
    assert_eq!(slot.put(&vec![7; SIZE]).await.status, 200);
    (format!("GET {} HTTP/1.1\r\nhost: test\r\n\r\n", slot.path), slot.path)
}

pub(crate) async fn largest_at_once(target: &Target) {
    let bytes = vec![7; SIZE];
    let mut peers = begun(target, AT_ONCE).await;
    let statuses = join_all(peers.iter_mut().map(async |peer| peer.ask(&bytes).await.status));
    let statuses = statuses.await;
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
}

pub(crate) async fn stalled(target: &Target) {
    let mut peers = begun(target, STALLED).await;
    for peer in &mut peers {
        peer.send(vec![7; SIZE / 2]).await;
    }
    sleep(HELD_FOR).await;
}

/// Clients without a key that do not read an image.
pub(crate) async fn unread_images(target: &Target) {
    let (request, _) = request_for_image(target).await;
    let (sent, refused) = target.unread(&request, READERS, &[503]).await;
    println!("{sent} images were sent and {refused} refused");
}
