//! The JSON form of records. Views borrow, so that a record is written without a copy.

pub(crate) mod generation;

use jiff::Timestamp;
use promptarium::{PromptId, VaultId, VaultPromptId};
use serde::{Serialize, Serializer};

use crate::domain::{ListedPrompt, PromptImage, PromptRecord, SharedPrompt, VaultRecord};

/// The estimated size of a small response.
pub(crate) const SMALL_BYTES: usize = 160;

/// A prompt (PR-01 to PR-12).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PromptView<'a> {
    id: PromptId,
    title: &'a str,
    prompt: &'a str,
    prompt_type: &'static str,
    platform: Option<&'a str>,
    status: &'static str,
    images: ImagesView<'a>,
    vault_ids: &'a [VaultId],
    created_at: Time,
    updated_at: Time,
}

/// A prompt in the listing of a vault (VC-04).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedPromptView<'a> {
    #[serde(flatten)]
    prompt: PromptView<'a>,
    vault_prompt_id: VaultPromptId,
    is_pinned: bool,
}

/// A list of prompts.
pub(crate) struct PromptsView<'a>(pub &'a [SharedPrompt]);

struct ImagesView<'a>(&'a [PromptImage]);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ImageView<'a> {
    url: &'a str,
    width: u32,
    height: u32,
    created_at: Time,
}

/// A vault (VA-01 to VA-11).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VaultView<'a> {
    id: VaultId,
    name: &'a str,
    description: Option<&'a str>,
    slug: &'a str,
    visibility: &'static str,
    access_type: Option<&'a str>,
    is_locked: bool,
    cover_image_url: Option<&'a str>,
    is_system: bool,
    prompt_count: u64,
    created_at: Time,
    updated_at: Time,
}

/// A list of vaults.
pub(crate) struct VaultsView<'a>(pub &'a [VaultRecord]);

/// The response to deleting a prompt or a vault (PR-40, VA-26).
#[derive(Serialize)]
pub(crate) struct Deleted<Id> {
    id: Id,
    deleted: bool,
}

/// The response to adding prompts to a vault (VC-11).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Added {
    /// How many were not in the vault before.
    pub added: usize,
    /// The vault.
    pub vault_id: VaultId,
    /// How many the vault holds now.
    pub prompt_count: u64,
}

/// The response to removing a prompt from a vault (VC-15).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Removed {
    /// The removed membership.
    pub vault_prompt_id: VaultPromptId,
    /// `true`
    pub removed: bool,
}

/// The response to moving a prompt (VC-17).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Moved {
    /// The moved prompt.
    pub prompt_id: PromptId,
    /// The source vault.
    pub source_vault_id: VaultId,
    /// The target vault.
    pub target_vault_id: VaultId,
    /// Its new membership.
    pub vault_prompt_id: VaultPromptId,
}

/// The response to pinning and unpinning (VC-25, VC-26).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pinned {
    /// The membership.
    pub vault_prompt_id: VaultPromptId,
    /// Whether it is pinned now.
    pub is_pinned: bool,
}

/// A timestamp in RFC 3339, UTC, with microseconds (EN-09).
struct Time(Timestamp);

impl<'a> PromptView<'a> {
    /// The view of a record.
    pub(crate) fn new(record: &'a PromptRecord) -> Self {
        Self {
            id: record.id,
            title: &record.title,
            prompt: &record.text,
            prompt_type: record.kind.as_str(),
            platform: record.platform.as_deref(),
            status: "active",
            images: ImagesView(&record.images),
            vault_ids: &record.vault_ids,
            created_at: Time(record.created_at),
            updated_at: Time(record.updated_at),
        }
    }
}

impl<'a> ListedPromptView<'a> {
    /// The view of a record.
    pub(crate) fn new(listed: &'a ListedPrompt) -> Self {
        Self {
            prompt: PromptView::new(&listed.prompt),
            vault_prompt_id: listed.membership,
            is_pinned: listed.pinned,
        }
    }
}

impl<'a> VaultView<'a> {
    /// The view of a record.
    pub(crate) fn new(record: &'a VaultRecord) -> Self {
        Self {
            id: record.id,
            name: &record.name,
            description: record.description.as_deref(),
            slug: &record.slug,
            visibility: record.visibility.as_str(),
            access_type: None,
            is_locked: false,
            cover_image_url: record.cover_image_url.as_deref(),
            is_system: record.system,
            prompt_count: record.prompt_count,
            created_at: Time(record.created_at),
            updated_at: Time(record.updated_at),
        }
    }
}

impl<Id> Deleted<Id> {
    /// The response for `id`.
    pub(crate) fn new(id: Id) -> Self {
        Self { id, deleted: true }
    }
}

impl Serialize for PromptsView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|record| PromptView::new(record)))
    }
}

impl Serialize for VaultsView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(VaultView::new))
    }
}

impl Serialize for ImagesView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|image| ImageView {
            url: &image.url,
            width: image.width,
            height: image.height,
            created_at: Time(image.created_at),
        }))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:.6}", self.0))
    }
}

/// The estimated size of a prompt as JSON, if it has few escapes.
pub(crate) fn prompt_bytes(record: &PromptRecord) -> usize {
    const FRAME: usize = 288;
    let images = record.images.iter().map(|image| image.url.len() + 96).sum::<usize>();
    let platform = record.platform.as_ref().map_or(0, |platform| platform.len());
    FRAME
        + record.title.len()
        + record.text.len()
        + record.text.len() / 32
        + platform
        + images
        + record.vault_ids.len() * 12
}

/// The estimated size of a vault as JSON.
pub(crate) fn vault_bytes(record: &VaultRecord) -> usize {
    const FRAME: usize = 352;
    let description = record.description.as_ref().map_or(0, |text| text.len());
    let cover = record.cover_image_url.as_ref().map_or(0, |url| url.len());
    FRAME + record.name.len() + record.slug.len() + description + cover
}
