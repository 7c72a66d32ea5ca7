//! Stored files: their names, and what a record says of an image.

use std::fmt;

use data_encoding::BASE32_DNSSEC;
use hmac::Mac;
use serde::de::Deserializer;
use serde::{Deserialize, Serialize, Serializer};

use super::SigningKey;

/// 128 random bits, which cannot be guessed, and the characters that encode them.
const ID_BYTES: usize = 16;
const ID_CHARS: usize = 26;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    Png,
    Jpeg,
    Webp,
    Gif,
    Avif,
    Mp4,
    Webm,
}

impl Media {
    pub const ALL: [Self; 7] =
        [Self::Png, Self::Jpeg, Self::Webp, Self::Gif, Self::Avif, Self::Mp4, Self::Webm];

    pub const fn content_type(self) -> &'static str {
        self.names().0
    }

    /// The file name extension, without a dot.
    pub const fn extension(self) -> &'static str {
        self.names().1
    }

    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Png => ("image/png", "png"),
            Self::Jpeg => ("image/jpeg", "jpg"),
            Self::Webp => ("image/webp", "webp"),
            Self::Gif => ("image/gif", "gif"),
            Self::Avif => ("image/avif", "avif"),
            Self::Mp4 => ("video/mp4", "mp4"),
            Self::Webm => ("video/webm", "webm"),
        }
    }
}

/// The name of a stored file: 26 lower-case letters and digits, a dot, and an extension.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AssetName {
    id: [u8; ID_BYTES],
    media: Media,
    /// Whether it is the thumbnail of the asset with this id. No name that parses is one.
    is_thumbnail: bool,
}

impl AssetName {
    pub(crate) fn random(media: Media) -> Self {
        Self { id: rand::random(), media, is_thumbnail: false }
    }

    /// The name that belongs to `context`, not to be guessed without the key. A repeated step finds
    /// by it what the first attempt stored.
    pub(crate) fn derived(key: &SigningKey, context: &[u8], media: Media) -> Self {
        let mut mac = key.mac("promptarium asset name 1");
        mac.update(context);
        let mut id = [0; ID_BYTES];
        id.copy_from_slice(&mac.finalize().into_bytes()[..ID_BYTES]);
        Self { id, media, is_thumbnail: false }
    }

    /// Parses a name as it is displayed. Each has exactly one spelling.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, extension) = text.split_once('.').filter(|(id, _)| id.len() == ID_CHARS)?;
        let media = Media::ALL.into_iter().find(|media| media.extension() == extension)?;
        let id = BASE32_DNSSEC.decode(id.as_bytes()).ok()?.try_into().ok()?;
        // Upper-case letters decode too.
        Some(Self { id, media, is_thumbnail: false }).filter(|name| name.to_string() == text)
    }

    pub(crate) const fn thumbnail(&self) -> Self {
        Self { id: self.id, media: Media::Jpeg, is_thumbnail: true }
    }

    pub const fn media(&self) -> Media {
        self.media
    }

    pub(crate) const fn id(&self) -> &[u8; ID_BYTES] {
        &self.id
    }

    /// The path in the store, such as `images/….png`.
    pub(crate) fn path(&self) -> String {
        let folder = match self.media {
            _ if self.is_thumbnail => "thumbnails",
            Media::Mp4 | Media::Webm => "videos",
            _ => "images",
        };
        format!("{folder}/{self}")
    }
}

impl fmt::Display for AssetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", BASE32_DNSSEC.encode(&self.id), self.media.extension())
    }
}

/// The name is all that protects an asset, so it stays out.
impl fmt::Debug for AssetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AssetName(<redacted>.{})", self.media.extension())
    }
}

/// An image or video that a record refers to.
///
/// Its text in a database is the name of an asset or an absolute URL; a name has no colon. The URL
/// of an asset is written when a response is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageRef {
    /// A file of this service, whatever its public URL is now.
    Asset(AssetName),
    /// A URL of another service, as the client wrote it.
    External(Box<str>),
}

impl ImageRef {
    /// Bytes of its text, at most.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Asset(_) => ID_CHARS + ".webm".len(),
            Self::External(url) => url.len(),
        }
    }
}

impl From<&str> for ImageRef {
    fn from(text: &str) -> Self {
        AssetName::parse(text).map_or_else(|| Self::External(text.into()), Self::Asset)
    }
}

impl fmt::Display for ImageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asset(name) => name.fmt(f),
            Self::External(url) => f.write_str(url),
        }
    }
}

impl Serialize for ImageRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ImageRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::from(&*text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> SigningKey {
        SigningKey::new(&[byte; SigningKey::BYTES_MIN]).unwrap()
    }

    #[test]
    fn a_name_parses_back_and_other_texts_do_not() {
        for media in Media::ALL {
            let name = AssetName::random(media);
            assert_eq!(AssetName::parse(&name.to_string()), Some(name));
            assert_eq!(name.media(), media);
        }
        let id = "0123456789abcdefghijklmno0";
        assert!(AssetName::parse(&format!("{id}.png")).is_some());
        // The last character holds three bits only, so it is not 1.
        for text in "|.png|{id}|{id}.|{id}.PNG|{id}.jpeg|{id}.png.png|{id}0.png\
                     |0123456789ABCDEFGHIJKLMNO0.png|0123456789abcdefghijklmno1.png\
                     |0123456789abcdefghijklmno.png|0123456789abcdefghijklmnz0.png\
                     |../../../../../etc/passwd0.png|0123456789abcdefghijklmn%30.png\
                     |0123456789abcdefghijklmn/0.png"
            .replace("{id}", id)
            .split('|')
        {
            assert_eq!(AssetName::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_derived_name_depends_on_key_and_context_only() {
        let name = AssetName::derived(&key(b'k'), b"job 1", Media::Png);
        assert_eq!(AssetName::derived(&key(b'k'), b"job 1", Media::Png), name);
        assert_ne!(AssetName::derived(&key(b'o'), b"job 1", Media::Png), name);
        assert_ne!(AssetName::derived(&key(b'k'), b"job 2", Media::Png), name);
        assert_ne!(AssetName::random(Media::Png), AssetName::random(Media::Png));
    }

    #[test]
    fn the_text_of_a_reference_is_a_name_or_a_url_and_is_read_back() {
        let name = AssetName::random(Media::Png);
        let external = format!("https://other.example/assets/{name}");
        for (image, text) in [
            (ImageRef::Asset(name), name.to_string()),
            (ImageRef::External((*external).into()), external.clone()),
        ] {
            assert_eq!((image.to_string(), ImageRef::from(&*text)), (text.clone(), image.clone()));
            let json = serde_json::to_string(&image).unwrap();
            assert_eq!(json, format!("\"{text}\""));
            assert_eq!(serde_json::from_str::<ImageRef>(&json).unwrap(), image);
        }
    }
}
