//! Vaults, and the responses of calls that change their contents.

use crate::model::declare::{model, open_enum};
use crate::model::lenient::{integer, timestamp, word};
use crate::model::{AssetUrl, PromptId, Timestamp, VaultId, VaultPromptId};

open_enum! {
    /// The visibility of a vault.
    Visibility {
        /// Visible to its owner, the default.
        Private = "private",
        /// Visible to everyone who knows its URL.
        Unlisted = "unlisted",
        /// Visible to everyone.
        Public = "public",
    }
}

model! {
    /// A named collection of prompts.
    pub struct Vault {
        /// The id.
        pub id: VaultId,
        /// The name.
        pub name: String,
        /// The description.
        pub description: Option<String>,
        /// The name in a form for URLs.
        pub slug: String,
        /// The visibility.
        #[serde(deserialize_with = "word")]
        pub visibility: Visibility,
        /// How access is controlled. The specification shows only `null`.
        pub access_type: Option<String>,
        /// Whether the vault is locked against changes.
        pub is_locked: bool,
        /// The URL of the cover image.
        pub cover_image_url: Option<AssetUrl>,
        /// Whether the service created the vault for the account.
        pub is_system: bool,
        /// The number of prompts in the vault.
        #[serde(deserialize_with = "integer")]
        pub prompt_count: u64,
        /// When the vault was created.
        #[serde(deserialize_with = "timestamp")]
        pub created_at: Timestamp,
        /// When the vault was last changed.
        #[serde(deserialize_with = "timestamp")]
        pub updated_at: Timestamp,
    }
}

model! {
    /// The response to deleting a prompt or a vault.
    pub struct Deleted<Id> {
        /// The id of what was deleted.
        pub id: Id,
        /// `true`.
        pub deleted: bool,
    }
}

model! {
    /// The response to adding prompts to a vault.
    pub struct AddedPrompts {
        /// The number of prompts that were added.
        #[serde(deserialize_with = "integer")]
        pub added: u64,
        /// The vault.
        pub vault_id: VaultId,
        /// The number of prompts in the vault now.
        #[serde(deserialize_with = "integer")]
        pub prompt_count: u64,
    }
}

model! {
    /// The response to removing a prompt from a vault. The prompt itself remains.
    pub struct RemovedPrompt {
        /// The membership that was removed.
        pub vault_prompt_id: VaultPromptId,
        /// `true`.
        pub removed: bool,
    }
}

model! {
    /// The response to moving a prompt to another vault.
    pub struct MovedPrompt {
        /// The prompt.
        pub prompt_id: PromptId,
        /// The vault that contained it.
        pub source_vault_id: VaultId,
        /// The vault that contains it now.
        pub target_vault_id: VaultId,
        /// The new membership, in the target vault.
        pub vault_prompt_id: VaultPromptId,
    }
}

model! {
    /// The response to pinning or unpinning a prompt.
    pub struct PinState {
        /// The membership.
        pub vault_prompt_id: VaultPromptId,
        /// Whether the prompt is pinned now.
        pub is_pinned: bool,
    }
}
