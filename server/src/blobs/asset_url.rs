//! Names and URLs of stored files.
//!
//! An asset is at `{public}/assets/{name}`; the bytes of an upload go to
//! `{public}/storage/{name}`. Who may upload is for [`super::upload_slot`].

use std::fmt;
use std::sync::Arc;

use data_encoding::BASE32_DNSSEC;
use hmac::Mac;
use url::Url;

use crate::domain::{Media, SigningKey};

/// The path of assets, below the public URL.
pub(crate) const ASSETS: &str = "/assets/{name}";
/// The path of upload URLs, below the public URL.
pub(crate) const STORAGE: &str = "/storage/{name}";

const ASSETS_PREFIX: &str = "/assets/";
const STORAGE_PREFIX: &str = "/storage/";

/// 128 random bits, which cannot be guessed.
const ID_BYTES: usize = 16;
/// Characters that encode [`ID_BYTES`].
const ID_CHARS: usize = 26;

/// The name of a stored file, such as `0123456789abcdefghijklmno0.png`: 26 lower-case letters and
/// digits, a dot, and the extension of its [`Media`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AssetName {
    pub(super) id: [u8; ID_BYTES],
    media: Media,
}

impl AssetName {
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

    pub const fn media(&self) -> Media {
        self.media
    }

    /// The path in the store, such as `images/….png`.
    pub fn path(&self) -> String {
        let folder = match self.media {
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

/// Writes and recognises URLs of stored files. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Assets(Arc<Url>);

impl Assets {
    /// `public` is how clients reach the service, without query and fragment. It may have a path
    /// that a proxy strips, and end in a slash.
    pub fn new(public: &Url) -> Self {
        Self(Arc::new(public.clone()))
    }

    /// The permanent URL of a file (UP-06).
    pub fn url_of(&self, name: &AssetName) -> String {
        format!("{}{ASSETS_PREFIX}{name}", self.0.as_str().trim_end_matches('/'))
    }

    /// The URL that takes the bytes of a file, not yet signed.
    pub fn upload_url_of(&self, name: &AssetName) -> String {
        format!("{}{STORAGE_PREFIX}{name}", self.0.as_str().trim_end_matches('/'))
    }

    /// The file that a URL of this service names.
    pub fn name_in(&self, url: &str) -> Option<AssetName> {
        AssetName::parse(self.path_below(&Url::parse(url).ok()?)?.strip_prefix(ASSETS_PREFIX)?)
    }

    /// Whether a URL takes uploads and so is not that of an image (UP-17). Under another host
    /// name of this server it is recognised by its form.
    pub fn is_upload_url(&self, url: &str) -> bool {
        let Ok(url) = Url::parse(url) else { return false };
        let name =
            url.path().rsplit_once(STORAGE_PREFIX).and_then(|(_, name)| AssetName::parse(name));
        self.path_below(&url).is_some_and(|path| path.starts_with(STORAGE_PREFIX))
            || (name.is_some() && url.query().is_some())
    }

    /// The path of a URL below the public one.
    fn path_below<'a>(&self, url: &'a Url) -> Option<&'a str> {
        let path = url.path().strip_prefix(self.0.path().trim_end_matches('/'));
        path.filter(|_| url.origin() == self.0.origin())
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

    fn assets(public: &str) -> Assets {
        Assets::new(&Url::parse(public).unwrap())
    }

    #[test]
    fn a_url_parses_back() {
        let name = AssetName::random(Media::Webp);
        for public in ["http://127.0.0.1:8080", "https://example.com/", "https://a.example/p/q/"] {
            let assets = assets(public);
            let url = assets.url_of(&name);
            assert_eq!(url, format!("{}/assets/{name}", public.trim_end_matches('/')));
            assert_eq!(assets.name_in(&url), Some(name));
            assert!(!assets.is_upload_url(&url));

            let upload = assets.upload_url_of(&name);
            assert_eq!(assets.name_in(&upload), None);
            assert!(assets.is_upload_url(&upload));
            assert!(assets.is_upload_url(&format!("{upload}?slot=x")));
        }
    }

    #[test]
    fn urls_of_other_origins_and_forms_are_told_apart() {
        let assets = assets("http://127.0.0.1:8080");
        let name = AssetName::random(Media::Png);
        for root in ["https://127.0.0.1:8080", "http://127.0.0.1:8081", "http://localhost:8080"] {
            assert_eq!(assets.name_in(&format!("{root}/assets/{name}")), None);
            assert!(!assets.is_upload_url(&format!("{root}/storage/{name}")));
            assert!(assets.is_upload_url(&format!("{root}/x/storage/{name}?slot=x")));
        }
        for url in
            ["", "data:image/png;base64,AA", "http://127.0.0.1:8080/assets/x.png", "/assets/"]
        {
            assert_eq!(assets.name_in(url), None);
            assert!(!assets.is_upload_url(url), "{url}");
        }
        for path in ["/storage/x.png", "/assets/../storage/x.png", "/storage/x.png#a"] {
            assert!(assets.is_upload_url(&format!("HTTP://user@127.0.0.1:8080{path}")), "{path}");
        }
    }
}
