//! The same facts of every kind of store.

use futures::TryStreamExt;

use super::*;
use crate::domain::Media;

/// A folder that goes when the test ends.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!("promptarium-blobs-{:016x}", rand::random::<u64>());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn stores() -> (Folder, [Blobs; 2]) {
    let folder = Folder::new();
    let in_folder = Blobs::open(&BlobSetting::Folder(folder.0.clone())).unwrap();
    (folder, [Blobs::in_memory(), in_folder])
}

async fn gathered(blob: Blob) -> Vec<u8> {
    blob.bytes.map_ok(|piece| piece.to_vec()).try_concat().await.unwrap()
}

fn sample(size: usize) -> Bytes {
    (0..size).map(|at| (at % 251) as u8).collect::<Vec<_>>().into()
}

#[tokio::test]
async fn what_was_put_is_got_byte_for_byte() {
    let (_folder, stores) = stores();
    for blobs in stores {
        for size in [0, 1, 1_000, 1_000_000] {
            let (name, bytes) = (AssetName::random(Media::Png), sample(size));
            assert!(blobs.get(&name).await.unwrap().is_none());
            assert_eq!(blobs.size_of(&name).await.unwrap(), None);
            assert_eq!(blobs.read_all(&name).await.unwrap(), None);

            blobs.put_new(&name, bytes.clone()).await.unwrap();
            let blob = blobs.get(&name).await.unwrap().unwrap();
            assert_eq!(blob.size, size as u64);
            assert_eq!(gathered(blob).await, bytes);
            assert_eq!(blobs.size_of(&name).await.unwrap(), Some(size as u64));
            assert_eq!(blobs.read_all(&name).await.unwrap(), Some(bytes));
        }
    }
}

#[tokio::test]
async fn pieces_become_one_file() {
    let (_folder, stores) = stores();
    for blobs in stores {
        let name = AssetName::random(Media::Png);
        let pieces = [&b"one "[..], b"", b"two"].map(Bytes::from_static);
        blobs.put_new_of(&name, pieces.to_vec()).await.unwrap();
        assert_eq!(blobs.read_all(&name).await.unwrap().unwrap(), "one two");
    }
}

#[tokio::test]
async fn a_part_is_what_stands_there() {
    let (_folder, stores) = stores();
    let (name, bytes) = (AssetName::random(Media::Mp4), sample(300_000));
    for blobs in stores {
        blobs.put_new(&name, bytes.clone()).await.unwrap();
        for range in [0..1, 0..300_000, 299_999..300_000, 100_000..280_000] {
            let part = blobs.get_range(&name, range.clone()).await.unwrap().unwrap();
            assert_eq!(part.size, 300_000);
            let expected = bytes.slice(range.start as usize..range.end as usize);
            assert_eq!(gathered(part).await, expected, "{range:?}");
        }
        assert!(blobs.get_range(&AssetName::random(Media::Png), 0..1).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_name_is_given_once_also_to_several_at_once() {
    let (_folder, stores) = stores();
    for blobs in stores {
        let name = AssetName::random(Media::Gif);
        let puts = (0..8_u8).map(|number| {
            let blobs = blobs.clone();
            async move { blobs.put_new(&name, vec![number; 50_000].into()).await }
        });
        let outcomes = futures::future::join_all(puts).await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        let winner = outcomes.iter().position(Result::is_ok).unwrap() as u8;
        for outcome in outcomes.into_iter().filter_map(Result::err) {
            assert!(matches!(outcome, PutError::Taken), "{outcome}");
        }
        assert_eq!(blobs.read_all(&name).await.unwrap().unwrap(), vec![winner; 50_000]);
        assert!(matches!(blobs.put_new(&name, Bytes::new()).await, Err(PutError::Taken)));
    }
}

#[tokio::test]
async fn a_folder_keeps_files_and_nothing_else() {
    let folder = Folder::new();
    let setting = BlobSetting::Folder(folder.0.join("not/yet/there"));
    let name = AssetName::random(Media::Jpeg);
    let blobs = Blobs::open(&setting).unwrap();
    blobs.put_new(&name, sample(10)).await.unwrap();
    assert!(blobs.put_new(&name, sample(20)).await.is_err());

    let again = Blobs::open(&setting).unwrap();
    assert_eq!(again.read_all(&name).await.unwrap(), Some(sample(10)));
    let files = std::fs::read_dir(folder.0.join("not/yet/there/images")).unwrap();
    let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names, [name.to_string().as_str()]);
}

#[test]
fn an_unusable_folder_is_told_by_its_name() {
    let folder = Folder::new();
    std::fs::create_dir_all(&folder.0).unwrap();
    let file = folder.0.join("file");
    std::fs::write(&file, b"").unwrap();
    for path in [file.clone(), file.join("below")] {
        let error = Blobs::open(&BlobSetting::Folder(path)).unwrap_err();
        assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
    }
}
