//! The prompts and vaults of an account as values, as an export holds them.

use std::sync::Arc;

use jiff::Timestamp;

use super::{ImageRef, PromptImage, PromptInputs, PromptKind, VaultVisibility};

/// What an import adds to an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountData {
    /// In the order of their creation.
    pub prompts: Vec<PromptData>,
    /// In the order of their creation.
    pub vaults: Vec<VaultData>,
}

/// A prompt without its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptData {
    /// 1 to 120 characters.
    pub title: Arc<str>,
    /// 1 to 15000 characters.
    pub text: Arc<str>,
    /// Its type.
    pub kind: PromptKind,
    /// Free label.
    pub platform: Option<Arc<str>>,
    /// Input-only fields.
    pub inputs: PromptInputs,
    /// Oldest first.
    pub images: Vec<PromptImage>,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last update.
    pub updated_at: Timestamp,
}

/// A vault without its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultData {
    /// 1 to 50 characters.
    pub name: Arc<str>,
    /// At most 200 characters.
    pub description: Option<Arc<str>>,
    /// Who may see it.
    pub visibility: VaultVisibility,
    /// Cover image.
    pub cover_image: Option<ImageRef>,
    /// Whether it is the vault that each account has.
    pub system: bool,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last update.
    pub updated_at: Timestamp,
    /// Its contents in display order, without duplicates.
    pub members: Vec<MemberData>,
}

/// A prompt in a vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberData {
    /// The place of the prompt in [`AccountData::prompts`].
    pub prompt: usize,
    /// Whether it is pinned there.
    pub pinned: bool,
}

/// The name of an account, which fits into a seed key.
pub(crate) fn account_name(text: &str) -> Result<String, &'static str> {
    let reserved = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '=' | ',' | ':');
    let valid = (1..=200).contains(&text.chars().count()) && !text.contains(reserved);
    valid
        .then(|| text.to_owned())
        .ok_or("is not an account name; use 1 to 200 characters without spaces, `:`, `,` and `=`")
}
