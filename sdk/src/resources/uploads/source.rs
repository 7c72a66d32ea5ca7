//! The source of an upload: a file, bytes or a reader, read in chunks, and the type of its image.

use std::ffi::OsStr;
use std::fmt;
#[cfg(feature = "durable")]
use std::future::ready;
use std::io::SeekFrom;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use bytes::{BufMut as _, Bytes, BytesMut};
#[cfg(feature = "durable")]
use futures_core::future::BoxFuture;
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncSeekExt as _};

use crate::error::Error;
use crate::limits::UPLOAD_SIZE_BYTES;
use crate::model::ImageContentType;

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

    /// The number of bytes; `None` for a file that cannot be read.
    #[cfg(feature = "durable")]
    pub(super) fn size(&self) -> BoxFuture<'static, Option<u64>> {
        match &self.0 {
            Kind::Path(path) => {
                let found = tokio::fs::metadata(path.clone());
                Box::pin(async move { Some(found.await.ok()?.len()) })
            }
            Kind::Bytes(bytes) => Box::pin(ready(Some(bytes.len() as u64))),
            Kind::Reader(_, size) => Box::pin(ready(Some(*size))),
        }
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

macro_rules! from {
    ($constructor:ident: $($type:ty),*) => {$(
        impl From<$type> for UploadSource {
            fn from(source: $type) -> Self {
                Self::$constructor(source)
            }
        }
    )*};
}

from!(path: &str, String, &Path, PathBuf, &PathBuf);
from!(bytes: Bytes, Vec<u8>, &'static [u8]);

/// A source whose size and first bytes are known.
pub(super) struct Opened {
    /// Its name in error messages.
    pub(super) name: String,
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
        let (path, size, body) = match source.0 {
            Kind::Path(path) => {
                let unreadable = |source| Error::file(path.display(), "read", source);
                let file = File::open(&path).await.map_err(unreadable)?;
                let found = file.metadata().await.map_err(unreadable)?;
                if found.is_dir() {
                    let text = format!("{} is a directory and no image", path.display());
                    return Err(Error::input(text));
                }
                (Some(path), found.len(), Body::File(file))
            }
            Kind::Bytes(bytes) => (None, bytes.len() as u64, Body::Bytes(bytes)),
            Kind::Reader(reader, size) => (None, size, Body::Reader(Some(reader))),
        };
        let name = path.as_ref().map_or("the image".into(), |path| path.display().to_string());
        if !UPLOAD_SIZE_BYTES.contains(&size) {
            let (min, max) = (UPLOAD_SIZE_BYTES.start(), UPLOAD_SIZE_BYTES.end());
            let text = format!("{name} has {size} bytes; {min} to {max} are accepted");
            return Err(Error::input(text));
        }
        let mut opened = Self { name, path, size, head: Bytes::new(), body };
        opened.read_head().await?;
        Ok(opened)
    }

    async fn read_head(&mut self) -> Result<(), Error> {
        let wanted = self.size.min(HEAD_BYTES as u64);
        let mut head = Vec::with_capacity(HEAD_BYTES);
        let read = match &mut self.body {
            Body::Bytes(bytes) => (&bytes[..]).take(wanted).read_to_end(&mut head).await,
            Body::File(file) => file.take(wanted).read_to_end(&mut head).await,
            Body::Reader(Some(reader)) => reader.take(wanted).read_to_end(&mut head).await,
            Body::Reader(None) => Ok(0),
        };
        let read = read.map_err(|source| Error::file(&self.name, "read", source))? as u64;
        self.head = head.into();
        if read < wanted { Err(ended_early(&self.name, read, self.size)) } else { Ok(()) }
    }

    /// Whether [`chunks`](Self::chunks) can be called more than once.
    pub(super) const fn is_replayable(&self) -> bool {
        !matches!(self.body, Body::Reader(_))
    }

    pub(super) async fn chunks(&mut self) -> Result<Chunks<'_>, Error> {
        let (reader, is_file): (Pin<Box<dyn AsyncRead + Send + '_>>, _) = match &mut self.body {
            Body::Bytes(bytes) => (Box::pin(&bytes[..]), false),
            Body::Reader(reader) => {
                let rest = reader.take().unwrap_or_else(|| Box::pin(tokio::io::empty()));
                (Box::pin(self.head[..].chain(rest)), false)
            }
            Body::File(file) => {
                let rewound = file.seek(SeekFrom::Start(0)).await;
                rewound.map_err(|source| Error::file(&self.name, "read", source))?;
                (Box::pin(file), true)
            }
        };
        Ok(Chunks { name: &self.name, size: self.size, left: self.size, reader, is_file })
    }
}

/// The bytes of a source in chunks: exactly as many as its size.
pub(super) struct Chunks<'a> {
    name: &'a str,
    size: u64,
    left: u64,
    reader: Pin<Box<dyn AsyncRead + Send + 'a>>,
    is_file: bool,
}

impl Chunks<'_> {
    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    pub(super) const fn sent(&self) -> u64 {
        self.size - self.left
    }

    /// The next chunk; `None` after the last.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let most = usize::try_from(self.left).map_or(CHUNK_BYTES, |left| left.min(CHUNK_BYTES));
        if most == 0 {
            return Ok(None);
        }
        let mut chunk = BytesMut::with_capacity(most).limit(most);
        let read = self.reader.read_buf(&mut chunk).await;
        if read.map_err(|source| Error::file(self.name, "read", source))? == 0 {
            return Err(ended_early(self.name, self.sent(), self.size));
        }
        let chunk = chunk.into_inner().freeze();
        self.left -= chunk.len() as u64;
        // A reader is not asked for more, since the answer may have to be waited for.
        if self.left == 0 && self.is_file && self.reader.read_u8().await.is_ok() {
            let text = format!("{} has grown beyond the {} bytes it had", self.name, self.size);
            return Err(Error::input(text));
        }
        Ok(Some(chunk))
    }
}

fn ended_early(name: &str, found: u64, size: u64) -> Error {
    Error::input(format!("{name} ended after {found} of {size} bytes"))
}

const HEAD_BYTES: usize = 12;

/// The type with this signature.
fn of_bytes(head: &[u8]) -> Option<ImageContentType> {
    match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some(ImageContentType::Png),
        [0xFF, 0xD8, 0xFF, ..] => Some(ImageContentType::Jpeg),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(ImageContentType::Gif),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => {
            Some(ImageContentType::Webp)
        }
        _ => None,
    }
}

pub(super) fn type_of_name(path: &Path) -> Option<ImageContentType> {
    let ending = path.extension().and_then(OsStr::to_str)?.to_ascii_lowercase();
    match ending.as_str() {
        "png" => Some(ImageContentType::Png),
        "jpg" | "jpeg" | "jpe" | "jfif" => Some(ImageContentType::Jpeg),
        "gif" => Some(ImageContentType::Gif),
        "webp" => Some(ImageContentType::Webp),
        _ => None,
    }
}

/// The type to declare: that of the bytes. It must be the type that the caller declared, or else
/// that of the file name. A declared type that this version does not know is not checked.
pub(super) fn content_type(
    head: &[u8],
    name: Option<ImageContentType>,
    declared: Option<ImageContentType>,
) -> Result<ImageContentType, String> {
    match (of_bytes(head), declared, name) {
        (None, Some(declared @ ImageContentType::Unknown(_)), _) => Ok(declared),
        (None, ..) => Err("is not a PNG, JPEG, WebP or GIF image (unknown signature)".to_owned()),
        (Some(is), Some(declared), _) if declared != is => {
            Err(format!("is {is} by its first bytes, but was declared as {declared}"))
        }
        (Some(is), None, Some(name)) if name != is => {
            Err(format!("is {is} by its first bytes, but {name} by its name"))
        }
        (Some(is), ..) => Ok(is),
    }
}
