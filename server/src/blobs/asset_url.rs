//! The addresses of stored files: where clients find them, and how such an
//! address is told from others.
//!
//! An asset is live at `{public}/assets/{name}`; the bytes of an upload go to
//! `{public}/storage/{name}`. Who may send them is for `uploads` to say.

use std::sync::Arc;

use url::Url;

use crate::blobs::AssetName;

/// The path of assets, below the public address.
pub const ASSETS: &str = "/assets/{name}";
/// The path of signed upload addresses, below the public address.
pub const STORAGE: &str = "/storage/{name}";

const ASSETS_PREFIX: &str = "/assets/";
const STORAGE_PREFIX: &str = "/storage/";

/// Writes and recognises addresses. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Assets {
    public: Arc<Url>,
}

impl Assets {
    /// `public` is how clients reach the service, with the path a proxy strips if
    /// there is one; a slash at its end changes nothing.
    pub fn new(public: &Url) -> Self {
        let mut public = public.clone();
        public.set_query(None);
        public.set_fragment(None);
        let path = public.path().trim_end_matches('/').to_owned();
        public.set_path(&path);
        Self { public: Arc::new(public) }
    }

    /// The permanent address of a file (UP-06).
    pub fn url_of(&self, name: &AssetName) -> String {
        format!("{}{ASSETS_PREFIX}{name}", self.root())
    }

    /// The address that takes the bytes of a file, not yet signed.
    pub fn upload_url_of(&self, name: &AssetName) -> String {
        format!("{}{STORAGE_PREFIX}{name}", self.root())
    }

    /// The file that an address of ours names, if it is one.
    pub fn name_in(&self, url: &str) -> Option<AssetName> {
        AssetName::parse(self.below(url)?.strip_prefix(ASSETS_PREFIX)?)
    }

    /// Whether an address is one that takes uploads, and so none of an image
    /// (UP-17). Under another name of this server it is known by its form.
    pub fn is_upload_address(&self, url: &str) -> bool {
        let ours = self.below(url).is_some_and(|path| path.starts_with(STORAGE_PREFIX));
        ours || has_upload_form(url)
    }

    /// The path of an address below ours; `None` for addresses of others.
    fn below(&self, url: &str) -> Option<String> {
        let url = Url::parse(url).ok()?;
        let same = url.scheme() == self.public.scheme()
            && url.host() == self.public.host()
            && url.port_or_known_default() == self.public.port_or_known_default();
        let prefix = self.public.path().trim_end_matches('/');
        let below = url.path().strip_prefix(prefix).filter(|_| same)?;
        Some(below.to_owned())
    }

    /// The public address without a slash at its end.
    fn root(&self) -> &str {
        self.public.as_str().trim_end_matches('/')
    }
}

/// Whether an address ends as all upload addresses do, wherever it begins.
fn has_upload_form(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let name = url.path().rsplit_once(STORAGE_PREFIX).map(|(_, name)| name);
    name.and_then(AssetName::parse).is_some() && url.query().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Media;

    fn assets(public: &str) -> Assets {
        Assets::new(&Url::parse(public).unwrap())
    }

    #[test]
    fn an_address_reads_back() {
        let name = AssetName::random(Media::Webp);
        for public in ["http://127.0.0.1:8080", "https://example.com/", "https://a.example/p/q/"] {
            let assets = assets(public);
            let url = assets.url_of(&name);
            assert_eq!(url, format!("{}/assets/{name}", public.trim_end_matches('/')));
            assert_eq!(assets.name_in(&url), Some(name));
            assert!(!assets.is_upload_address(&url));

            let upload = assets.upload_url_of(&name);
            assert_eq!(assets.name_in(&upload), None);
            assert!(assets.is_upload_address(&upload));
            assert!(assets.is_upload_address(&format!("{upload}?slot=x")));
        }
    }

    #[test]
    fn addresses_of_others_are_not_ours() {
        let assets = assets("http://127.0.0.1:8080");
        let name = AssetName::random(Media::Png);
        for root in ["https://127.0.0.1:8080", "http://127.0.0.1:8081", "http://localhost:8080"] {
            assert_eq!(assets.name_in(&format!("{root}/assets/{name}")), None);
            assert!(!assets.is_upload_address(&format!("{root}/storage/{name}")));
            assert!(assets.is_upload_address(&format!("{root}/x/storage/{name}?slot=x")));
        }
        for url in
            ["", "data:image/png;base64,AA", "http://127.0.0.1:8080/assets/x.png", "/assets/"]
        {
            assert_eq!(assets.name_in(url), None);
            assert!(!assets.is_upload_address(url), "{url}");
        }
    }

    #[test]
    fn spellings_that_lead_to_the_same_place_are_seen_through() {
        let assets = assets("http://example.com");
        for url in [
            "HTTP://EXAMPLE.com:80/storage/x.png",
            "http://example.com/assets/../storage/x.png",
            "http://user@example.com/storage/x.png#a",
        ] {
            assert!(assets.is_upload_address(url), "{url}");
        }
    }
}
