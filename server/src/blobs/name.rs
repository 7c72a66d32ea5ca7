//! The names of stored files: 128 bits that nobody guesses, and the ending that
//! says what the file is.
//!
//! A name is all that is known of a file: it says the type, and what it names
//! never changes.

use std::fmt;

use data_encoding::BASE32_DNSSEC;
use hmac::Mac;

use crate::domain::{Media, SigningKey};

const ID_BYTES: usize = 16;
/// So many characters stand for [`ID_BYTES`].
const ID_CHARS: usize = 26;

/// The name of a stored file, such as `0123456789abcdefghijklmno0.png`: 26
/// lower-case letters and digits, a dot, and the ending of its [`Media`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssetName {
    id: [u8; ID_BYTES],
    media: Media,
}

impl AssetName {
    /// A name that nobody had before.
    pub fn random(media: Media) -> Self {
        Self { id: rand::random(), media }
    }

    /// The one name that goes with `key` and `context`: the same for the same,
    /// and not to be guessed without the key. Work that is done twice finds by it
    /// what it left the first time.
    pub fn derived(key: &SigningKey, context: &[u8], media: Media) -> Self {
        let mut mac = key.mac("promptarium asset name 1");
        mac.update(context);
        let mut id = [0; ID_BYTES];
        id.copy_from_slice(&mac.finalize().into_bytes()[..ID_BYTES]);
        Self { id, media }
    }

    /// Reads a name as it is displayed. Each has one spelling only.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, ending) = text.split_once('.')?;
        if id.len() != ID_CHARS {
            return None;
        }
        let media = Media::ALL.into_iter().find(|media| media.extension() == ending)?;
        let id = BASE32_DNSSEC.decode(id.as_bytes()).ok()?.try_into().ok()?;
        let name = Self { id, media };
        // Upper-case letters decode too.
        (name.to_string() == text).then_some(name)
    }

    /// What the file is.
    pub const fn media(&self) -> Media {
        self.media
    }

    /// Where the file is kept, such as `images/….png`.
    pub fn path(&self) -> String {
        let folder = match self.media {
            Media::Png | Media::Jpeg | Media::Webp | Media::Gif => "images",
            Media::Mp4 | Media::Webm => "videos",
        };
        format!("{folder}/{self}")
    }

    /// The part before the ending, as bytes.
    pub(crate) const fn id(&self) -> &[u8; ID_BYTES] {
        &self.id
    }
}

impl fmt::Display for AssetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", BASE32_DNSSEC.encode(&self.id), self.media.extension())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> SigningKey {
        SigningKey::new(&[byte; SigningKey::BYTES_MIN]).unwrap()
    }

    #[test]
    fn a_name_reads_back() {
        for media in Media::ALL {
            let name = AssetName::random(media);
            assert_eq!(name.to_string().find('.'), Some(ID_CHARS));
            assert_eq!(AssetName::parse(&name.to_string()), Some(name));
            assert_eq!(name.media(), media);
        }
    }

    #[test]
    fn other_texts_are_no_names() {
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
    fn derived_names_depend_on_everything_and_on_nothing_else() {
        let name = AssetName::derived(&key(b'k'), b"job 1", Media::Png);
        assert_eq!(AssetName::derived(&key(b'k'), b"job 1", Media::Png), name);
        assert_ne!(AssetName::derived(&key(b'o'), b"job 1", Media::Png), name);
        assert_ne!(AssetName::derived(&key(b'k'), b"job 2", Media::Png), name);
        assert_ne!(AssetName::random(Media::Png), AssetName::random(Media::Png));
    }
}
