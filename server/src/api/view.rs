//! The JSON form of records. Views borrow, so that a record is written without a copy.

use jiff::Timestamp;
use promptarium::{PromptId, VaultId, VaultPromptId};
use serde::{Serialize, Serializer};

use crate::clock::TimeText;
use crate::domain::{ListedPrompt, PromptImage, PromptRecord, VaultRecord};

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
    images: Vec<ImageView<'a>>,
    vault_ids: &'a [VaultId],
    created_at: Time,
    updated_at: Time,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ImageView<'a> {
    url: &'a str,
    width: u32,
    height: u32,
    created_at: Time,
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

/// A timestamp in RFC 3339, UTC, with microseconds (EN-09).
pub(crate) struct Time(pub Timestamp);

impl<'a> PromptView<'a> {
    pub(crate) fn new(record: &'a PromptRecord) -> Self {
        Self {
            id: record.id,
            title: &record.title,
            prompt: &record.text,
            prompt_type: record.kind.as_str(),
            platform: record.platform.as_deref(),
            status: "active",
            images: record.images.iter().map(ImageView::new).collect(),
            vault_ids: &record.vault_ids,
            created_at: Time(record.created_at),
            updated_at: Time(record.updated_at),
        }
    }
}

impl<'a> ImageView<'a> {
    fn new(image: &'a PromptImage) -> Self {
        let created_at = Time(image.created_at);
        Self { url: &image.url, width: image.width, height: image.height, created_at }
    }
}

impl<'a> ListedPromptView<'a> {
    pub(crate) fn new(listed: &'a ListedPrompt) -> Self {
        Self {
            prompt: PromptView::new(&listed.prompt),
            vault_prompt_id: listed.membership,
            is_pinned: listed.pinned,
        }
    }
}

impl<'a> VaultView<'a> {
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

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(TimeText::new(self.0).as_str())
    }
}
