//! Prompts: stored instructions, alone and as members of a vault.

use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize};

use crate::model::open_enum::open_enum;
use crate::model::time::{self, Timestamp};
use crate::model::{AssetUrl, PromptId, VaultId, VaultPromptId};

open_enum! {
    /// What a prompt asks for.
    #[derive(Default)]
    PromptType {
        /// A picture.
        Image = "image",
        /// Text: what a new prompt is unless it says otherwise.
        #[default]
        Text = "text",
        /// A video.
        Video = "video",
    }
}

open_enum! {
    /// The status of a prompt. The specification shows one value.
    #[derive(Default)]
    PromptStatus {
        /// In use.
        #[default]
        Active = "active",
    }
}

/// A stored instruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Prompt {
    /// Names this prompt.
    pub id: PromptId,
    /// Its title; see [`PROMPT_TITLE_CHARS`](crate::limits::PROMPT_TITLE_CHARS).
    pub title: String,
    /// The instruction itself (`prompt` on the wire); see
    /// [`PROMPT_TEXT_CHARS`](crate::limits::PROMPT_TEXT_CHARS).
    #[serde(rename = "prompt")]
    pub text: String,
    /// What it asks for.
    pub prompt_type: PromptType,
    /// A free label for the platform or tool it is meant for.
    #[serde(default)]
    pub platform: Option<String>,
    /// Its status.
    pub status: PromptStatus,
    /// Pictures generated from it.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub images: Vec<PromptImage>,
    /// Every vault it is in.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub vault_ids: Vec<VaultId>,
    /// When it was created.
    #[serde(with = "time")]
    pub created_at: Timestamp,
    /// When it was last updated.
    #[serde(with = "time")]
    pub updated_at: Timestamp,
}

/// A picture generated from a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptImage {
    /// Where it is.
    pub url: AssetUrl,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// When it was made.
    #[serde(with = "time")]
    pub created_at: Timestamp,
}

/// A prompt as a member of one vault. Reads like the [`Prompt`] it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct VaultPrompt {
    /// The prompt.
    #[serde(flatten)]
    pub prompt: Prompt,
    /// Names the membership; removing, moving and pinning ask for it.
    pub vault_prompt_id: VaultPromptId,
    /// Whether the prompt is pinned to the top of this vault.
    pub is_pinned: bool,
}

impl Deref for VaultPrompt {
    type Target = Prompt;

    fn deref(&self) -> &Prompt {
        &self.prompt
    }
}

impl<'de> Deserialize<'de> for VaultPrompt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Flat::deserialize(deserializer).map(Self::from)
    }
}

/// [`VaultPrompt`] as it is on the wire. Reading through `#[serde(flatten)]` would
/// buffer every value and lose the path of the one that is wrong.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Flat {
    id: PromptId,
    title: String,
    prompt: String,
    prompt_type: PromptType,
    #[serde(default)]
    platform: Option<String>,
    status: PromptStatus,
    #[serde(default, deserialize_with = "null_is_empty")]
    images: Vec<PromptImage>,
    #[serde(default, deserialize_with = "null_is_empty")]
    vault_ids: Vec<VaultId>,
    #[serde(with = "time")]
    created_at: Timestamp,
    #[serde(with = "time")]
    updated_at: Timestamp,
    vault_prompt_id: VaultPromptId,
    is_pinned: bool,
}

impl From<Flat> for VaultPrompt {
    fn from(flat: Flat) -> Self {
        Self {
            prompt: Prompt {
                id: flat.id,
                title: flat.title,
                text: flat.prompt,
                prompt_type: flat.prompt_type,
                platform: flat.platform,
                status: flat.status,
                images: flat.images,
                vault_ids: flat.vault_ids,
                created_at: flat.created_at,
                updated_at: flat.updated_at,
            },
            vault_prompt_id: flat.vault_prompt_id,
            is_pinned: flat.is_pinned,
        }
    }
}

fn null_is_empty<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    Option::<Vec<T>>::deserialize(deserializer).map(Option::unwrap_or_default)
}
