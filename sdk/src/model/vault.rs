//! Vaults: named collections of prompts, and the answers of calls that change
//! what is in them.

use serde::{Deserialize, Serialize};

use crate::model::open_enum::open_enum;
use crate::model::time::{self, Timestamp};
use crate::model::{AssetUrl, PromptId, VaultId, VaultPromptId};

open_enum! {
    /// Who may see a vault.
    #[derive(Default)]
    Visibility {
        /// Its owner: what a new vault is unless it says otherwise.
        #[default]
        Private = "private",
        /// Its owner, and whoever knows its address.
        Unlisted = "unlisted",
        /// Everyone.
        Public = "public",
    }
}

/// A named collection of prompts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Vault {
    /// Names this vault.
    pub id: VaultId,
    /// Its name; see [`VAULT_NAME_CHARS`](crate::limits::VAULT_NAME_CHARS).
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// Its name as it can stand in an address.
    pub slug: String,
    /// Who may see it.
    pub visibility: Visibility,
    /// How access is controlled. The specification shows only `null`.
    #[serde(default)]
    pub access_type: Option<String>,
    /// Whether it is locked from edits.
    pub is_locked: bool,
    /// Its cover picture.
    #[serde(default)]
    pub cover_image_url: Option<AssetUrl>,
    /// Whether the service made it for the account.
    pub is_system: bool,
    /// How many prompts are in it.
    pub prompt_count: u64,
    /// When it was created.
    #[serde(with = "time")]
    pub created_at: Timestamp,
    /// When it was last updated.
    #[serde(with = "time")]
    pub updated_at: Timestamp,
}

/// A prompt or a vault is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Deleted<Id> {
    /// What was deleted.
    pub id: Id,
    /// `true`.
    pub deleted: bool,
}

/// Prompts were added to a vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AddedPrompts {
    /// How many were added.
    pub added: u64,
    /// The vault.
    pub vault_id: VaultId,
    /// How many prompts are in the vault now.
    pub prompt_count: u64,
}

/// A prompt was removed from a vault. The prompt itself remains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RemovedPrompt {
    /// The membership that is gone.
    pub vault_prompt_id: VaultPromptId,
    /// `true`.
    pub removed: bool,
}

/// A prompt was moved from one vault to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MovedPrompt {
    /// The prompt.
    pub prompt_id: PromptId,
    /// The vault it was in.
    pub source_vault_id: VaultId,
    /// The vault it is in now.
    pub target_vault_id: VaultId,
    /// The new membership, in the target vault.
    pub vault_prompt_id: VaultPromptId,
}

/// Whether a prompt is pinned, after it was pinned or unpinned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PinState {
    /// The membership.
    pub vault_prompt_id: VaultPromptId,
    /// Whether it is pinned now.
    pub is_pinned: bool,
}
