//! Bare hyper: a response of the same bytes for every request, and nothing else.

use bytes::Bytes;
use promptarium_peers::{Result, arguments, serve};

const BODY: &[u8] = br#"{"data":{"id":1,"title":"Harbour at dusk","prompt":"Still life, soft light","promptType":"text","platform":null,"status":"active","images":[],"vaultIds":[],"createdAt":"2026-11-23T16:58:45.314912Z","updatedAt":"2026-11-23T16:58:45.314912Z"},"error":null}"#;

#[tokio::main]
async fn main() -> Result {
    serve(&arguments()?.0, |_| async { (200, Bytes::from_static(BODY)) }).await
}
