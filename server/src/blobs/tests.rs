//! Facts of every kind of store, and of the settings that choose one.

mod s3;

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use futures::TryStreamExt;

use super::*;
use crate::domain::Media;
use crate::limits::UPLOAD_BUFFER_BYTES;

/// A folder that is removed when the test ends.
struct TestFolder(PathBuf);

impl TestFolder {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("promptarium-blobs-{}", random_id())))
    }

    fn open(&self) -> Blobs {
        Blobs::open(&BlobSetting::Folder(self.0.clone())).unwrap()
    }

    /// All files, relative to the folder.
    fn files(&self) -> Vec<String> {
        let (mut files, mut folders) = (Vec::new(), vec![self.0.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push(path.strip_prefix(&self.0).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        files
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A store of each kind; the last one stages uploads as S3 does.
fn stores() -> (TestFolder, [Blobs; 3]) {
    let folder = TestFolder::new();
    let in_folder = folder.open();
    let like_s3 = Blobs { staging: Staging::temp_file(), ..Blobs::in_memory() };
    (folder, [Blobs::in_memory(), in_folder, like_s3])
}

async fn collect(blob: Blob) -> Vec<u8> {
    blob.bytes.map_ok(|piece| piece.to_vec()).try_concat().await.unwrap()
}

fn sample(size: usize) -> Bytes {
    (0..size).map(|at| (at % 251) as u8).collect::<Vec<_>>().into()
}

#[tokio::test]
async fn a_file_comes_back_whole_and_in_part() {
    let (_folder, stores) = stores();
    for blobs in stores {
        for size in [0, 1, 300_000] {
            let (name, bytes) = (AssetName::random(Media::Mp4), sample(size));
            assert!(blobs.get(&name, None).await.unwrap().is_none());
            assert!(blobs.get(&name, Some(0..1)).await.unwrap().is_none());
            assert_eq!(blobs.size_of(&name).await.unwrap(), None);
            assert_eq!(blobs.read_all(&name).await.unwrap(), None);

            blobs.put_new(&name, bytes.clone()).await.unwrap();
            let blob = blobs.get(&name, None).await.unwrap().unwrap();
            assert_eq!(blob.size, size as u64);
            assert_eq!(collect(blob).await, bytes);
            assert_eq!(blobs.size_of(&name).await.unwrap(), Some(size as u64));
            assert_eq!(blobs.read_all(&name).await.unwrap(), Some(bytes.clone()));
            for range in [0..1, 299_999..300_000, 100_000..280_000] {
                if range.end > size as u64 {
                    continue;
                }
                let part = blobs.get(&name, Some(range.clone())).await.unwrap().unwrap();
                assert_eq!(part.size, size as u64);
                let expected = bytes.slice(range.start as usize..range.end as usize);
                assert_eq!(collect(part).await, expected, "{range:?}");
            }
        }
    }
}

#[tokio::test]
async fn an_upload_is_visible_once_it_is_finished() {
    let (folder, stores) = stores();
    for blobs in stores {
        let buffer = UPLOAD_BUFFER_BYTES;
        for size in [0, 1, buffer - 1, buffer, buffer + 1, 2 * buffer, 1_000_000] {
            for piece in [100_000, buffer, 3_000_000] {
                let (name, bytes) = (AssetName::random(Media::Png), sample(size));
                let mut upload = blobs.upload(&name, size as u64);
                for piece in bytes.chunks(piece) {
                    upload.write(piece).await.unwrap();
                }
                assert_eq!(blobs.size_of(&name).await.unwrap(), None);
                upload.finish().await.unwrap();
                assert_eq!(blobs.read_all(&name).await.unwrap(), Some(bytes), "{size} {piece}");
            }
        }
        let mut dropped = blobs.upload(&AssetName::random(Media::Png), 1_000_000);
        dropped.write(&sample(999_999)).await.unwrap();
    }
    let files = folder.files();
    assert!(files.len() == 21 && files.iter().all(|file| file.starts_with("images/")), "{files:?}");
}

#[tokio::test]
async fn of_concurrent_puts_of_a_name_one_succeeds() {
    let (_folder, stores) = stores();
    for blobs in stores {
        let name = AssetName::random(Media::Gif);
        let puts = (0..8_u8).map(|number| {
            let (blobs, bytes) = (blobs.clone(), vec![number; 300_000]);
            async move {
                if number % 2 == 0 {
                    return blobs.put_new(&name, bytes.into()).await;
                }
                let mut upload = blobs.upload(&name, 300_000);
                upload.write(&bytes).await?;
                upload.finish().await
            }
        });
        let outcomes = futures::future::join_all(puts).await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        let winner = outcomes.iter().position(Result::is_ok).unwrap() as u8;
        for outcome in outcomes.into_iter().filter_map(Result::err) {
            assert!(matches!(outcome, PutError::Taken), "{outcome}");
        }
        assert_eq!(blobs.read_all(&name).await.unwrap().unwrap(), vec![winner; 300_000]);
        assert!(matches!(blobs.put_new(&name, Bytes::new()).await, Err(PutError::Taken)));
    }
}

#[tokio::test]
async fn a_folder_keeps_its_files_and_removes_old_temporary_files() {
    let folder = TestFolder::new();
    let name = AssetName::random(Media::Jpeg);
    folder.open().put_new(&name, sample(10)).await.unwrap();
    let [old, new] = ["old", "new"].map(|name| folder.0.join(".uploads").join(name));
    for (path, age) in [(&old, 7201), (&new, 7100)] {
        let file = File::create(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }
    let blobs = folder.open();
    assert_eq!(blobs.read_all(&name).await.unwrap(), Some(sample(10)));
    assert!(!old.exists() && new.exists());
}

#[test]
fn an_unusable_folder_is_named() {
    let folder = TestFolder::new();
    std::fs::create_dir_all(&folder.0).unwrap();
    let file = folder.0.join("file");
    std::fs::write(&file, b"").unwrap();
    for path in [file.clone(), file.join("below")] {
        let error = Blobs::open(&BlobSetting::Folder(path)).unwrap_err();
        assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
    }
}

#[test]
fn settings_are_parsed() {
    use super::setting::BlobSettingError::{Bucket, NoPath, Prefix, Scheme};
    let s3 = |bucket: &str, prefix: &str| {
        Ok(BlobSetting::S3 { bucket: bucket.into(), prefix: prefix.into() })
    };
    for (text, expected) in [
        ("memory:", Ok(BlobSetting::Memory)),
        ("file:./data/blobs", Ok(BlobSetting::Folder("./data/blobs".into()))),
        ("file:/var/lib/a b", Ok(BlobSetting::Folder("/var/lib/a b".into()))),
        ("s3://pictures", s3("pictures", "")),
        ("s3://pictures/", s3("pictures", "")),
        ("s3://my.pictures/a/b/", s3("my.pictures", "a/b")),
        ("", Err(Scheme)),
        ("memory", Err(Scheme)),
        ("memory:x", Err(Scheme)),
        ("/var/lib", Err(Scheme)),
        ("https://bucket", Err(Scheme)),
        ("file:", Err(NoPath)),
        ("s3://", Err(Bucket)),
        ("s3:///prefix", Err(Bucket)),
        ("s3://key:secret@bucket", Err(Bucket)),
        ("s3://bucket/a//b", Err(Prefix)),
        ("s3://bucket/../b", Err(Prefix)),
        ("s3://bucket/a?key=b", Err(Prefix)),
    ] {
        assert_eq!(BlobSetting::parse(text), expected, "{text}");
    }
}
