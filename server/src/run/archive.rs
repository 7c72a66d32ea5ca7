//! An account with its files as one archive: the document of its export, and each file of this
//! service that it refers to, under its path in the blob store.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use serde_json::json;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{Failure, Output, refused};
use crate::api::import;
use crate::blobs::Blobs;
use crate::config::Config;
use crate::domain::{AccountData, AssetName, ImageRef};

const DOCUMENT: &str = "account.json";
/// The beginning of every ZIP archive with a file in it.
const MAGIC: &[u8] = b"PK\x03\x04";

/// Without compression: the files in the archive are compressed formats.
pub(super) fn options() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true)
}

fn blobs(config: &Config) -> Result<Blobs, Failure> {
    let opened = config.blobs.open();
    Ok(opened.map_err(|problem| format!("{}: {problem}", config.source("blob_store")))?)
}

/// Writes the document of an export and the files that it names into a new archive. After a failure
/// there is none.
pub(super) async fn write(config: &Config, document: &str, to: &Path) -> Result<Output, Failure> {
    let file = File::create_new(to);
    let file = file.map_err(|error| format!("{} cannot be written: {error}", to.display()))?;
    let written = fill(config, document, file, to).await;
    if written.is_err() {
        let _ = std::fs::remove_file(to);
    }
    written
}

async fn fill(config: &Config, document: &str, file: File, to: &Path) -> Result<Output, Failure> {
    let place = to.display();
    let failed = |error: io::Error| Failure::from(format!("{place} cannot be written: {error}"));
    let data = import::parse(document.as_bytes())?;
    let blobs = blobs(config)?;
    let mut archive = ZipWriter::new(file);
    let mut add = |name: &str, bytes: &[u8]| {
        archive.start_file(name, options()).map_err(io::Error::from)?;
        archive.write_all(bytes)
    };
    add(DOCUMENT, document.as_bytes()).map_err(failed)?;
    let (mut files, mut missing) = (0, 0);
    for (path, name) in assets(&data) {
        let found = blobs.read_all(&name, u64::MAX).await;
        match found.map_err(|error| format!("a file cannot be read: {error}"))? {
            Some(bytes) => add(&path, &bytes).map_err(failed)?,
            None => missing += 1,
        }
        files += 1;
    }
    archive.finish().map_err(io::Error::from).and_then(|file| file.sync_all()).map_err(failed)?;
    let kept = files - missing;
    let (prompts, lost) = (
        data.prompts.len(),
        match missing {
            0 => String::new(),
            _ => format!("; {missing} files are not in the blob store, is it that of the server?"),
        },
    );
    let text = format!("wrote {prompts} prompts and {kept} files to {place}{lost}\n");
    Ok((text, json!({ "prompts": prompts, "files": kept, "missing_files": missing })))
}

/// Puts the files of an archive into the blob store, and returns the document. `None` if it is no
/// archive.
pub(super) async fn read(config: &Config, from: &Path) -> Result<Option<String>, Failure> {
    let failed = |error: io::Error| {
        refused(format!("nothing is imported: {} cannot be read: {error}", from.display()))
    };
    let mut start = Vec::new();
    let is_file = from.is_file();
    if !is_file {
        return Ok(None);
    }
    let file = File::open(from).map_err(failed)?;
    (&file).take(4).read_to_end(&mut start).map_err(failed)?;
    if start != MAGIC {
        return Ok(None);
    }
    let mut archive = ZipArchive::new(file).map_err(io::Error::from).map_err(failed)?;
    let mut entry = |name: &str| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        archive.by_name(name)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let document =
        entry(DOCUMENT).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
    let document = document.map_err(failed)?;
    let data = import::parse(document.as_bytes()).map_err(|problem| {
        refused(format!("nothing is imported: {}: {problem}", from.display()))
    })?;
    let blobs = blobs(config)?;
    for (path, name) in assets(&data) {
        let bytes = match entry(&path) {
            // It was missing when the archive was written.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            bytes => bytes.map_err(failed)?,
        };
        // A name is random, so one that is there is the same file.
        let stored = blobs.put_new(&name, bytes.into()).await;
        stored.map_err(|error| format!("a file cannot be stored: {error}"))?;
    }
    Ok(Some(document))
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
