//! Archives. That of an account has the document of its export, and each file of this service that
//! it refers to, under its path in the blob store. The backup of a data folder has its database as
//! it is at one instant, and its files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde_json::json;
use tempfile::NamedTempFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{Failure, Output, refused};
use crate::api::import;
use crate::blobs::{BlobError, Blobs};
use crate::config::Config;
use crate::domain::{AccountData, AssetName, ImageRef};
use crate::store::folder::{DATABASE, Folder, copy_database, has_data};

const DOCUMENT: &str = "account.json";
type ArchiveWriter = ZipWriter<NamedTempFile>;
/// The beginning of every ZIP archive with a file in it.
const MAGIC: &[u8] = b"PK\x03\x04";
/// The folder of files in a data folder.
const FILES: &str = "blobs";

/// Creates an archive that only this user may read, and fills it. It gets its name at the end.
async fn create<T>(
    file: &Path,
    fill: impl AsyncFnOnce(&mut ArchiveWriter) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let failed = |error| unwritten(file, &error);
    if file.exists() {
        return Err(failed(io::ErrorKind::AlreadyExists.into()));
    }
    let mut archive = ZipWriter::new(NamedTempFile::new_in(folder_of(file)).map_err(failed)?);
    let filled = fill(&mut archive).await?;
    let written = archive.finish().map_err(|error| failed(error.into()))?;
    written.as_file().sync_all().map_err(failed)?;
    written.persist_noclobber(file).map_err(|error| failed(error.error))?;
    Ok(filled)
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

fn unwritten(file: &Path, error: &io::Error) -> Failure {
    format!("{} cannot be written: {error}", file.display()).into()
}

/// Adds a file without compression: those in an archive have compressed formats.
fn add(archive: &mut ArchiveWriter, name: &str, mut file: impl Read) -> io::Result<()> {
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    archive.start_file(name, stored.large_file(true))?;
    io::copy(&mut file, archive).map(drop)
}

fn blobs(config: &Config) -> Result<Blobs, Failure> {
    let opened = config.blobs.open();
    Ok(opened.map_err(|problem| format!("{}: {problem}", config.source("blob_store")))?)
}

/// Writes the document of an export and the files that it names into a new archive.
pub(super) async fn write(config: &Config, document: &str, to: &Path) -> Result<Output, Failure> {
    let failed = |error: io::Error| unwritten(to, &error);
    let data = import::parse(document.as_bytes())?;
    let (kept, missing) = create(to, async |archive| {
        let (blobs, mut kept, mut missing) = (blobs(config)?, 0, 0);
        add(archive, DOCUMENT, document.as_bytes()).map_err(failed)?;
        for (path, name) in assets(&data) {
            let found = blobs.read_all(&name, u64::MAX).await;
            match found.map_err(|error| format!("a file cannot be read: {error}"))? {
                Some(bytes) => {
                    add(archive, &path, &*bytes).map_err(failed)?;
                    kept += 1;
                }
                None => missing += 1,
            }
        }
        Ok((kept, missing))
    })
    .await?;
    let prompts = data.prompts.len();
    let lost = match missing {
        0 => String::new(),
        _ => format!("; {missing} files are not in the blob store, is it that of the server?"),
    };
    let text = format!("wrote {prompts} prompts and {kept} files to {}{lost}\n", to.display());
    Ok((text, json!({ "prompts": prompts, "files": kept, "missing_files": missing })))
}

/// An archive to import, and the blob store for its files.
pub(super) struct Archive<'a> {
    file: &'a Path,
    archive: ZipArchive<File>,
    assets: BTreeMap<String, AssetName>,
    blobs: Blobs,
    pub(super) document: String,
    /// Of the blob store, which must be that of the server.
    pub(super) files: String,
}

impl<'a> Archive<'a> {
    /// `None` if the file is no archive.
    pub(super) async fn open(config: &Config, file: &'a Path) -> Result<Option<Self>, Failure> {
        let failed = |error: io::Error| not_imported(file, &format!("cannot be read: {error}"));
        if !file.is_file() {
            return Ok(None);
        }
        let mut start = Vec::new();
        let opened = File::open(file).map_err(failed)?;
        (&opened).take(4).read_to_end(&mut start).map_err(failed)?;
        if start != MAGIC {
            return Ok(None);
        }
        let mut archive = ZipArchive::new(opened).map_err(io::Error::from).map_err(failed)?;
        let document = entry(&mut archive, DOCUMENT)
            .and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
        let document = document.map_err(failed)?;
        let data = import::parse(document.as_bytes());
        let assets = assets(&data.map_err(|problem| not_imported(file, &problem))?);
        let blobs = blobs(config)?;
        blobs.verify().await?;
        let in_memory = || {
            let source = config.source("blob_store");
            refused(format!("{source}: files in memory are lost; name the store of the server"))
        };
        let files = blobs.description().await?.ok_or_else(in_memory)?;
        Ok(Some(Self { file, archive, assets, blobs, document, files }))
    }

    /// Puts the files into the blob store.
    pub(super) async fn put_files(&mut self) -> Result<(), Failure> {
        let failed = |error: BlobError| format!("a file cannot be stored: {error}");
        let mut missing = Vec::new();
        for (path, name) in &self.assets {
            let is_here = self.archive.index_for_name(path).is_some();
            if !is_here && self.blobs.size_of(name).await.map_err(failed)?.is_none() {
                missing.push(&**path);
            }
        }
        if let Some(first) = missing.first() {
            let problem = format!(
                "{} files that {DOCUMENT} names are neither in it nor in the blob store, such as \
                 {first}; to import without them, extract {DOCUMENT} and import that",
                missing.len()
            );
            return Err(not_imported(self.file, &problem));
        }
        for (path, name) in &self.assets {
            let bytes = match entry(&mut self.archive, path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                bytes => Bytes::from(
                    bytes.map_err(|error| not_imported(self.file, &format!("{path}: {error}")))?,
                ),
            };
            let (most, is_new) = (bytes.len() as u64, self.blobs.put_new(name, bytes.clone()));
            if !is_new.await.map_err(failed)?
                && self.blobs.read_all(name, most).await.map_err(failed)? != Some(bytes)
            {
                let problem = format!("the blob store has another file at {path}");
                return Err(not_imported(self.file, &problem));
            }
        }
        Ok(())
    }
}

fn not_imported(file: &Path, problem: &str) -> Failure {
    refused(format!("nothing is imported: {}: {problem}", file.display()))
}

fn entry(archive: &mut ZipArchive<File>, name: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    archive.by_name(name)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The files of this service that the data refer to, by their paths.
fn assets(data: &AccountData) -> BTreeMap<String, AssetName> {
    let prompts = data.prompts.iter().flat_map(|(prompt, inputs)| {
        let images = prompt.images.iter().map(|image| &image.source);
        let references = inputs.reference_media_urls.iter().flat_map(|urls| urls.iter());
        images.chain(&inputs.image_url).chain(references)
    });
    let covers = data.vaults.iter().flat_map(|(vault, _)| &vault.cover_image);
    let names = prompts.chain(covers).filter_map(|image| match image {
        ImageRef::Asset(name) => Some((name.path(), *name)),
        ImageRef::External(_) => None,
    });
    names.collect()
}

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
    let files = create(to, async |archive| {
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
