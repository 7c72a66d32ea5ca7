//! Vaults, and the responses of calls that change their contents.

use serde::{Deserialize, Serialize};

use crate::model::open_enum::open_enum;
use crate::model::{AssetUrl, PromptId, Timestamp, VaultId, VaultPromptId, timestamp};

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

/// A named collection of prompts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Vault {
    /// The id.
    pub id: VaultId,
    /// The name, of [`VAULT_NAME_CHARS`](crate::limits::VAULT_NAME_CHARS) characters.
    pub name: String,
    /// The description.
    #[serde(default)]
    pub description: Option<String>,
    /// The name in a form for URLs.
    pub slug: String,
    /// The visibility.
    pub visibility: Visibility,
    /// How access is controlled. The specification shows only `null`.
    #[serde(default)]
    pub access_type: Option<String>,
    /// Whether the vault is locked against changes.
    pub is_locked: bool,
    /// The URL of the cover image.
    #[serde(default)]
    pub cover_image_url: Option<AssetUrl>,
    /// Whether the service created the vault for the account.
    pub is_system: bool,
    /// The number of prompts in the vault.
    pub prompt_count: u64,
    /// When the vault was created.
    #[serde(deserialize_with = "timestamp")]
    pub created_at: Timestamp,
    /// When the vault was last changed.
    #[serde(deserialize_with = "timestamp")]
    pub updated_at: Timestamp,
}

/// The response to deleting a prompt or a vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Deleted<Id> {
    /// The id of what was deleted.
    pub id: Id,
    /// `true`.
    pub deleted: bool,
}

/// The response to adding prompts to a vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AddedPrompts {
    /// The number of prompts that were added.
    pub added: u64,
    /// The vault.
    pub vault_id: VaultId,
    /// The number of prompts in the vault now.
    pub prompt_count: u64,
}

/// The response to removing a prompt from a vault. The prompt itself remains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RemovedPrompt {
    /// The membership that was removed.
    pub vault_prompt_id: VaultPromptId,
    /// `true`.
    pub removed: bool,
}

/// The response to moving a prompt to another vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
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

/// The response to pinning or unpinning a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PinState {
    /// The membership.
    pub vault_prompt_id: VaultPromptId,
    /// Whether the prompt is pinned now.
    pub is_pinned: bool,
}
