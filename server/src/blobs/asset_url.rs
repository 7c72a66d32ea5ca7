//! Addresses of stored files.
//!
//! An asset is at `{public}/assets/{name}`; the bytes of an upload go to `{public}/storage/{name}`.
//! Who may upload is for [`super::upload_slot`].

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use url::Url;

use crate::domain::{AssetName, GenerationRequest, ImageRef};

/// The path of assets, below the public URL.
pub(crate) const ASSETS: &str = "/assets/{name}";
pub(crate) const THUMBNAILS: &str = "/thumbnails/{name}";
pub(crate) const STORAGE: &str = "/storage/{name}";

const ASSETS_PREFIX: &str = "/assets/";
const STORAGE_PREFIX: &str = "/storage/";

/// Writes URLs of stored files with the present public URL, and reads those with former ones.
#[derive(Clone, Debug)]
pub struct Assets(Arc<PublicUrls>);

#[derive(Debug)]
struct PublicUrls {
    /// Without a slash at its end, as all of them.
    present: String,
    all: HashSet<String>,
}

impl Assets {
    /// `public` may have a path that a proxy strips. `former` are the public URLs of other starts.
    pub fn new(public: &Url, former: &[String]) -> Self {
        let root = |url: &str| url.trim_end_matches('/').to_owned();
        let present = root(public.as_str());
        let all = former.iter().map(|url| root(url)).chain([present.clone()]).collect();
        Self(Arc::new(PublicUrls { present, all }))
    }

    /// The permanent URL of a file (UP-06).
    pub fn url_of(&self, name: &AssetName) -> String {
        format!("{}{ASSETS_PREFIX}{name}", self.0.present)
    }

    /// The URL that takes the bytes of a file, not yet signed.
    pub fn upload_url_of(&self, name: &AssetName) -> String {
        format!("{}{STORAGE_PREFIX}{name}", self.0.present)
    }

    /// Reads a URL of a request. `None` if it takes uploads and so is not that of an image (UP-17).
    pub fn read(&self, text: &str) -> Option<ImageRef> {
        let Ok(url) = Url::parse(text) else { return Some(ImageRef::External(text.into())) };
        let (upload, known) = self.below(&url, STORAGE_PREFIX).unwrap_or(("", false));
        // Under a host name that is not known it is recognised by its form.
        if known || (AssetName::parse(upload).is_some() && url.query().is_some()) {
            return None;
        }
        let name = self.below(&url, ASSETS_PREFIX).filter(|(_, known)| *known);
        let name = name.and_then(|(name, _)| AssetName::parse(name));
        Some(name.map_or_else(|| ImageRef::External(text.into()), ImageRef::Asset))
    }

    /// The file of this service that a record refers to. A record that a server before the ninth
    /// schema wrote may hold its URL.
    pub fn name_of(&self, image: &ImageRef) -> Option<AssetName> {
        match image {
            ImageRef::Asset(name) => Some(*name),
            ImageRef::External(url) => match self.read(url)? {
                ImageRef::Asset(name) => Some(name),
                ImageRef::External(_) => None,
            },
        }
    }

    /// The URL for a response, or for a provider.
    pub fn write<'a>(&self, image: &'a ImageRef) -> Cow<'a, str> {
        match (image, self.name_of(image)) {
            (ImageRef::Asset(name), _) => self.url_of(name).into(),
            (ImageRef::External(_), Some(name)) => self.url_of(&name).into(),
            (ImageRef::External(url), None) => (&**url).into(),
        }
    }

    /// The request with URLs in place of names, for a provider.
    pub fn addressed<'a>(&self, request: &'a GenerationRequest) -> Cow<'a, GenerationRequest> {
        let mut request = Cow::Borrowed(request);
        if request.images().any(|image| matches!(image, ImageRef::Asset(_))) {
            for image in request.to_mut().images_mut() {
                *image = ImageRef::External(self.write(image).into());
            }
        }
        request
    }

    /// The path of a URL behind the last `prefix`, and whether a public URL is before it.
    fn below<'a>(&self, url: &'a Url, prefix: &str) -> Option<(&'a str, bool)> {
        let (root, rest) = url.path().rsplit_once(prefix)?;
        let origin = url.origin().ascii_serialization();
        Some((rest, self.0.all.contains(&format!("{origin}{root}"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Media;

    fn assets(public: &str, former: &[&str]) -> Assets {
        let former: Vec<_> = former.iter().map(ToString::to_string).collect();
        Assets::new(&Url::parse(public).unwrap(), &former)
    }

    #[test]
    fn a_url_below_each_public_url_is_read_and_written_with_the_present_one() {
        let name = AssetName::random(Media::Webp);
        for public in ["http://127.0.0.1:8080", "https://example.com/", "https://a.example/p/q/"] {
            let present = public.trim_end_matches('/');
            let former = ["http://127.0.0.1:9/", "https://old.example/p"];
            let assets = assets(public, &former);
            assert_eq!(assets.url_of(&name), format!("{present}/assets/{name}"));
            assert_eq!(assets.upload_url_of(&name), format!("{present}/storage/{name}"));
            for root in [present, "http://127.0.0.1:9", "https://old.example/p"] {
                let url = format!("{root}/assets/{name}");
                assert_eq!(assets.read(&url), Some(ImageRef::Asset(name)), "{url}");
                let stored = ImageRef::External((*url).into());
                assert_eq!(assets.name_of(&stored), Some(name));
                assert_eq!(assets.write(&stored), assets.url_of(&name));
                for upload in [format!("{root}/storage/{name}"), format!("{root}/storage/x?slot=x")]
                {
                    assert_eq!(assets.read(&upload), None, "{upload}");
                }
            }
        }
    }

    #[test]
    fn urls_of_other_origins_and_forms_stay_as_they_are() {
        let assets = assets("http://127.0.0.1:8080", &[]);
        let name = AssetName::random(Media::Png);
        let mut others: Vec<String> =
            ["", "data:image/png;base64,AA", "http://127.0.0.1:8080/assets/x.png", "/assets/"]
                .map(Into::into)
                .into();
        let mut uploads: Vec<String> =
            ["/storage/x.png", "/assets/../storage/x.png", "/storage/x.png#a"]
                .map(|path| format!("HTTP://user@127.0.0.1:8080{path}"))
                .into();
        for root in ["https://127.0.0.1:8080", "http://127.0.0.1:8081", "http://localhost:8080"] {
            others.extend([format!("{root}/assets/{name}"), format!("{root}/storage/{name}")]);
            uploads.push(format!("{root}/x/storage/{name}?slot=x"));
        }
        for url in others {
            let external = ImageRef::External((*url).into());
            assert_eq!(assets.write(&external), url);
            assert_eq!(assets.read(&url), Some(external), "{url}");
        }
        for url in uploads {
            assert_eq!(assets.read(&url), None, "{url}");
        }
    }

    #[test]
    fn a_provider_gets_urls_only() {
        let assets = assets("https://new.example", &[]);
        let name = AssetName::random(Media::Png);
        let request = GenerationRequest {
            image_input: Some(ImageRef::Asset(name)),
            image_inputs: vec!["https://a.example/a.png".into(), ImageRef::Asset(name)],
            reference_image_urls: vec![ImageRef::Asset(name)],
            ..GenerationRequest::default()
        };
        let url = format!("https://new.example/assets/{name}");
        let written = assets.addressed(&request);
        let images: Vec<_> = written.images().map(ToString::to_string).collect();
        assert_eq!(images, [&*url, "https://a.example/a.png", &url, &url]);
        assert!(matches!(assets.addressed(&written), Cow::Borrowed(_)));
    }
}
