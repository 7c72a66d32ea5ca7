//! Putting a large file in parts, so that little of it is in memory.

use std::io::{Read, Seek, Write};

use object_store::{Attribute, Attributes};

use super::staging::{TempFile, blocking};
use super::{BlobError, Blobs, PutError, key};
use crate::domain::AssetName;
use crate::limits::S3_PART_BYTES;

impl Blobs {
    /// Puts a large file in parts. Unlike a whole one it would replace a file of its name that
    /// was stored meanwhile; only the output of one job can, and it is the same.
    pub(super) async fn put_parts(
        &self,
        name: &AssetName,
        mut file: TempFile,
        tail: Vec<u8>,
    ) -> Result<(), PutError> {
        if self.size_of(name).await?.is_some() {
            return Err(PutError::Taken);
        }
        let mut file = blocking(move || {
            file.0.write_all(&tail)?;
            file.0.rewind()?;
            Ok::<_, BlobError>(file)
        })
        .await?;
        let of_type = (Attribute::ContentType, name.media().content_type());
        let options = Attributes::from_iter([of_type]).into();
        let upload = self.store.put_multipart_opts(&key(name), options).await;
        let mut upload = upload.map_err(BlobError::from)?;
        let sent = async {
            loop {
                let _permit = self.permit(S3_PART_BYTES).await?;
                let mut part = Vec::new();
                (file, part) = blocking(move || {
                    (&file.0).take(S3_PART_BYTES).read_to_end(&mut part)?;
                    Ok::<_, BlobError>((file, part))
                })
                .await?;
                if part.is_empty() {
                    break;
                }
                upload.put_part(part.into()).await?;
            }
            upload.complete().await?;
            Ok::<_, BlobError>(())
        };
        let sent = sent.await;
        if sent.is_err() {
            // If this fails too, the store keeps the parts; see docs/configure.md.
            let _ = upload.abort().await;
        }
        Ok(sent?)
    }
}
