//! What generations have left in a vault, counted as S-39 lets a fair client
//! count. It has no scenarios of its own.

use std::time::Duration;

use http::Method;
use serde_json::Value;

use crate::wire::{Reply, Wire};
use crate::{Case, Failure};

/// How long an output may take to be live at its address.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The listing of a vault.
pub(super) struct Saved {
    listing: Reply,
    /// The prompts of the vault.
    pub(super) prompts: Vec<Value>,
}

impl Saved {
    /// What is in a vault.
    pub(super) async fn in_vault(wire: &Wire, vault: i64) -> Result<Self, Failure> {
        let listing = wire.get(&format!("/vaults/{vault}/prompts")).await?;
        let prompts = listing.status(200)?.array("/data")?;
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

    /// How many outputs there are: the images, or the prompts where a server
    /// shows its images in another form.
    pub(super) fn count(&self) -> usize {
        match self.images().len() {
            0 => self.prompts.len(),
            images => images,
        }
    }

    /// There are so many outputs.
    pub(super) fn counts(&self, expected: usize) -> Result<&Self, Failure> {
        let count = self.count();
        self.listing.ensure(
            count == expected,
            format!("{expected} outputs in the vault"),
            count,
        )?;
        Ok(self)
    }

    /// There is one prompt; that one.
    pub(super) fn one(&self) -> Result<&Value, Failure> {
        match &self.prompts[..] {
            [prompt] => Ok(prompt),
            prompts => Err(self.failure("one prompt in the vault", prompts.len())),
        }
    }

    /// A failure that shows the listing.
    pub(super) fn failure(
        &self,
        expected: impl std::fmt::Display,
        got: impl std::fmt::Display,
    ) -> Failure {
        self.listing.failure(expected, got)
    }
}

/// Fetches a file without a key, as a browser does. A redirect to where it is
/// will do, and that only some may see it (S-77).
pub(super) async fn fetch(case: &Case, url: &str) -> Result<Reply, Failure> {
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
    let number = |at: usize, big: bool, length: usize| {
        let part = bytes.get(at..at + length)?.iter();
        let parts: Vec<i64> = match big {
            true => part.map(|byte| i64::from(*byte)).collect(),
            false => part.rev().map(|byte| i64::from(*byte)).collect(),
        };
        Some(parts.into_iter().fold(0, |sum, byte| sum << 8 | byte))
    };
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some((number(16, true, 4)?, number(20, true, 4)?))
    } else if bytes.starts_with(b"GIF8") {
        Some((number(6, false, 2)?, number(8, false, 2)?))
    } else {
        None
    }
}
