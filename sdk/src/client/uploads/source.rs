//! The source of an upload: a file, bytes or a reader, read in chunks.

use std::fmt;
use std::io::{self, SeekFrom};
use std::path::{Path, PathBuf};
use std::pin::Pin;

use bytes::{Bytes, BytesMut};
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncSeekExt as _};

use super::media::HEAD_BYTES;
use crate::client::Error;
use crate::limits::UPLOAD_SIZE_BYTES;

/// The largest chunk in bytes.
const CHUNK_BYTES: usize = 64 * 1024;

type Reader = Pin<Box<dyn AsyncRead + Send>>;

/// The source of the bytes of an image.
///
/// Files and bytes can be sent again when an upload is retried; a reader cannot. Nothing is opened
/// or read before the upload is awaited. Files and readers are read in chunks.
///
/// ```
/// use promptarium::UploadSource;
///
/// let file = UploadSource::path("harbour.png");
/// let bytes = UploadSource::bytes(vec![0x89, b'P', b'N', b'G']);
/// # let some_reader = tokio::io::empty();
/// let reader = UploadSource::reader(some_reader, 48_213);
/// ```
pub struct UploadSource(Kind);

enum Kind {
    Path(PathBuf),
    Bytes(Bytes),
    Reader(Reader, u64),
}

impl UploadSource {
    /// A file. If its size changes while it is read, the upload fails.
    pub fn path(path: impl Into<PathBuf>) -> Self {
        Self(Kind::Path(path.into()))
    }

    /// Bytes in memory.
    pub fn bytes(bytes: impl Into<Bytes>) -> Self {
        Self(Kind::Bytes(bytes.into()))
    }

    /// The first `size` bytes of a reader.
    ///
    /// It can be read only once: where the upload would be retried, it fails with
    /// [`Error::is_not_replayable`].
    pub fn reader(reader: impl AsyncRead + Send + 'static, size: u64) -> Self {
        Self(Kind::Reader(Box::pin(reader), size))
    }
}

impl fmt::Debug for UploadSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Path(path) => f.debug_tuple("Path").field(path).finish(),
            Kind::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
            Kind::Reader(_, size) => write!(f, "Reader({size} bytes)"),
        }
    }
}

/// Paths of a file.
macro_rules! from_path {
    ($($path:ty),*) => {$(
        impl From<$path> for UploadSource {
            fn from(path: $path) -> Self {
                Self::path(path)
            }
        }
    )*};
}

from_path!(&str, String, &Path, PathBuf, &PathBuf);

impl From<Bytes> for UploadSource {
    fn from(bytes: Bytes) -> Self {
        Self::bytes(bytes)
    }
}

impl From<Vec<u8>> for UploadSource {
    fn from(bytes: Vec<u8>) -> Self {
        Self::bytes(bytes)
    }
}

impl From<&'static [u8]> for UploadSource {
    fn from(bytes: &'static [u8]) -> Self {
        Self::bytes(bytes)
    }
}

/// A source whose size and first bytes are known.
pub(super) struct Opened {
    /// Its name in error messages.
    pub(super) name: String,
    /// Its path, if it is a file.
    pub(super) path: Option<PathBuf>,
    pub(super) size: u64,
    pub(super) head: Bytes,
    body: Body,
}

enum Body {
    File(File),
    Bytes(Bytes),
    Reader(Option<Reader>),
}

impl Opened {
    /// Determines the size, and reads the first bytes if the size is accepted.
    pub(super) async fn open(source: UploadSource) -> Result<Self, Error> {
        let mut opened = match source.0 {
            Kind::Path(path) => {
                let name = path.display().to_string();
                let unreadable = |source| Error::file(&name, "read", source);
                let file = File::open(&path).await.map_err(unreadable)?;
                let found = file.metadata().await.map_err(unreadable)?;
                if found.is_dir() {
                    return Err(Error::input(format!("{name} is a directory and no image")));
                }
                let opened = Self::new(name, found.len(), Body::File(file));
                Self { path: Some(path), ..opened }
            }
            Kind::Bytes(bytes) => Self::unnamed(bytes.len() as u64, Body::Bytes(bytes)),
            Kind::Reader(reader, size) => Self::unnamed(size, Body::Reader(Some(reader))),
        };
        if !UPLOAD_SIZE_BYTES.contains(&opened.size) {
            return Err(Error::input(format!(
                "{} has {} bytes; {} to {} are accepted",
                opened.name,
                opened.size,
                UPLOAD_SIZE_BYTES.start(),
                UPLOAD_SIZE_BYTES.end()
            )));
        }
        opened.read_head().await?;
        Ok(opened)
    }

    const fn new(name: String, size: u64, body: Body) -> Self {
        Self { name, path: None, size, head: Bytes::new(), body }
    }

    fn unnamed(size: u64, body: Body) -> Self {
        Self::new("the image".to_owned(), size, body)
    }

    async fn read_head(&mut self) -> Result<(), Error> {
        let wanted = usize::try_from(self.size).map_or(HEAD_BYTES, |size| size.min(HEAD_BYTES));
        let head = match &mut self.body {
            Body::Bytes(bytes) => Ok(bytes.slice(..wanted)),
            Body::File(file) => read_up_to(file, wanted).await,
            Body::Reader(Some(reader)) => read_up_to(reader, wanted).await,
            Body::Reader(None) => Ok(Bytes::new()),
        };
        self.head = head.map_err(|source| Error::file(&self.name, "read", source))?;
        if self.head.len() < wanted {
            return Err(ended_early(&self.name, self.head.len() as u64, self.size));
        }
        Ok(())
    }

    /// Whether [`chunks`](Self::chunks) can be called more than once.
    pub(super) const fn is_replayable(&self) -> bool {
        !matches!(self.body, Body::Reader(_))
    }

    /// The chunks, from the first byte.
    pub(super) async fn chunks(&mut self) -> Result<Chunks<'_>, Error> {
        let (head, rest) = match &mut self.body {
            Body::Bytes(bytes) => (bytes.clone(), Rest::None),
            Body::Reader(reader) => {
                (self.head.clone(), reader.take().map_or(Rest::None, Rest::Reader))
            }
            Body::File(file) => {
                let rewound = file.seek(SeekFrom::Start(0)).await;
                rewound.map_err(|source| Error::file(&self.name, "read", source))?;
                (Bytes::new(), Rest::File(file))
            }
        };
        Ok(Chunks { name: &self.name, size: self.size, left: self.size, head, rest })
    }
}

/// The bytes of a source in chunks: exactly as many as its size.
pub(in crate::client) struct Chunks<'a> {
    name: &'a str,
    size: u64,
    left: u64,
    /// The bytes before `rest`.
    head: Bytes,
    rest: Rest<'a>,
}

enum Rest<'a> {
    None,
    File(&'a mut File),
    Reader(Reader),
}

impl Chunks<'_> {
    pub(in crate::client) const fn size(&self) -> u64 {
        self.size
    }

    pub(in crate::client) const fn sent(&self) -> u64 {
        self.size - self.left
    }

    /// The next chunk; `None` after the last.
    pub(in crate::client) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let most = usize::try_from(self.left).map_or(CHUNK_BYTES, |left| left.min(CHUNK_BYTES));
        if most == 0 {
            return Ok(None);
        }
        let chunk = if self.head.is_empty() {
            self.rest.read(most).await
        } else {
            Ok(self.head.split_to(most.min(self.head.len())))
        };
        let chunk = chunk.map_err(|source| Error::file(self.name, "read", source))?;
        if chunk.is_empty() {
            return Err(ended_early(self.name, self.sent(), self.size));
        }
        self.left -= chunk.len() as u64;
        if self.left == 0 && self.rest.has_more().await {
            let text = format!("{} has grown beyond the {} bytes it had", self.name, self.size);
            return Err(Error::input(text));
        }
        Ok(Some(chunk))
    }
}

impl Rest<'_> {
    async fn read(&mut self, most: usize) -> io::Result<Bytes> {
        let mut chunk = BytesMut::with_capacity(most);
        let source: &mut (dyn AsyncRead + Send + Unpin) = match self {
            Self::None => return Ok(Bytes::new()),
            Self::File(file) => file,
            Self::Reader(reader) => reader,
        };
        source.take(most as u64).read_buf(&mut chunk).await?;
        Ok(chunk.freeze())
    }

    /// Whether a file has more bytes. A reader is not asked, since the answer may have to be waited for.
    async fn has_more(&mut self) -> bool {
        match self {
            Self::File(file) => file.read_u8().await.is_ok(),
            Self::None | Self::Reader(_) => false,
        }
    }
}

async fn read_up_to(source: &mut (impl AsyncRead + Unpin), most: usize) -> io::Result<Bytes> {
    let mut head = Vec::with_capacity(most);
    source.take(most as u64).read_to_end(&mut head).await?;
    Ok(head.into())
}

fn ended_early(name: &str, found: u64, size: u64) -> Error {
    Error::input(format!("{name} ended after {found} of {size} bytes"))
}
