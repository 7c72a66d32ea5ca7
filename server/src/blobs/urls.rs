//! Addresses of stored files, and the slots for uploads to them.
//!
//! An asset is at `{public}/assets/{name}`; the bytes of an upload go to `{public}/storage/{name}`. A
//! slot is the permission to put one file of one type and size under one name for a while. It is
//! stateless: the upload URL carries the signed claims, and the token is another signature of them.
//! A slot is good for one upload because its name is new and put only once.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use bytes::Buf;
use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, Mac};
use promptarium::limits::UPLOAD_SLOT_LIFETIME_SECONDS;
use sha2::Sha256;
use url::Url;

use crate::clock::Clock;
use crate::domain::{AccountId, AssetName, GenerationRequest, ImageRef, Media, SigningKey};

/// The path of assets, below the public URL.
pub(crate) const ASSETS: &str = "/assets/{name}";
pub(crate) const THUMBNAILS: &str = "/thumbnails/{name}";
pub(crate) const STORAGE: &str = "/storage/{name}";

const ASSETS_PREFIX: &str = "/assets/";
const STORAGE_PREFIX: &str = "/storage/";

/// Writes URLs of stored files with the present public URL, and reads those with former ones.
#[derive(Clone, Debug)]
pub struct Assets {
    /// Without a slash at its end, as all of them.
    present: Arc<str>,
    all: Arc<HashSet<String>>,
}

impl Assets {
    /// `public` may have a path that a proxy strips. `former` are the public URLs of other starts.
    pub fn new(public: &Url, former: &[String]) -> Self {
        let root = |url: &str| url.trim_end_matches('/').to_owned();
        let present = root(public.as_str());
        let all = former.iter().map(|url| root(url)).chain([present.clone()]).collect();
        Self { present: present.into(), all: Arc::new(all) }
    }

    /// The permanent URL of a file (UP-06).
    pub fn url_of(&self, name: &AssetName) -> String {
        format!("{}{ASSETS_PREFIX}{name}", self.present)
    }

    /// The URL that takes the bytes of a file, not yet signed.
    pub fn upload_url_of(&self, name: &AssetName) -> String {
        format!("{}{STORAGE_PREFIX}{name}", self.present)
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

    /// The file of this service that a record refers to by its name or by a URL.
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
        Some((rest, self.all.contains(&format!("{origin}{root}"))))
    }
}

/// The parameter of an upload URL that contains the signed claims.
const PARAMETER: &str = "slot=";
/// Size, account and expiry, eight bytes each.
const CLAIMS_BYTES: usize = 24;

/// Issues and verifies slots. Servers that share a signing key accept each other's slots.
#[derive(Clone)]
pub struct Slots {
    url_mac: Hmac<Sha256>,
    token_mac: Hmac<Sha256>,
    assets: Assets,
    clock: Clock,
}

/// Why an upload is not permitted. No text repeats what the request contained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlotError {
    #[error(
        "this address takes one upload, by PUT with `Authorization: Bearer <token of the slot>`; \
         the image is at the slot's url, not here"
    )]
    NoToken,
    #[error("the token is not the one for this upload address, or the address was changed")]
    Invalid,
    /// [`UPLOAD_SLOT_LIFETIME_SECONDS`] have passed (LI-16).
    #[error("the upload address has run out; ask for a new slot")]
    Expired,
}

impl Slots {
    pub fn new(signing_key: &SigningKey, assets: Assets, clock: Clock) -> Self {
        Self {
            url_mac: signing_key.mac("promptarium upload address 1"),
            token_mac: signing_key.mac("promptarium upload token 1"),
            assets,
            clock,
        }
    }

    /// The name of the file, the URL that takes its bytes once, and the token for that.
    pub fn issue(&self, owner: AccountId, media: Media, size: u64) -> (AssetName, String, String) {
        let lifetime = UPLOAD_SLOT_LIFETIME_SECONDS.cast_signed() * 1_000_000;
        let expires = self.clock.now().as_microsecond() + lifetime;
        let name = AssetName::random(media);
        let claims = [size.to_be_bytes(), owner.0.to_be_bytes(), expires.to_be_bytes()].concat();
        let sign = |mac| signature(mac, &name, &claims).finalize().into_bytes();
        let signed = BASE64URL_NOPAD.encode(&[&claims[..], &sign(&self.url_mac)].concat());
        let upload_url = format!("{}?{PARAMETER}{signed}", self.assets.upload_url_of(&name));
        (name, upload_url, BASE64URL_NOPAD.encode(&sign(&self.token_mac)))
    }

    /// Verifies both signatures. Returns the upload that they permit: the name, which includes the
    /// type, the size, and the account.
    pub fn verify(
        &self,
        name: Option<AssetName>,
        query: Option<&str>,
        token: &str,
    ) -> Result<(AssetName, u64, AccountId), SlotError> {
        let decode = |text: &str| BASE64URL_NOPAD.decode(text.as_bytes()).ok();
        let verified = || {
            let name = name?;
            let mut slots = query?.split('&').filter_map(|one| one.strip_prefix(PARAMETER));
            // Given twice, it is refused.
            let signed = slots.next().filter(|_| slots.next().is_none())?;
            let signed = decode(signed)?;
            let (mut claims, url_signature) = signed.split_at_checked(CLAIMS_BYTES)?;
            signature(&self.url_mac, &name, claims).verify_slice(url_signature).ok()?;
            signature(&self.token_mac, &name, claims).verify_slice(&decode(token)?).ok()?;
            Some(((name, claims.get_u64(), AccountId(claims.get_i64())), claims.get_i64()))
        };
        let (claims, expires) = verified().ok_or(SlotError::Invalid)?;
        let expired = self.clock.now().as_microsecond() > expires;
        if expired { Err(SlotError::Expired) } else { Ok(claims) }
    }
}

/// Comparing it takes constant time. All parts have a fixed length but the type, which is last.
fn signature(mac: &Hmac<Sha256>, name: &AssetName, claims: &[u8]) -> Hmac<Sha256> {
    let mut mac = mac.clone();
    mac.update(name.id());
    mac.update(claims);
    mac.update(name.media().content_type().as_bytes());
    mac
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::ManualClock;

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

    const ALICE: AccountId = AccountId(1);

    fn slots(key: u8, clock: &ManualClock) -> Slots {
        let assets = Assets::new(&Url::parse("http://example.com").unwrap(), &[]);
        let key = SigningKey::new(&[key; SigningKey::BYTES_MIN]).unwrap();
        Slots::new(&key, assets, Clock::Manual(clock.clone()))
    }

    fn clock() -> ManualClock {
        ManualClock::new("2026-01-02T03:04:05Z".parse().unwrap())
    }

    /// What an upload request contains: the name in its path, its query, and the token.
    type Parts = (Option<AssetName>, String, String);

    fn issue(slots: &Slots, media: Media, size: u64) -> Parts {
        let (name, upload_url, token) = slots.issue(ALICE, media, size);
        let (path, query) = upload_url.split_once('?').unwrap();
        assert_eq!(AssetName::parse(path.rsplit('/').next().unwrap()), Some(name));
        (Some(name), query.to_owned(), token)
    }

    fn verify(
        slots: &Slots,
        (name, query, token): &Parts,
    ) -> Result<(AssetName, u64, AccountId), SlotError> {
        slots.verify(*name, Some(query), token)
    }

    #[test]
    fn a_slot_is_valid_for_its_lifetime_on_every_server_with_the_key() {
        let clock = clock();
        let slots = [b'k', b'k', b'o'].map(|key| slots(key, &clock));
        let parts = issue(&slots[0], Media::Webp, 12_345);
        let name = parts.0.unwrap();
        let claims = Ok((name, 12_345, ALICE));
        let all = || slots.each_ref().map(|slots| verify(slots, &parts));
        assert_eq!(name.media(), Media::Webp);
        assert_eq!(all(), [claims, claims, Err(SlotError::Invalid)]);
        clock.advance(Duration::from_secs(UPLOAD_SLOT_LIFETIME_SECONDS));
        assert_eq!(all(), [claims, claims, Err(SlotError::Invalid)]);
        clock.advance(Duration::from_micros(1));
        let expired = Err(SlotError::Expired);
        assert_eq!(all(), [expired, expired, Err(SlotError::Invalid)]);
    }

    #[test]
    fn other_parts_and_changed_characters_are_refused() {
        let slots = slots(b'k', &clock());
        let [(name, query, token), other] = [1, 1].map(|size| issue(&slots, Media::Png, size));
        let gif = AssetName::parse(&name.unwrap().to_string().replace(".png", ".gif"));
        assert!(gif.is_some());
        let signed = BASE64URL_NOPAD.decode(query.strip_prefix(PARAMETER).unwrap().as_bytes());
        let of_url = BASE64URL_NOPAD.encode(&signed.unwrap()[CLAIMS_BYTES..]);
        let mut all_wrong = vec![
            (name, query.clone(), other.2.clone()),
            (name, other.1.clone(), token.clone()),
            (other.0, query.clone(), token.clone()),
            (name, other.1, other.2),
            (None, query.clone(), token.clone()),
            (gif, query.clone(), token.clone()),
            (name, query.clone(), of_url),
        ];
        let changes = |text: &str| -> Vec<String> {
            let changed = |at: usize| {
                let other = if text[at..].starts_with('A') { 'b' } else { 'A' };
                format!("{}{other}{}", &text[..at], &text[at + 1..])
            };
            let others = [text[..text.len() - 1].to_owned(), format!("{text}A"), String::new()];
            (0..text.len()).map(changed).chain(others).collect()
        };
        all_wrong.extend(changes(&token).into_iter().map(|token| (name, query.clone(), token)));
        all_wrong.extend(changes(&query).into_iter().map(|query| (name, query, token.clone())));
        for wrong in all_wrong {
            assert_eq!(verify(&slots, &wrong), Err(SlotError::Invalid), "{wrong:?}");
        }
        assert_eq!(slots.verify(name, None, &token), Err(SlotError::Invalid));
        assert!(verify(&slots, &(name, format!("a=b&{query}&c"), token)).is_ok());
    }
}
