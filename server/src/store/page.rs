//! A page of a caller's prompts: what is asked for, and what is given.

use promptarium::{PromptId, VaultId};

use super::{PromptKind, SharedPrompt};

/// One page of the caller's prompts, asked for.
#[derive(Clone, Copy, Debug)]
pub struct PromptQuery {
    /// Only prompts in this vault, which must be the caller's.
    pub vault: Option<VaultId>,
    /// Only prompts of this type.
    pub kind: Option<PromptKind>,
    /// Only prompts after this one in listing order, that is, with a lower id.
    pub after: Option<PromptId>,
    /// At most this many; at least 1.
    pub limit: usize,
}

/// One page of the caller's prompts, given.
#[derive(Clone, Debug)]
pub struct PromptPage {
    /// Newest first.
    pub prompts: Vec<SharedPrompt>,
    /// Whether at least one more prompt follows the last of these.
    pub more: bool,
}
