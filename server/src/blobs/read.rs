//! The bytes of a stored file as a stream.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use object_store::{GetResult, GetResultPayload};
use tokio::task::spawn_blocking;

use super::BlobError;

/// A file is read in pieces of this size. Each costs a change of threads, so that
/// small ones are slow.
const PIECE_BYTES: usize = 128 * 1024;

/// What was got, piece by piece.
pub(super) fn stream(got: GetResult) -> BoxStream<'static, Result<Bytes, BlobError>> {
    let range = got.range;
    match got.payload {
        GetResultPayload::Stream(stream) => {
            stream.map(|piece| piece.map_err(BlobError::from)).boxed()
        }
        GetResultPayload::File(file, _) => {
            let left = range.end.saturating_sub(range.start);
            stream::try_unfold((Some(file), range.start, left), next_piece).boxed()
        }
    }
}

type Rest = (Option<File>, u64, u64);

async fn next_piece((file, at, left): Rest) -> Result<Option<(Bytes, Rest)>, BlobError> {
    let Some(mut file) = file.filter(|_| left > 0) else {
        return Ok(None);
    };
    let read = spawn_blocking(move || {
        let wanted = left.min(PIECE_BYTES as u64);
        let mut piece = Vec::with_capacity(PIECE_BYTES.min(left as usize));
        file.seek(SeekFrom::Start(at))?;
        (&mut file).take(wanted).read_to_end(&mut piece)?;
        Ok::<_, std::io::Error>((piece, file))
    });
    let (piece, file) = read.await.map_err(std::io::Error::other)??;
    if piece.is_empty() {
        return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
    }
    let read = piece.len() as u64;
    Ok(Some((piece.into(), (Some(file), at + read, left - read))))
}
