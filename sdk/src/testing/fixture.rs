//! A value of every model. They belong together: the prompt is in the vault, and is the output of
//! the job. Fields are public, so a test changes only what it is about.
//!
//! ```
//! use promptarium::testing::fixture;
//!
//! let mut prompt = fixture::prompt();
//! prompt.title = "Dusk".to_owned();
//! prompt.images.clear();
//! ```

use bytes::Bytes;
use serde_json::json;

use super::{ASSETS_URL, STORAGE_URL};
use crate::{
    AddedPrompts, Asset, AssetUrl, Deleted, ExtraFields, FinishedGeneration, GenerationJob,
    GenerationState, GenerationStatus, GenerationType, JobId, MovedPrompt, Page, PinState, Prompt,
    PromptId, PromptImage, PromptStatus, PromptType, RemovedPrompt, Timestamp, UploadSlot,
    UploadedImage, Vault, VaultId, VaultPrompt, VaultPromptId, Visibility,
};

/// 1 March 2026, 11:00.
const CREATED: Timestamp = Timestamp::constant(1_772_362_800, 0);

/// Half an hour later.
const UPDATED: Timestamp = Timestamp::constant(1_772_364_600, 0);

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\
\0\0\0\nIDATx\x9cch\0\0\0\x82\0\x81w\xcdr\xb6\0\0\0\0IEND\xaeB`\x82";

/// Prompt 7, an image prompt with one image, in vault 3.
#[must_use]
pub fn prompt() -> Prompt {
    Prompt {
        id: PromptId::new(7),
        title: "Harbour".to_owned(),
        text: "A harbour at dusk, long exposure".to_owned(),
        prompt_type: PromptType::Image,
        platform: Some("local/plasma".to_owned()),
        status: PromptStatus::Active,
        images: vec![prompt_image()],
        vault_ids: vec![VaultId::new(3)],
        created_at: CREATED,
        updated_at: UPDATED,
        extra: ExtraFields::new(),
    }
}

/// An image of 1024 by 576 pixels.
#[must_use]
pub fn prompt_image() -> PromptImage {
    let url = AssetUrl::from(format!("{ASSETS_URL}/1.png"));
    let (width, height) = (Some(1024), Some(576));
    PromptImage { url, width, height, created_at: CREATED, extra: ExtraFields::new() }
}

/// [`prompt`] in vault 3, as membership 21, not pinned.
#[must_use]
pub fn vault_prompt() -> VaultPrompt {
    VaultPrompt { prompt: prompt(), vault_prompt_id: VaultPromptId::new(21), is_pinned: false }
}

/// Vault 3, private, with one prompt.
#[must_use]
pub fn vault() -> Vault {
    Vault {
        id: VaultId::new(3),
        name: "Landscapes".to_owned(),
        description: Some("Wide views, few people".to_owned()),
        slug: "landscapes".to_owned(),
        visibility: Visibility::Private,
        access_type: None,
        is_locked: false,
        cover_image_url: None,
        is_system: false,
        prompt_count: 1,
        created_at: CREATED,
        updated_at: UPDATED,
        extra: ExtraFields::new(),
    }
}

/// The last page of a list, with these items.
#[must_use]
pub const fn page<T>(items: Vec<T>) -> Page<T> {
    Page::new(items, None)
}

/// This prompt or vault was deleted.
#[must_use]
pub const fn deleted<Id>(id: Id) -> Deleted<Id> {
    Deleted { id, deleted: true, extra: ExtraFields::new() }
}

/// One prompt was added to vault 3, which has no other.
#[must_use]
pub const fn added_prompts() -> AddedPrompts {
    AddedPrompts { added: 1, vault_id: VaultId::new(3), prompt_count: 1, extra: ExtraFields::new() }
}

/// Membership 21 was removed.
#[must_use]
pub const fn removed_prompt() -> RemovedPrompt {
    RemovedPrompt {
        vault_prompt_id: VaultPromptId::new(21),
        removed: true,
        extra: ExtraFields::new(),
    }
}

/// Prompt 7 was moved from vault 3 to vault 4, as membership 22.
#[must_use]
pub const fn moved_prompt() -> MovedPrompt {
    MovedPrompt {
        prompt_id: PromptId::new(7),
        source_vault_id: VaultId::new(3),
        target_vault_id: VaultId::new(4),
        vault_prompt_id: VaultPromptId::new(22),
        extra: ExtraFields::new(),
    }
}

/// Membership 21 is pinned.
#[must_use]
pub const fn pin_state() -> PinState {
    PinState { vault_prompt_id: VaultPromptId::new(21), is_pinned: true, extra: ExtraFields::new() }
}

/// The queued job `job-1`.
#[must_use]
pub fn generation_job() -> GenerationJob {
    GenerationJob {
        client_job_id: JobId::from("job-1"),
        provider_request_id: Some("request-1".to_owned()),
        status_url: Some(format!("{}/generations/job-1/status", super::BASE_URL)),
        output_hint: None,
        extra: ExtraFields::new(),
    }
}

/// The job `job-1` in this state: with prompt 7 if completed, with an error if failed.
///
/// ```
/// use promptarium::GenerationState;
/// use promptarium::testing::fixture;
///
/// let status = fixture::generation_status(GenerationState::Failed);
/// assert_eq!(status.error.as_deref(), Some("the model failed"));
/// ```
#[must_use]
pub fn generation_status(state: GenerationState) -> GenerationStatus {
    let failed = state == GenerationState::Failed;
    GenerationStatus {
        client_job_id: Some(JobId::from("job-1")),
        provider_request_id: Some("request-1".to_owned()),
        generation_type: Some(GenerationType::Image),
        vault_id: Some(VaultId::new(3)),
        prompt_id: state.is_success().then(|| PromptId::new(7)),
        error: failed.then(|| "the model failed".to_owned()),
        created_at: Some(CREATED),
        updated_at: Some(UPDATED),
        state,
        prompt_ids: Vec::new(),
        message: None,
        extra: ExtraFields::new(),
    }
}

/// The event that the job `job-1` has completed.
#[cfg(feature = "webhook")]
#[must_use]
pub fn webhook_event() -> crate::WebhookEvent {
    crate::WebhookEvent {
        id: "msg_1".to_owned(),
        kind: crate::WebhookEventType::GenerationCompleted,
        timestamp: UPDATED,
        generation: Some(generation_status(GenerationState::Completed)),
        images: vec![prompt_image()],
        data: json!({}),
    }
}

/// The completed job `job-1`, with [`prompt`] as its output.
#[must_use]
pub fn finished_generation() -> FinishedGeneration {
    let status = generation_status(GenerationState::Completed);
    FinishedGeneration { status, prompts: vec![prompt()] }
}

/// An upload slot for [`png`], valid for five minutes.
#[must_use]
pub fn upload_slot() -> UploadSlot {
    slot("1.png", "image/png", PNG.len() as u64)
}

#[expect(clippy::expect_used, reason = "names are those of the script's storage")]
pub(super) fn slot(name: &str, content_type: &str, size: u64) -> UploadSlot {
    let slot = json!({
        "uploadUrl": format!("{STORAGE_URL}/{name}?signature=sixteen-and-more-letters"),
        "token": "token-of-the-upload",
        "url": format!("{ASSETS_URL}/{name}"),
        "path": format!("images/{name}"),
        "contentType": content_type,
        "size": size,
        "expiresIn": 300,
    });
    serde_json::from_value(slot).expect("a valid slot")
}

/// [`png`], uploaded.
#[must_use]
pub fn uploaded_image() -> UploadedImage {
    let UploadSlot { url, path, content_type, size, .. } = upload_slot();
    UploadedImage { url, path, content_type, size }
}

/// [`png`], downloaded.
#[must_use]
pub fn asset() -> Asset {
    Asset { content_type: Some("image/png".to_owned()), bytes: png() }
}

/// A PNG image of one pixel.
#[must_use]
pub const fn png() -> Bytes {
    Bytes::from_static(PNG)
}
