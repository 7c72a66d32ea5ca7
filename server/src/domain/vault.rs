//! Vaults as records: what a store takes and returns.

use std::sync::Arc;

use jiff::Timestamp;
use promptarium::VaultId;

/// Who may see a vault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VaultVisibility {
    /// `private`
    #[default]
    Private,
    /// `unlisted`
    Unlisted,
    /// `public`
    Public,
}

impl VaultVisibility {
    /// The value on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Unlisted => "unlisted",
            Self::Public => "public",
        }
    }
}

/// A vault to create.
#[derive(Clone, Debug)]
pub struct NewVault {
    /// 1 to 50 characters.
    pub name: Arc<str>,
    /// At most 200 characters.
    pub description: Option<Arc<str>>,
    /// Who may see it.
    pub visibility: VaultVisibility,
}

/// A partial update; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VaultPatch {
    /// New name.
    pub name: Option<Arc<str>>,
    /// New description, or `Some(None)` to clear it.
    pub description: Option<Option<Arc<str>>>,
    /// New visibility.
    pub visibility: Option<VaultVisibility>,
}

impl VaultPatch {
    /// Whether no field is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A stored vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultRecord {
    /// Unique in the service.
    pub id: VaultId,
    /// 1 to 50 characters.
    pub name: Arc<str>,
    /// At most 200 characters.
    pub description: Option<Arc<str>>,
    /// Unique in the account.
    pub slug: Arc<str>,
    /// Who may see it.
    pub visibility: VaultVisibility,
    /// Cover image.
    pub cover_image_url: Option<Arc<str>>,
    /// Whether the service created it with the account.
    pub system: bool,
    /// Number of prompts in it.
    pub prompt_count: u64,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last update of its own fields.
    pub updated_at: Timestamp,
}
