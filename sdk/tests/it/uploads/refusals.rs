//! Storages that refuse an upload before they have read it, and close the connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;

use futures::future::join_all;
use promptarium::{Error, RetryPolicy};

use super::{giving_slots, png};
use crate::stub::patient;

const REFUSAL: &[u8] =
    b"HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-type: application/json\r\n\
    content-length: 57\r\n\r\n{\"data\":null,\"error\":\"the bucket is closed\",\"details\":{}}";

/// Reads the head of a request, refuses it, and closes the connection, which resets it. On a thread
/// of its own, as a service has its own.
fn refusing() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(REFUSAL);
        }
    });
    address
}

async fn twenty_uploads(policy: RetryPolicy) -> Vec<Error> {
    let storage = format!("http://{}", refusing());
    let service = giving_slots(storage, |_| ()).await;
    let client = patient(service.uri()).retry(policy).build().unwrap();
    let image = png(10_000_000);
    let uploads = (0..20).map(|_| client.uploads().image(image.clone()).send());
    join_all(uploads).await.into_iter().map(Result::unwrap_err).collect()
}

#[tokio::test]
async fn a_storage_that_refuses_early_is_heard() {
    for error in twenty_uploads(RetryPolicy::new()).await {
        assert!(error.is_slot_refused(), "{error}");
        assert_eq!(error.message(), Some("the bucket is closed"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_the_refusal_was_lost_the_error_says_that_there_may_be_one() {
    for error in twenty_uploads(RetryPolicy::never()).await {
        let hint = "the storage may have refused the upload before it read all of it";
        let is_lost = error.is_transport() && error.to_string().contains(hint);
        assert!(is_lost || error.is_slot_refused(), "{error}");
    }
}
