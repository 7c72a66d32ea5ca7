//! The folder in which an example runs, so that it reads and writes nothing of yours.

use std::path::PathBuf;
use std::{env, fs, io, process};

use crate::testing::fixture;

/// The current folder, as long as this is there. A doc test is a process of its own and
/// runs one example, so nobody else is moved.
pub(super) struct Folder {
    here: PathBuf,
    before: PathBuf,
}

impl Folder {
    /// Makes it, with the files that examples read.
    pub(super) fn enter() -> io::Result<Self> {
        let before = env::current_dir()?;
        let here = env::temp_dir().join(format!("promptarium-example-{}", process::id()));
        fs::create_dir_all(&here)?;
        let folder = Self { here, before };
        fs::write(folder.here.join("harbour.png"), fixture::png())?;
        fs::write(folder.here.join("job.txt"), "job-1")?;
        env::set_current_dir(&folder.here)?;
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = env::set_current_dir(&self.before);
        let _ = fs::remove_dir_all(&self.here);
    }
}
