//! Prompts, and prompts as members of a vault.

use std::ops::Deref;

use crate::model::object::model;
use crate::model::open_enum::open_enum;
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
        pub text as "prompt": String,
        /// The type of output that the prompt is for.
        pub prompt_type as "promptType": PromptType,
        /// A free label for the platform or tool that the prompt is meant for.
        pub platform: Option<String>,
        /// The status.
        pub status: PromptStatus,
        /// The images that generations made.
        pub images: Vec<PromptImage>,
        /// The vaults that contain the prompt.
        pub vault_ids as "vaultIds": Vec<VaultId>,
        /// When the prompt was created.
        pub created_at as "createdAt": Timestamp,
        /// When the prompt was last changed.
        pub updated_at as "updatedAt": Timestamp,
    }
}

model! {
    /// An image of a prompt.
    #[derive(Hash)]
    pub struct PromptImage {
        /// The URL of the image.
        pub url: AssetUrl,
        /// Width in pixels; `None` if the service does not know it.
        pub width: Option<u32>,
        /// Height in pixels; `None` if the service does not know it.
        pub height: Option<u32>,
        /// When the image was created.
        pub created_at as "createdAt": Timestamp,
    }
}

model! {
    /// A prompt in a vault. Dereferences to the [`Prompt`].
    #[derive(Hash)]
    pub struct VaultPrompt {
        /// The id of the membership, which removing, moving and pinning take.
        pub vault_prompt_id as "vaultPromptId": VaultPromptId,
        /// Whether the prompt is pinned to the top of this vault.
        pub is_pinned as "isPinned": bool,
        ;
        /// The prompt. On the wire its fields are beside the others.
        pub prompt: Prompt,
    }
}

impl Deref for VaultPrompt {
    type Target = Prompt;

    fn deref(&self) -> &Prompt {
        &self.prompt
    }
}
