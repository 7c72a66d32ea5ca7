//! Names of stored files: 128 random bits, which nobody guesses, and the extension that says what
//! the file is.

use std::fmt;

use data_encoding::BASE32_DNSSEC;
use hmac::Mac;

use crate::domain::{Media, SigningKey};

const ID_BYTES: usize = 16;
/// Characters that encode [`ID_BYTES`].
const ID_CHARS: usize = 26;

/// The name of a stored file, such as `0123456789abcdefghijklmno0.png`: 26 lower-case letters and
/// digits, a dot, and the extension of its [`Media`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AssetName {
    id: [u8; ID_BYTES],
    media: Media,
}

impl AssetName {
    /// A new name.
    pub fn random(media: Media) -> Self {
        Self { id: rand::random(), media }
    }

    /// The name that belongs to `context`, not to be guessed without the key. Work that is
    /// repeated finds by it what the first attempt stored.
    pub fn derived(key: &SigningKey, context: &[u8], media: Media) -> Self {
        let mut mac = key.mac("promptarium asset name 1");
        mac.update(context);
        let mut id = [0; ID_BYTES];
        id.copy_from_slice(&mac.finalize().into_bytes()[..ID_BYTES]);
        Self { id, media }
    }

    /// Parses a name as it is displayed. Each has exactly one spelling.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, extension) = text.split_once('.').filter(|(id, _)| id.len() == ID_CHARS)?;
        let media = Media::ALL.into_iter().find(|media| media.extension() == extension)?;
        let id = BASE32_DNSSEC.decode(id.as_bytes()).ok()?.try_into().ok()?;
        // Upper-case letters decode too.
        Some(Self { id, media }).filter(|name| name.to_string() == text)
    }

    /// What the file is.
    pub const fn media(&self) -> Media {
        self.media
    }

    /// The path in the store, such as `images/….png`.
    pub fn path(&self) -> String {
        let folder = match self.media {
            Media::Png | Media::Jpeg | Media::Webp | Media::Gif => "images",
            Media::Mp4 | Media::Webm => "videos",
        };
        format!("{folder}/{self}")
    }

    /// The random part.
    pub(crate) const fn id(&self) -> &[u8; ID_BYTES] {
        &self.id
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

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> SigningKey {
        SigningKey::new(&[byte; SigningKey::BYTES_MIN]).unwrap()
    }

    #[test]
    fn a_name_parses_back() {
        for media in Media::ALL {
            let name = AssetName::random(media);
            assert_eq!(name.to_string().find('.'), Some(ID_CHARS));
            assert_eq!(AssetName::parse(&name.to_string()), Some(name));
            assert_eq!(name.media(), media);
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let good = "0123456789abcdefghijklmno0.png";
        assert!(AssetName::parse(good).is_some());
        for text in [
            "",
            ".png",
            "0123456789abcdefghijklmno0",
            "0123456789abcdefghijklmno0.",
            "0123456789abcdefghijklmno0.PNG",
            "0123456789abcdefghijklmno0.jpeg",
            "0123456789abcdefghijklmno0.png.png",
            "0123456789ABCDEFGHIJKLMNO0.png",
            // The last character holds three bits only.
            "0123456789abcdefghijklmno1.png",
            "0123456789abcdefghijklmno.png",
            "0123456789abcdefghijklmno00.png",
            "0123456789abcdefghijklmnz0.png",
            "../../../../../etc/passwd0.png",
            "0123456789abcdefghijklmn%30.png",
            "0123456789abcdefghijklmn/0.png",
        ] {
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
}
