//! A folder that is gone when its test ends.

use std::path::{Path, PathBuf};

/// An empty folder of its own, removed with this value.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn create() -> std::io::Result<Self> {
        let name =
            format!("promptarium-backends-{}-{:08x}", std::process::id(), rand::random::<u32>());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder for temporary files is emptied sooner or later in any case.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
