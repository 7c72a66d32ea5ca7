//! The media types that are stored and served.

/// A media type of a stored file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// `image/png`
    Png,
    /// `image/jpeg`
    Jpeg,
    /// `image/webp`
    Webp,
    /// `image/gif`
    Gif,
    /// `video/mp4`
    Mp4,
    /// `video/webm`
    Webm,
}

impl Media {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Png, Self::Jpeg, Self::Webp, Self::Gif, Self::Mp4, Self::Webm];

    /// The value of `Content-Type`.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
            Self::Gif => "image/gif",
            Self::Mp4 => "video/mp4",
            Self::Webm => "video/webm",
        }
    }

    /// The file name extension, without a dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Webp => "webp",
            Self::Gif => "gif",
            Self::Mp4 => "mp4",
            Self::Webm => "webm",
        }
    }
}
