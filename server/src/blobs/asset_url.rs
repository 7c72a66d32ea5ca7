//! URLs of stored files.
//!
//! An asset is at `{public}/assets/{name}`; the bytes of an upload go to
//! `{public}/storage/{name}`. Who may upload is for [`super::upload_slot`].

use std::sync::Arc;

use url::Url;

use crate::blobs::AssetName;

/// The path of assets, below the public URL.
pub(crate) const ASSETS: &str = "/assets/{name}";
/// The path of upload URLs, below the public URL.
pub(crate) const STORAGE: &str = "/storage/{name}";

const ASSETS_PREFIX: &str = "/assets/";
const STORAGE_PREFIX: &str = "/storage/";

/// Writes and recognises URLs of stored files. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Assets {
    /// Without a slash at its end.
    public: Arc<str>,
    origin: url::Origin,
    path: Arc<str>,
}

impl Assets {
    /// `public` is how clients reach the service, with the path that a proxy strips if there is
    /// one; a slash at its end, query and fragment are ignored.
    pub fn new(public: &Url) -> Self {
        let mut public = public.clone();
        public.set_query(None);
        public.set_fragment(None);
        let path = public.path().trim_end_matches('/').into();
        let origin = public.origin();
        Self { public: public.as_str().trim_end_matches('/').into(), origin, path }
    }

    /// The permanent URL of a file (UP-06).
    pub fn url_of(&self, name: &AssetName) -> String {
        format!("{}{ASSETS_PREFIX}{name}", self.public)
    }

    /// The URL that takes the bytes of a file, not yet signed.
    pub fn upload_url_of(&self, name: &AssetName) -> String {
        format!("{}{STORAGE_PREFIX}{name}", self.public)
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
        url.path().strip_prefix(&*self.path).filter(|_| url.origin() == self.origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Media;

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
    fn urls_of_other_origins_are_not_ours() {
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
    }

    #[test]
    fn other_spellings_of_an_upload_url_are_recognised() {
        let assets = assets("http://example.com");
        for url in [
            "HTTP://EXAMPLE.com:80/storage/x.png",
            "http://example.com/assets/../storage/x.png",
            "http://user@example.com/storage/x.png#a",
        ] {
            assert!(assets.is_upload_url(url), "{url}");
        }
    }
}
