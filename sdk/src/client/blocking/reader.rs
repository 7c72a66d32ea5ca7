//! Uploads from what is read by blocking.

use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

use crate::client::UploadSource;

/// A source of an upload that gives at least `size` bytes; what comes after them is not
/// read.
///
/// For blocking clients, whose calls run on the thread that makes them: it is read there,
/// and no time limit ends a read that hangs. As [`UploadSource::reader`] it can be read
/// only once: where the upload would have to be sent again, it fails with
/// [`is_one_shot`](crate::Error::is_one_shot).
///
/// ```no_run
/// # fn example(client: promptarium::blocking::Client) -> Result<(), Box<dyn std::error::Error>> {
/// use promptarium::blocking::reader;
///
/// let picture = reader(std::io::stdin(), 48_213);
/// let image = client.uploads().image(picture).send()?;
/// # Ok(())
/// # }
/// ```
pub fn reader(reader: impl Read + Send + 'static, size: u64) -> UploadSource {
    UploadSource::reader(Plain(Box::new(reader)), size)
}

struct Plain(Box<dyn Read + Send>);

impl AsyncRead for Plain {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let free = buffer.initialize_unfilled();
        let read = loop {
            match self.0.read(free) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        // No more than there was room for, whatever a reader claims.
        buffer.advance(read.min(buffer.remaining()));
        Poll::Ready(Ok(()))
    }
}
