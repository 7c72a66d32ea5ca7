//! Saves a download to a file.

use std::path::PathBuf;

use futures_core::future::BoxFuture;

use super::fetch::Fetch;
use super::file::Target;
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

impl AssetToSave<'_> {
    async fn save(self, context: Context) -> Result<u64, Error> {
        require_runtime()?;
        let Self { asset, path } = self;
        if asset.first > 0 {
            let text = "`save` writes a whole asset; append the `stream` to a partial file instead";
            return Err(Error::input(text));
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
    }
}

impl<'a> Run<u64> for AssetToSave<'a> {
    type Future = BoxFuture<'a, Result<u64, Error>>;

    fn run(self, context: Context) -> Self::Future {
        Box::pin(self.save(context))
    }
}
