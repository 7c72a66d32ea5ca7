//! Blocking calls: their results, and the threads they run on.

mod outcomes;
mod threads;

use futures::executor::block_on;
use promptarium::Client;
use wiremock::MockServer;

fn client(server: &MockServer) -> Client {
    crate::stub::client(server.uri())
}

fn requests(server: &MockServer) -> Vec<wiremock::Request> {
    block_on(server.received_requests()).unwrap()
}
