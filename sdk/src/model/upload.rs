//! Upload slots: where the bytes of an image go, and where they can be found.
//!
//! A slot holds two addresses that must not be confused: the signed one, which
//! takes the bytes once and grants access to whoever sees it, and the permanent
//! one, which goes into later calls. They are two types, and the signed one shows
//! itself only when asked by name.

use std::borrow::Cow;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use url::Url;

use crate::model::open_enum::open_enum;

open_enum! {
    /// The type of an uploaded image.
    ImageContentType {
        /// PNG.
        Png = "image/png",
        /// JPEG.
        Jpeg = "image/jpeg",
        /// WebP.
        Webp = "image/webp",
        /// GIF.
        Gif = "image/gif",
    }
}

/// Leave to upload one image of exactly the declared type and size.
///
/// Written as JSON it shows its secrets; `Debug` does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UploadSlot {
    /// Where the bytes go, once.
    pub upload_url: UploadUrl,
    /// What authorises the upload. The API key is not used there.
    pub token: UploadToken,
    /// Where the image will be, for good; the address for later calls.
    pub url: AssetUrl,
    /// Its path in the storage.
    pub path: String,
    /// The declared type.
    pub content_type: ImageContentType,
    /// The declared size in bytes.
    pub size: u64,
    /// Seconds from the answer until `upload_url` stops working (`expiresIn`).
    #[serde(rename = "expiresIn")]
    pub expires_in_seconds: u64,
}

/// The signed address that takes the bytes of one upload. Never the address of the
/// image: that is an [`AssetUrl`].
///
/// `Debug` and `Display` leave out its query, which holds the signature.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct UploadUrl(Url);

impl UploadUrl {
    /// The whole address with its signature. Whoever sees it can upload.
    #[must_use]
    pub const fn expose(&self) -> &Url {
        &self.0
    }
}

impl<'de> Deserialize<'de> for UploadUrl {
    /// A failure does not repeat the address.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Url::parse(&text).map(Self).map_err(|_| D::Error::custom("not an absolute URL"))
    }
}

impl fmt::Display for UploadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_secrets(self.0.clone()))
    }
}

/// An address without what may authorise somebody, and a mark where its query was.
fn without_secrets(mut url: Url) -> String {
    url.set_fragment(None);
    // A URL that can hold neither has none to hide.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    if url.query().is_some() {
        url.set_query(Some("…"));
    }
    // `Url` would percent-encode the mark that says something was left out.
    url.as_str().replace("%E2%80%A6", "…")
}

impl fmt::Debug for UploadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UploadUrl({self})")
    }
}

/// What authorises one upload. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UploadToken(String);

impl UploadToken {
    /// The token itself. Whoever sees it can upload.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for UploadToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UploadToken(…)")
    }
}

/// The permanent address of an image. Goes wherever a call takes the address of an
/// image.
///
/// `Display` is the whole of it. `Debug` leaves out a password and the query, since
/// some storages sign the addresses of images too.
///
/// ```
/// let url = promptarium::AssetUrl::from("https://cdn.example/a.png");
/// assert_eq!(url.as_str(), "https://cdn.example/a.png");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AssetUrl(String);

impl AssetUrl {
    /// The address as the service gave it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for AssetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = match Url::parse(&self.0) {
            Ok(url) if url.has_host() => without_secrets(url),
            // What is no address may hold the same in other places.
            _ if self.0.contains(['?', '#', '@']) => "…".to_owned(),
            _ => self.0.clone(),
        };
        f.debug_tuple("AssetUrl").field(&shown).finish()
    }
}

impl fmt::Display for AssetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for AssetUrl {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<String> for AssetUrl {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for AssetUrl {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<AssetUrl> for String {
    fn from(url: AssetUrl) -> Self {
        url.0
    }
}

impl From<&AssetUrl> for String {
    fn from(url: &AssetUrl) -> Self {
        url.0.clone()
    }
}

impl From<&AssetUrl> for AssetUrl {
    fn from(url: &AssetUrl) -> Self {
        url.clone()
    }
}
