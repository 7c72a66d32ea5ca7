//! Upload slots.
//!
//! A slot has two URLs that must not be confused, so they are two types: the signed one, a secret
//! that accepts the bytes once, and the permanent one of the image.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use url::Url;

use crate::model::declare::{model, open_enum, text};
use crate::model::lenient::{Text, integer, word};

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

model! {
    /// The permission to upload one image of the declared type and size.
    ///
    /// Serialized, it contains its secrets; `Debug` does not.
    pub struct UploadSlot {
        /// The signed URL that accepts the bytes, once.
        pub upload_url: UploadUrl,
        /// The token that authorizes the upload in place of the API key.
        pub token: UploadToken,
        /// The permanent URL of the image, for later calls.
        pub url: AssetUrl,
        /// The path of the image in the storage.
        pub path: String,
        /// The declared type.
        #[serde(deserialize_with = "word")]
        pub content_type: ImageContentType,
        /// The declared size in bytes.
        #[serde(deserialize_with = "integer")]
        pub size: u64,
        /// The lifetime of the slot in seconds (`expiresIn`).
        #[serde(rename = "expiresIn", deserialize_with = "integer")]
        pub expires_in_seconds: u64,
    }
}

/// The signed URL that accepts the bytes of one upload. The URL of the image is an [`AssetUrl`].
///
/// `Debug` and `Display` omit the query, which contains the signature.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct UploadUrl(Url);

impl UploadUrl {
    /// The URL with its signature, a secret.
    pub const fn expose(&self) -> &Url {
        &self.0
    }
}

impl<'de> Deserialize<'de> for UploadUrl {
    /// The error does not contain the URL.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        Url::parse(&text).map(Self).map_err(|_| D::Error::custom("not an absolute URL"))
    }
}

impl fmt::Display for UploadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_secrets(self.0.clone()))
    }
}

/// The URL without its credentials and fragment, and with `…` in place of its query.
fn without_secrets(url: Url) -> String {
    let mut url = without_credentials(url);
    url.set_fragment(None);
    if url.query().is_some() {
        url.set_query(Some("…"));
    }
    // `Url` percent-encodes the ellipsis.
    url.as_str().replace("%E2%80%A6", "…")
}

pub(crate) fn without_credentials(mut url: Url) -> Url {
    // These fail only for URLs that cannot have credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url
}

impl fmt::Debug for UploadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UploadUrl({self})")
    }
}

/// The token that authorizes one upload. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UploadToken(String);

impl UploadToken {
    /// The token, a secret.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for UploadToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UploadToken(…)")
    }
}

text! {
    /// The permanent URL of an image or other asset.
    ///
    /// `Display` shows it. `Debug` omits credentials and the query, which may be a signature.
    AssetUrl
}

impl fmt::Debug for AssetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = match Url::parse(&self.0) {
            Ok(url) if url.has_host() => without_secrets(url),
            // Text that is not a URL may contain secrets elsewhere.
            _ if self.0.contains(['?', '#', '@']) => "…".to_owned(),
            _ => self.0.clone(),
        };
        f.debug_tuple("AssetUrl").field(&shown).finish()
    }
}
