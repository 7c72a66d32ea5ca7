//! Prompts, and prompts as members of a vault.

use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize};

use crate::model::open_enum::open_enum;
use crate::model::{AssetUrl, PromptId, Timestamp, VaultId, VaultPromptId, timestamp};

open_enum! {
    /// The type of output that a prompt is for.
    PromptType {
        /// An image.
        Image = "image",
        /// Text, the default.
        Text = "text",
        /// A video.
        Video = "video",
    }
}

open_enum! {
    /// The status of a prompt. The specification shows one value.
    PromptStatus {
        /// In use.
        Active = "active",
    }
}

/// Declares [`Prompt`], and [`VaultPrompt`] as it is on the wire, from one list of fields.
///
/// Decoding through `#[serde(flatten)]` would lose the path of a field that cannot be decoded.
macro_rules! prompt {
    ($($(#[$meta:meta])* $field:ident: $type:ty,)*) => {
        /// A stored prompt.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        #[non_exhaustive]
        pub struct Prompt {
            $($(#[$meta])* pub $field: $type,)*
        }

        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct FlatVaultPrompt {
            $($(#[$meta])* $field: $type,)*
            vault_prompt_id: VaultPromptId,
            is_pinned: bool,
        }

        impl From<FlatVaultPrompt> for VaultPrompt {
            fn from(flat: FlatVaultPrompt) -> Self {
                Self {
                    prompt: Prompt { $($field: flat.$field,)* },
                    vault_prompt_id: flat.vault_prompt_id,
                    is_pinned: flat.is_pinned,
                }
            }
        }
    };
}

prompt! {
    /// The id.
    id: PromptId,
    /// The title, of [`PROMPT_TITLE_CHARS`](crate::limits::PROMPT_TITLE_CHARS) characters.
    title: String,
    /// The text (`prompt` on the wire), of
    /// [`PROMPT_TEXT_CHARS`](crate::limits::PROMPT_TEXT_CHARS) characters.
    #[serde(rename = "prompt")]
    text: String,
    /// The type of output that the prompt is for.
    prompt_type: PromptType,
    /// A free label for the platform or tool that the prompt is meant for.
    #[serde(default)]
    platform: Option<String>,
    /// The status.
    status: PromptStatus,
    /// Images that belong to the prompt.
    #[serde(default, deserialize_with = "null_is_empty")]
    images: Vec<PromptImage>,
    /// The vaults that contain the prompt.
    #[serde(default, deserialize_with = "null_is_empty")]
    vault_ids: Vec<VaultId>,
    /// When the prompt was created.
    #[serde(deserialize_with = "timestamp")]
    created_at: Timestamp,
    /// When the prompt was last changed.
    #[serde(deserialize_with = "timestamp")]
    updated_at: Timestamp,
}

/// An image of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptImage {
    /// The URL of the image.
    pub url: AssetUrl,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// When the image was created.
    #[serde(deserialize_with = "timestamp")]
    pub created_at: Timestamp,
}

/// A prompt in a vault. Dereferences to the [`Prompt`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "FlatVaultPrompt")]
#[non_exhaustive]
pub struct VaultPrompt {
    /// The prompt.
    #[serde(flatten)]
    pub prompt: Prompt,
    /// The id of the membership, which removing, moving and pinning take.
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

fn null_is_empty<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    Option::<Vec<T>>::deserialize(deserializer).map(Option::unwrap_or_default)
}
