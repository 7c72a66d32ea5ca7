//! The prompts and vaults of an account as values, as an export holds them.

use jiff::Timestamp;

use super::{ImageRef, NewPrompt, NewVault, PromptImage};

/// What an import adds to an account.
#[derive(Clone, Debug, Default)]
pub struct AccountData {
    /// In the order of their creation, as the vaults.
    pub prompts: Vec<PromptData>,
    pub vaults: Vec<VaultData>,
}

/// A prompt of an export.
#[derive(Clone, Debug)]
pub struct PromptData {
    /// In no vault.
    pub new: NewPrompt,
    /// Oldest first.
    pub images: Vec<PromptImage>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A vault of an export.
#[derive(Clone, Debug)]
pub struct VaultData {
    pub new: NewVault,
    pub cover_image: Option<ImageRef>,
    /// Whether it is the vault that each account has.
    pub system: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Its contents in display order, without duplicates: places in [`AccountData::prompts`], and
    /// whether they are pinned.
    pub members: Vec<(usize, bool)>,
}

/// The name of an account, which fits into a seed key.
pub(crate) fn account_name(text: &str) -> Result<String, &'static str> {
    let reserved = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '=' | ',' | ':');
    let valid = (1..=200).contains(&text.chars().count()) && !text.contains(reserved);
    valid
        .then(|| text.to_owned())
        .ok_or("is not an account name; use 1 to 200 characters without spaces, `:`, `,` and `=`")
}
