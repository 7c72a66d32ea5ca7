//! Backups of a data folder: its database as it is at one instant, and its files, in one archive.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;
use zip::ZipArchive;

use super::archive::{self, ArchiveWriter, add, folder_of, unwritten};
use super::{Failure, Output, refused};
use crate::config::Config;
use crate::store::folder::{DATABASE, Folder, copy_database, has_data};

/// The folder of files in a data folder.
const FILES: &str = "blobs";

fn folder(config: &Config) -> Result<PathBuf, Failure> {
    let only = "a backup is of a data folder; docs/backup.md says how to back up PostgreSQL";
    config.data_folder().ok_or_else(|| refused(only))
}

/// Writes a backup, also while a server uses the folder: files are never changed, and one that the
/// database names is there before.
pub(super) async fn back_up(config: &Config, to: &Path) -> Result<Output, Failure> {
    let (folder, place) = (folder(config)?, to.display());
    if !has_data(&folder) {
        return Err(refused(format!("there are no data in {}", folder.display())));
    }
    let files = archive::create(to, async |archive| {
        let copied = tempfile::tempdir_in(folder_of(to)).and_then(|temporary| {
            let database = temporary.path().join(DATABASE);
            copy_database(&folder, &database).map_err(io::Error::other)?;
            add(archive, DATABASE, File::open(database)?)?;
            add_folder(archive, &folder, Path::new(FILES))
        });
        copied.map_err(|error| unwritten(to, &error))
    });
    let files = files.await?;
    let text = format!("wrote the data of {} and {files} files to {place}\n", folder.display());
    Ok((text, json!({ "folder": folder, "files": files })))
}

/// Adds the files below a folder, without temporary ones. Returns how many.
fn add_folder(archive: &mut ArchiveWriter, root: &Path, folder: &Path) -> io::Result<usize> {
    let entries = match fs::read_dir(root.join(folder)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut files = 0;
    for entry in entries {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true if entry.file_name() == ".uploads" => {}
            true => files += add_folder(archive, root, &path)?,
            false => {
                add(archive, &path.to_string_lossy(), File::open(root.join(&path))?)?;
                files += 1;
            }
        }
    }
    Ok(files)
}

/// Puts a backup into a folder without data.
pub(super) fn restore(config: &Config, from: &Path) -> Result<Output, Failure> {
    let (folder, place) = (folder(config)?, from.display());
    let shown = folder.display();
    if has_data(&folder) {
        let problem = "has data; move it away, or name another folder with --data";
        return Err(refused(format!("nothing is restored: {shown} {problem}")));
    }
    let failed = |error: io::Error| Failure::from(format!("{place} cannot be restored: {error}"));
    let mut archive =
        File::open(from).and_then(|file| Ok(ZipArchive::new(file)?)).map_err(failed)?;
    if archive.index_for_name(DATABASE).is_none() {
        return Err(refused(format!("nothing is restored: {place} is no backup of a data folder")));
    }
    let _locked = Folder::lock(&folder).map_err(|error| Failure::from(error.to_string()))?;
    // The database is last: without it, an attempt that was cut off can be repeated.
    let database = archive.index_for_name(DATABASE);
    let files = (0..archive.len()).filter(|at| Some(*at) != database);
    for at in files.chain(database) {
        extract(&mut archive, at, &folder).map_err(failed)?;
    }
    let files = archive.len() - 1;
    let text = format!("restored the data and {files} files into {shown}\n");
    Ok((text, json!({ "folder": folder, "files": files })))
}

fn extract(archive: &mut ZipArchive<File>, at: usize, folder: &Path) -> io::Result<()> {
    let mut entry = archive.by_index(at)?;
    let path =
        entry.enclosed_name().filter(|path| path == Path::new(DATABASE) || path.starts_with(FILES));
    let path = path.ok_or_else(|| io::Error::other("it has a file that is not of a backup"))?;
    let path = folder.join(path);
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let partial = path.with_extension("partial");
    let mut file = File::create(&partial)?;
    io::copy(&mut entry, &mut file)?;
    file.sync_all()?;
    fs::rename(partial, path)
}
