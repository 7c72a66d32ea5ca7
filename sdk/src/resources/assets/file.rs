//! The file that a download is saved to.

use std::fs::Metadata;
use std::io::{self, ErrorKind, SeekFrom};
use std::path::{Path, PathBuf};

use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};

use super::fetch::Piece;

const LINKS_MAX: u32 = 40;

/// Where the bytes go: into a new file that replaces the old one at the end, or into what is at the
/// path if that is a pipe or a device.
pub(super) struct Target {
    file: File,
    /// The paths of the new file, which is deleted if it is dropped before it was moved, and of its
    /// final place.
    partial: Option<(PathBuf, PathBuf)>,
}

impl Target {
    /// Decides by what is at the path. Opening a pipe waits for its reader.
    pub(super) async fn open(path: &Path) -> io::Result<Self> {
        let found = match fs::metadata(path).await {
            Ok(found) => Some(found),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        match &found {
            Some(found) if found.is_dir() => {
                Err(io::Error::new(ErrorKind::IsADirectory, "it is a directory"))
            }
            // To replace it would take it away from the programs that use it.
            Some(found) if !found.is_file() => {
                let file = OpenOptions::new().write(true).open(path).await?;
                Ok(Self { file, partial: None })
            }
            old => Self::beside(behind_links(path).await?, old.as_ref()).await,
        }
    }

    async fn beside(place: PathBuf, old: Option<&Metadata>) -> io::Result<Self> {
        // Not made from the name of the file, which may be as long as a name can be.
        let path = place.with_file_name(format!(".promptarium-{}.part", uuid::Uuid::new_v4()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if let Some(old) = old {
            // From the beginning, so that nobody else can open it.
            options.mode(std::os::unix::fs::PermissionsExt::mode(&old.permissions()));
        }
        let file = options.open(&path).await?;
        let target = Self { file, partial: Some((path, place)) };
        if let Some(old) = old {
            target.file.set_permissions(old.permissions()).await?;
        }
        Ok(target)
    }

    /// Whether what was written can be dropped.
    pub(super) const fn can_restart(&self) -> bool {
        self.partial.is_some()
    }

    pub(super) async fn write(&mut self, piece: Piece) -> io::Result<()> {
        match piece {
            Piece::Begin if self.can_restart() => {
                self.file.set_len(0).await?;
                self.file.seek(SeekFrom::Start(0)).await.map(drop)
            }
            Piece::Begin => Ok(()),
            Piece::Bytes(bytes) => self.file.write_all(&bytes).await,
        }
    }

    /// Returns when the file is on the disk under its name.
    pub(super) async fn finish(mut self) -> io::Result<()> {
        self.file.flush().await?;
        let Some((path, place)) = &self.partial else { return Ok(()) };
        self.file.sync_all().await?;
        fs::rename(path, place).await?;
        #[cfg(unix)]
        sync_folder(place).await;
        self.partial = None;
        Ok(())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some((path, _)) = &self.partial {
            // There is nobody to tell if this fails.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The path that symbolic links lead to, whether there is a file or not.
async fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        // Fails if it is not a link.
        let Ok(target) = fs::read_link(&path).await else { return Ok(path) };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("there are too many symbolic links"))
}

/// Without it the new name may be lost when the power fails.
#[cfg(unix)]
async fn sync_folder(file: &Path) {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))).await {
        // Some file systems cannot, and the file itself is complete.
        let _ = folder.sync_all().await;
    }
}
