//! Prompts and vaults as records: what a store takes and returns.
//!
//! Values are checked where the request is read. `api::view` decides how records look on the wire.

use std::sync::Arc;

use jiff::Timestamp;
use promptarium::{PromptId, VaultId, VaultPromptId};
use serde::{Deserialize, Serialize};

use super::ImageRef;

/// Prompts are shared, so that a page copies no texts.
pub type SharedPrompt = Arc<PromptRecord>;

named! {
    /// Type of a stored prompt. Unlike the SDK's open `PromptType`, it has no unknown values.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    PromptKind { Image = "image", #[default] Text = "text", Video = "video" }
}

impl PromptKind {
    pub const fn needs_model(self) -> bool {
        matches!(self, Self::Image | Self::Video)
    }
}

#[derive(Clone, Debug)]
pub struct NewPrompt {
    pub title: Arc<str>,
    pub text: Arc<str>,
    pub kind: PromptKind,
    pub platform: Option<Arc<str>>,
    pub inputs: PromptInputs,
    pub vault: Option<VaultId>,
    pub images: Arc<[PromptImage]>,
}

impl NewPrompt {
    /// The record of this prompt, created at this time.
    pub fn record(&self, id: PromptId, now: Timestamp) -> PromptRecord {
        PromptRecord {
            id,
            title: self.title.clone(),
            text: self.text.clone(),
            kind: self.kind,
            platform: self.platform.clone(),
            images: self.images.clone(),
            vault_ids: self.vault.into_iter().collect(),
            created_at: now,
            updated_at: now,
        }
    }
}

/// Fields of a prompt that are accepted and never returned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptInputs {
    /// Model at the provider; always set for image and video prompts.
    pub model_id: Option<Arc<str>>,
    pub aspect_ratio: Option<Arc<str>>,
    pub image_url: Option<ImageRef>,
    pub reference_media_urls: Option<Arc<[ImageRef]>>,
}

/// A partial update; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptPatch {
    pub title: Option<Arc<str>>,
    pub text: Option<Arc<str>>,
    pub kind: Option<PromptKind>,
    /// New label, or `Some(None)` to clear it.
    pub platform: Option<Option<Arc<str>>>,
    /// New values of input-only fields; `None` leaves one unchanged.
    pub inputs: PromptInputs,
    pub vault: Option<VaultId>,
    pub image: Option<PromptImage>,
}

/// A picture or video linked to a prompt. It is stored as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptImage {
    #[serde(rename = "url")]
    pub source: ImageRef,
    /// In pixels.
    pub width: u32,
    pub height: u32,
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::required")]
    pub created_at: Timestamp,
}

/// A stored prompt without its [`PromptInputs`]. Clones share the texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptRecord {
    /// Unique in the service.
    pub id: PromptId,
    pub title: Arc<str>,
    pub text: Arc<str>,
    pub kind: PromptKind,
    pub platform: Option<Arc<str>>,
    /// Generated images, oldest first.
    pub images: Arc<[PromptImage]>,
    /// Every vault that contains it, ascending.
    pub vault_ids: Vec<VaultId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A membership in a vault, as a path names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    pub vault: VaultId,
    pub id: VaultPromptId,
}

/// A prompt as an entry of a vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPrompt {
    pub prompt: Arc<PromptRecord>,
    pub membership: VaultPromptId,
    pub pinned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PromptQuery {
    /// Only prompts in this vault, which must be the caller's.
    pub vault: Option<VaultId>,
    pub kind: Option<PromptKind>,
    /// Only prompts after this one in listing order, which have a lower id.
    pub after: Option<PromptId>,
    /// At most this many; at least 1.
    pub limit: usize,
}

#[derive(Clone, Debug)]
pub struct PromptPage {
    /// Newest first.
    pub prompts: Vec<SharedPrompt>,
    /// Whether at least one more prompt follows the last of these.
    pub more: bool,
}

named! {
    #[derive(Serialize, Deserialize)]
    VaultVisibility { #[default] Private = "private", Unlisted = "unlisted", Public = "public" }
}

#[derive(Clone, Debug)]
pub struct NewVault {
    pub name: Arc<str>,
    pub description: Option<Arc<str>>,
    pub visibility: VaultVisibility,
}

impl NewVault {
    /// The record of this vault, without the id and slug that a store gives it.
    pub fn record(self, now: Timestamp) -> VaultRecord {
        VaultRecord {
            id: VaultId::new(0),
            name: self.name,
            description: self.description,
            slug: "".into(),
            visibility: self.visibility,
            cover_image: None,
            system: false,
            prompt_count: 0,
            created_at: now,
            updated_at: now,
        }
    }
}

/// A partial update; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VaultPatch {
    pub name: Option<Arc<str>>,
    /// New description, or `Some(None)` to clear it.
    pub description: Option<Option<Arc<str>>>,
    pub visibility: Option<VaultVisibility>,
    /// New cover, or `Some(None)` to clear it.
    pub cover_image: Option<Option<ImageRef>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VaultRecord {
    /// Unique in the service.
    pub id: VaultId,
    pub name: Arc<str>,
    pub description: Option<Arc<str>>,
    /// Unique in the account.
    pub slug: Arc<str>,
    pub visibility: VaultVisibility,
    pub cover_image: Option<ImageRef>,
    /// Whether the service created it with the account.
    pub system: bool,
    pub prompt_count: u64,
    pub created_at: Timestamp,
    /// Time of the last update of its own fields.
    pub updated_at: Timestamp,
}

/// What an import adds to an account, oldest first. Everything gets new ids, and vaults new slugs.
#[derive(Clone, Debug, Default)]
pub struct AccountData {
    pub prompts: Vec<(PromptRecord, PromptInputs)>,
    /// Each with the ids of its prompts in display order, once each, and whether they are pinned.
    pub vaults: Vec<(VaultRecord, Vec<(PromptId, bool)>)>,
}

/// Slugs of vaults (VA-04, S-16): the first that is free of `sky`, `sky-2`, `sky-3`…
pub(crate) mod slug {
    /// Transliterated to ASCII, lower case, words joined by single hyphens, never empty.
    pub(crate) fn base(name: &str) -> String {
        let slug = ::slug::slugify(name);
        if slug.is_empty() { "vault".to_owned() } else { slug }
    }

    /// The `number`th candidate for a base, from 1: the base, then the base with a number.
    pub(crate) fn candidate(base: &str, number: u64) -> String {
        if number <= 1 { base.to_owned() } else { format!("{base}-{number}") }
    }
}

#[cfg(test)]
mod tests {
    use super::slug::{base, candidate};

    #[test]
    fn a_base_is_transliterated_lower_case_hyphenated_and_never_empty() {
        for (name, slug) in [
            ("Night Sky", "night-sky"),
            ("  Ærøskøbing -- 100% Öl!  ", "aeroskobing-100-ol"),
            ("影師嗎", "ying-shi-ma"),
            ("", "vault"),
            ("--- !?", "vault"),
            ("\u{200b}", "vault"),
        ] {
            assert_eq!(base(name), slug, "{name:?}");
        }
    }

    #[test]
    fn candidates_count_from_two() {
        assert_eq!([1, 2, 3].map(|n| candidate("a", n)), ["a", "a-2", "a-3"]);
    }
}
