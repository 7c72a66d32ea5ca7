//! What generations have saved in a vault, counted as S-39 lets a fair client count. It has no
//! scenarios of its own.

use std::time::Duration;

use crate::fixture::Vault;
use crate::scenarios::prelude::*;

/// How long an output may take to be live at its address.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The listing of a vault, and the prompts in it.
pub(super) struct Outputs {
    pub(super) listing: ApiResponse,
    pub(super) prompts: Vec<Value>,
}

impl Outputs {
    /// What is in a vault.
    pub(super) async fn in_vault(vault: &Vault) -> Result<Self> {
        let listing = vault.listing().await?;
        let prompts = listing.array("/data")?;
        Ok(Self { listing, prompts })
    }

    /// The images of all prompts.
    pub(super) fn images(&self) -> Vec<&Value> {
        self.prompts.iter().filter_map(|prompt| prompt["images"].as_array()).flatten().collect()
    }

    /// The addresses of all images that have one.
    pub(super) fn urls(&self) -> Vec<&str> {
        self.images().into_iter().filter_map(|image| image["url"].as_str()).collect()
    }

    /// How many outputs there are: the images, or the prompts where a server shows its images in
    /// another form.
    pub(super) fn count(&self) -> usize {
        match self.images().len() {
            0 => self.prompts.len(),
            images => images,
        }
    }

    /// There are so many outputs.
    pub(super) fn counts(&self, expected: usize) -> Result<&Self> {
        let count = self.count();
        let what = format!("{expected} outputs in the vault");
        self.listing.ensure(count == expected, what, count)?;
        Ok(self)
    }

    /// There is at least one.
    pub(super) fn any(self) -> Result<Self> {
        self.listing.ensure(self.count() > 0, "an output in the vault", "an empty vault")?;
        Ok(self)
    }

    /// There is one prompt; that one.
    pub(super) fn one(&self) -> Result<&Value> {
        match &self.prompts[..] {
            [prompt] => Ok(prompt),
            prompts => Err(self.listing.failure("one prompt in the vault", prompts.len())),
        }
    }

    /// The address of the only image.
    pub(super) fn one_url(&self) -> Result<&str> {
        match self.urls()[..] {
            [url] => Ok(url),
            ref urls => Err(self.listing.failure("one image with an address", urls.len())),
        }
    }

    /// The path of each prompt.
    pub(super) fn paths(&self) -> impl Iterator<Item = String> {
        self.prompts.iter().map(|prompt| format!("/prompts/{}", prompt["id"]))
    }
}

/// Fetches a file without a key, as a browser does. A redirect to where it is will do, and that
/// only some may see it (S-77).
pub(super) async fn fetch(case: &Case, url: &str) -> Result<ApiResponse> {
    let base = case.target().base_url().parse::<url::Url>();
    let whole = base.and_then(|base| base.join(url));
    let whole = whole.map_err(|_| Failure::failed("an image with an address", url))?;
    let ask = || async {
        let reply = case.storage(Method::GET, whole.as_str()).send().await?;
        let status = reply.status_code();
        Ok(matches!(status, 200..=399 | 401 | 403).then_some(reply))
    };
    case.until(&format!("a file at {url}"), TIMEOUT, ask).await
}

/// Width and height of a PNG or GIF, from its first bytes.
pub(super) fn size(bytes: &[u8]) -> Option<(i64, i64)> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        let side = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        Some((side(16)?.into(), side(20)?.into()))
    } else if bytes.starts_with(b"GIF8") {
        let side = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        Some((side(6)?.into(), side(8)?.into()))
    } else {
        None
    }
}
