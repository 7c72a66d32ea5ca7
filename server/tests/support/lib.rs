//! What the test programs share: clients, the program as a child, a provider.

pub(crate) mod browser;
pub(crate) mod client;
pub(crate) mod http;
pub(crate) mod program;
pub(crate) mod provider;
pub(crate) mod receiver;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::{Instant, sleep};

/// No test waits longer for anything.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);
/// Requests that create a prompt, and a slot.
pub(crate) const PROMPT: &str = r#"{"title":"Harbour","prompt":"A harbour at dawn"}"#;
pub(crate) const SLOT: &str = r#"{"contentType":"image/png","size":9}"#;

/// Moves the clock of the runtime, on which nothing else moves meanwhile.
pub(crate) async fn advance(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// Waits until a condition is fulfilled. `None` if that takes longer than `limit`.
pub(crate) async fn wait_until(
    limit: Duration,
    condition: impl AsyncFn() -> bool,
) -> Option<Duration> {
    let begin = Instant::now();
    while begin.elapsed() < limit {
        if condition().await {
            return Some(begin.elapsed());
        }
        sleep(Duration::from_millis(20)).await;
    }
    None
}

/// A folder as a value of `--blob-store`.
pub(crate) fn folder_store(folder: &TempDir) -> String {
    format!("file:{}", folder.path().display())
}

/// Host and port that nobody listens on.
pub(crate) fn free_address() -> String {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// All files below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files
}

/// A connection to a database.
pub(crate) async fn sql(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}
