//! A folder of a test's own.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that goes when the test ends. It is not made.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("promptarium-test-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    /// As a value of `--blob-store`.
    pub(crate) fn as_store(&self) -> String {
        format!("file:{}", self.0.display())
    }

    /// The names of all files in it, without those of folders.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
