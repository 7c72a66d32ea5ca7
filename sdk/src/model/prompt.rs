//! Prompts, and prompts as members of a vault.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::model::declare::{model, open_enum};
use crate::model::lenient::{list, pixels, timestamp, word};
use crate::model::{AssetUrl, PromptId, Timestamp, VaultId, VaultPromptId};

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

model! {
    /// A stored prompt.
    ///
    /// Model, aspect ratio, image URL and reference media can be sent, but a response does not have
    /// them, so a copy of an image or video prompt cannot be made from a `Prompt` alone.
    #[derive(Hash)]
    pub struct Prompt {
        /// The id.
        pub id: PromptId,
        /// The title.
        pub title: String,
        /// The text (`prompt` on the wire).
        #[serde(rename = "prompt")]
        pub text: String,
        /// The type of output that the prompt is for.
        #[serde(deserialize_with = "word")]
        pub prompt_type: PromptType,
        /// A free label for the platform or tool that the prompt is meant for.
        pub platform: Option<String>,
        /// The status.
        #[serde(deserialize_with = "word")]
        pub status: PromptStatus,
        /// The images that generations made.
        #[serde(default, deserialize_with = "list")]
        pub images: Vec<PromptImage>,
        /// The vaults that contain the prompt.
        #[serde(default, deserialize_with = "list")]
        pub vault_ids: Vec<VaultId>,
        /// When the prompt was created.
        #[serde(deserialize_with = "timestamp")]
        pub created_at: Timestamp,
        /// When the prompt was last changed.
        #[serde(deserialize_with = "timestamp")]
        pub updated_at: Timestamp,
    }
}

model! {
    /// An image of a prompt.
    #[derive(Hash)]
    pub struct PromptImage {
        /// The URL of the image.
        pub url: AssetUrl,
        /// Width in pixels; `None` if the service does not know it.
        #[serde(default, deserialize_with = "pixels")]
        pub width: Option<u32>,
        /// Height in pixels; `None` if the service does not know it.
        #[serde(default, deserialize_with = "pixels")]
        pub height: Option<u32>,
        /// When the image was created.
        #[serde(deserialize_with = "timestamp")]
        pub created_at: Timestamp,
    }
}

/// A prompt in a vault. Dereferences to the [`Prompt`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct VaultPrompt {
    /// The id of the membership, which removing, moving and pinning take.
    pub vault_prompt_id: VaultPromptId,
    /// Whether the prompt is pinned to the top of this vault.
    pub is_pinned: bool,
    /// The prompt. On the wire its fields are beside the others.
    #[serde(flatten)]
    pub prompt: Prompt,
}

impl Deref for VaultPrompt {
    type Target = Prompt;

    fn deref(&self) -> &Prompt {
        &self.prompt
    }
}
