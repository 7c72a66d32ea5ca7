//! The source of an upload: a file, bytes or a reader, read in chunks, and the type of its image.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::pin::Pin;

use bytes::{BufMut as _, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncSeekExt as _};

use super::file::{self, File, Version};
use crate::error::Error;
use crate::model::ImageContentType;

const CHUNK_BYTES: usize = 64 * 1024;

type Reader = Pin<Box<dyn AsyncRead + Send>>;

/// The source of the bytes of an image. Nothing is opened or read before the upload is awaited. Files
/// and readers are read in chunks.
///
/// `&str`, `&Path` and `PathBuf` are paths, and a `Vec<u8>` is bytes. A `String` is neither, since it
/// often has text of another person, who must not choose a file:
///
/// ```compile_fail,E0277
/// # use promptarium::*; async fn example(client: Client, field: String) -> Result<(), Error> {
/// client.uploads().image(field).await?;
/// # Ok(()) }
/// ```
pub struct UploadSource(Kind);

enum Kind {
    Path(PathBuf),
    /// Text that is a URL in place of a path. It may contain a secret.
    Url,
    Bytes(Bytes),
    Reader(Reader, u64),
}

impl UploadSource {
    /// A regular file. If it changes while it is read, the upload fails.
    pub fn path(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self(if is_url(&path) { Kind::Url } else { Kind::Path(path) })
    }

    /// Bytes in memory.
    pub fn bytes(bytes: impl Into<Bytes>) -> Self {
        Self(Kind::Bytes(bytes.into()))
    }

    /// The first `size` bytes of a reader. It can be read only once: where the upload would be
    /// retried, it fails with [`Error::is_not_replayable`].
    pub fn reader(reader: impl AsyncRead + Send + 'static, size: u64) -> Self {
        Self(Kind::Reader(Box::pin(reader), size))
    }

    /// The number of bytes; `None` for a file that cannot be read.
    #[cfg(feature = "durable")]
    pub(super) async fn size(&mut self) -> Option<u64> {
        match &mut self.0 {
            Kind::Path(path) => file::size(path).await,
            Kind::Url => None,
            Kind::Bytes(bytes) => Some(bytes.len() as u64),
            Kind::Reader(_, size) => Some(*size),
        }
    }
}

impl fmt::Debug for UploadSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Path(path) => f.debug_tuple("Path").field(path).finish(),
            Kind::Url => f.write_str("Url"),
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

// No `String`: the text of a visitor must not open a file.
from!(path: &str, &Path, PathBuf, &PathBuf);
from!(bytes: Bytes, Vec<u8>, &'static [u8]);

fn is_url(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

/// A source whose size and first bytes are known, read in chunks: exactly as many bytes as its size.
pub(super) struct Opened {
    pub(super) name: String,
    pub(super) path: Option<PathBuf>,
    pub(super) size: u64,
    pub(super) head: Vec<u8>,
    /// Bytes that were not read since it was rewound.
    left: u64,
    body: Body,
}

enum Body {
    File(File, Version),
    Bytes(Cursor<Bytes>),
    Reader(Reader),
}

impl Opened {
    /// Determines the size and reads the first bytes. The service decides on the largest size.
    pub(super) async fn open(source: UploadSource) -> Result<Self, Error> {
        let (path, size, body) = match source.0 {
            Kind::Path(path) => {
                let (file, version) = file::open(&path).await?;
                (Some(path), version.0, Body::File(file, version))
            }
            Kind::Url => {
                return Err(Error::input(
                    "the source is a URL, not the path of a file; pass the URL itself to the call \
                     that needs the image, or download it and upload the bytes",
                ));
            }
            Kind::Bytes(bytes) => (None, bytes.len() as u64, Body::Bytes(Cursor::new(bytes))),
            Kind::Reader(reader, size) => (None, size, Body::Reader(reader)),
        };
        let name = path.as_ref().map_or("the image".into(), |path| path.display().to_string());
        if size == 0 {
            return Err(Error::input(format!("{name} is empty")));
        }
        let mut opened = Self { name, path, size, head: Vec::new(), left: size, body };
        let (wanted, mut head) = (size.min(HEAD_BYTES as u64), Vec::new());
        let read = opened.reader().take(wanted).read_to_end(&mut head).await;
        let read = read.map_err(|source| opened.unreadable(source))? as u64;
        if read < wanted {
            return Err(opened.ended_after(read));
        }
        opened.head.clone_from(&head);
        if let Body::Reader(rest) = opened.body {
            opened.body = Body::Reader(Box::pin(Cursor::new(head).chain(rest)));
        }
        Ok(opened)
    }

    fn reader(&mut self) -> &mut (dyn AsyncRead + Send + Unpin) {
        match &mut self.body {
            Body::File(file, _) => file,
            Body::Bytes(bytes) => bytes,
            Body::Reader(reader) => reader,
        }
    }

    /// Whether [`rewind`](Self::rewind) can be called more than once.
    pub(super) const fn is_replayable(&self) -> bool {
        !matches!(self.body, Body::Reader(_))
    }

    pub(super) async fn rewind(&mut self) -> Result<(), Error> {
        self.left = self.size;
        let rewound = match &mut self.body {
            Body::File(file, _) => file.rewind().await,
            Body::Bytes(bytes) => bytes.rewind().await,
            Body::Reader(_) => Ok(0),
        };
        rewound.map(drop).map_err(|source| self.unreadable(source))
    }

    pub(super) const fn sent(&self) -> u64 {
        self.size - self.left
    }

    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let most = usize::try_from(self.left).map_or(CHUNK_BYTES, |left| left.min(CHUNK_BYTES));
        if most == 0 {
            return Ok(None);
        }
        let mut chunk = BytesMut::with_capacity(most).limit(most);
        let read = self.reader().read_buf(&mut chunk).await;
        if read.map_err(|source| self.unreadable(source))? == 0 {
            return Err(self.ended_after(self.sent()));
        }
        let chunk = chunk.into_inner().freeze();
        self.left -= chunk.len() as u64;
        // All bytes were read and the last are not sent yet: the storage receives no mixture.
        if self.left == 0
            && let Body::File(opened, was) = &mut self.body
            && file::version(opened)
                .await
                .map_err(|source| Error::file(&self.name, "read", source))?
                != *was
        {
            return Err(Error::input(format!("{} was changed while it was sent", self.name)));
        }
        Ok(Some(chunk))
    }

    fn unreadable(&self, source: io::Error) -> Error {
        Error::file(&self.name, "read", source)
    }

    fn ended_after(&self, read: u64) -> Error {
        Error::input(format!("{} ended after {read} of {} bytes", self.name, self.size))
    }
}

const HEAD_BYTES: usize = 12;

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
