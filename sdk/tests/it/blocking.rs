//! The blocking client: the same calls, what comes of them, and the threads they run on.

mod outcomes;
mod threads;

use futures::executor::block_on;
use promptarium::{RetryPolicy, blocking};
use wiremock::MockServer;

/// As [`client`](crate::stub::client), but it blocks.
fn client(server: &MockServer) -> blocking::Client {
    crate::stub::patient(server.uri()).retry(RetryPolicy::never()).build_blocking().unwrap()
}

fn requests(server: &MockServer) -> Vec<wiremock::Request> {
    block_on(server.received_requests()).unwrap()
}
