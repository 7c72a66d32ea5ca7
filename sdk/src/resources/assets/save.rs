//! Saves a download to a file.

use std::fs::{Metadata, TryLockError};
use std::io::{self, ErrorKind, SeekFrom};
use std::path::{Path, PathBuf};

use futures_core::future::BoxFuture;
use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};
use tokio::task::spawn_blocking;

use super::fetch::{Fetch, Piece};
use super::{Asset, AssetToDownload};
use crate::call::{Call, Context, Run, require_runtime};
use crate::error::Error;

impl<'a> Call<Asset, AssetToDownload<'a>> {
    /// Writes the asset to this path in place of keeping it in memory. Returns its size in bytes.
    ///
    /// It is written to a new file in the same directory, `.NAME.promptarium.part`, which takes the
    /// place and the mode of the old one, or of the one behind a symbolic link, when it is complete
    /// and on the disk. One that a killed program left is removed by the next `save` to this path. A pipe or
    /// a device gets the bytes as they are received, and nothing is retried after the first of them.
    pub fn save(self, path: impl Into<PathBuf>) -> SaveAsset<'a> {
        let Self { context, builder: asset, .. } = self;
        Call::of(context, AssetToSave { asset, path: path.into() })
    }
}

/// Downloads one asset to a file; returned by
/// [`DownloadAsset::save`](crate::request::DownloadAsset::save). Nothing is sent until it is
/// awaited. Fails with [`Error::is_input`] if the file cannot be written.
pub type SaveAsset<'a> = Call<u64, AssetToSave<'a>>;

/// An asset to save.
#[derive(Debug)]
pub struct AssetToSave<'a> {
    asset: AssetToDownload<'a>,
    path: PathBuf,
}

impl<'a> Run<u64> for AssetToSave<'a> {
    type Future = BoxFuture<'a, Result<u64, Error>>;

    fn run(self, context: Context) -> Self::Future {
        Box::pin(async move {
            require_runtime()?;
            let Self { asset, path } = self;
            if asset.first > 0 {
                return Err(Error::input(
                    "`save` writes a whole asset; append the `stream` to a partial file instead",
                ));
            }
            let unwritable = |source| Error::file(path.display(), "written", source);
            let mut fetch = Fetch::new(asset, context)?;
            let opening = async { Target::open(&path).await.map_err(unwritable) };
            let mut target = fetch.in_time(opening).await?;
            fetch.can_restart = target.can_restart();
            while let Some(piece) = fetch.next().await? {
                fetch.in_time(async { target.write(piece).await.map_err(unwritable) }).await?;
            }
            fetch.in_time(async { target.finish().await.map_err(unwritable) }).await?;
            Ok(fetch.position)
        })
    }
}

/// Of four bytes each at most, as a name has up to 255 bytes.
const NAME_CHARS: usize = 50;

/// Where the bytes go: into a new file that replaces the old one at the end, or into what is at the
/// path if that is a pipe or a device.
struct Target {
    file: File,
    /// The paths of the new file, which is deleted unless it was moved, and of its place.
    partial: Option<(PathBuf, PathBuf)>,
}

impl Target {
    /// Decides by what is at the path. Opening a pipe waits for its reader.
    async fn open(path: &Path) -> io::Result<Self> {
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
            old => {
                // The file behind a symbolic link.
                let place = fs::canonicalize(path).await.unwrap_or_else(|_| path.to_owned());
                Self::beside(place, old.as_ref()).await
            }
        }
    }

    async fn beside(place: PathBuf, old: Option<&Metadata>) -> io::Result<Self> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if let Some(old) = old {
            // From the beginning, so that nobody else can open it.
            use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
            options.mode(old.permissions().mode());
        }
        let of_place = place.clone();
        let created = spawn_blocking(move || create(&options, &of_place)).await;
        let (file, path) = created.map_err(io::Error::other)??;
        let target = Self { file: File::from_std(file), partial: Some((path, place)) };
        if let Some(old) = old {
            target.file.set_permissions(old.permissions()).await?;
        }
        Ok(target)
    }

    const fn can_restart(&self) -> bool {
        self.partial.is_some()
    }

    async fn write(&mut self, piece: Piece) -> io::Result<()> {
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
    async fn finish(mut self) -> io::Result<()> {
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

/// Creates and locks the file for the bytes. Its name is that of the place, so that what a killed
/// program left is found; a second one at the same time has a name of its own.
fn create(options: &std::fs::OpenOptions, place: &Path) -> io::Result<(std::fs::File, PathBuf)> {
    // The name of the place may be as long as a name can be.
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().take(NAME_CHARS).collect();
    let partial = |name: &str| place.with_file_name(format!(".{name}.promptarium.part"));
    let open = |path: PathBuf| options.open(&path).map(|file| (file, path));
    let usual = partial(&name);
    remove_abandoned(&usual);
    if let Ok((file, path)) = open(usual)
        // Where files cannot be locked, none is taken for abandoned.
        && !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
        && is_at(&file, &path)
    {
        return Ok((file, path));
    }
    let (file, path) = open(partial(&uuid::Uuid::new_v4().to_string()))?;
    let _ = file.try_lock();
    Ok((file, path))
}

/// Whether the file still has this path: before it was locked, another download may have taken it for
/// abandoned and removed it.
fn is_at(file: &std::fs::File, path: &Path) -> bool {
    let (Ok(file), Ok(found)) = (file.metadata(), std::fs::symlink_metadata(path)) else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        (file.dev(), file.ino()) == (found.dev(), found.ino())
    }
    #[cfg(not(unix))]
    {
        file.len() == found.len()
    }
}

/// Removes a file for the bytes whose program was killed: nobody has locked it.
fn remove_abandoned(path: &Path) {
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
        && let Ok(file) = std::fs::File::open(path)
        && file.try_lock().is_ok()
    {
        // If this fails, a file of another name is created.
        let _ = std::fs::remove_file(path);
    }
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
