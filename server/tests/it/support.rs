//! What the tests share: a plain client, the program as a child, a failing blob store.

pub(crate) mod blobs;
pub(crate) mod browser;
pub(crate) mod client;
pub(crate) mod program;

use std::time::Duration;

use tempfile::TempDir;

/// No test waits longer for anything.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// Moves the clock of the runtime, on which nothing else moves meanwhile.
pub(crate) async fn advance(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// A folder as a value of `--blob-store`.
pub(crate) fn folder_store(folder: &TempDir) -> String {
    format!("file:{}", folder.path().display())
}

/// The names of all files in a folder store but its mark.
pub(crate) fn files(folder: &TempDir) -> Vec<String> {
    let (mut names, mut folders) = (Vec::new(), vec![folder.path().to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.ends_with(".promptarium") => {}
                _ => names.push(entry.file_name().into_string().unwrap()),
            }
        }
    }
    names
}
