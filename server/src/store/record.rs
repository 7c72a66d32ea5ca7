//! The shapes a [`Store`](super::Store) takes and gives.
//!
//! They hold checked values only: lengths and forms were checked where the
//! request was read, so nothing here is checked again. How they look on the
//! wire is for `api::view` to say.

use std::sync::Arc;

use jiff::Timestamp;
use promptarium::{PromptId, VaultId, VaultPromptId};

/// An account inside this service; never shown to anyone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(pub i64);

/// A key inside this service; never shown to anyone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub i64);

/// Who is asking, once that is proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The key that proved it. It may be revoked meanwhile.
    pub key: KeyId,
    /// The account that the call reads and changes.
    pub account: AccountId,
    /// What the key may do.
    pub scopes: Scopes,
}

/// What a key may do. Reading needs no scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    /// The scope `prompts:write`.
    pub prompts_write: bool,
}

impl Scopes {
    /// Every scope there is.
    pub const ALL: Self = Self { prompts_write: true };
}

/// A key to be made: its secret is known by digest only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    /// The part of the key that names it; unique in the service.
    pub public_id: Box<str>,
    /// SHA-256 of the whole key.
    pub digest: [u8; 32],
    /// What it may do.
    pub scopes: Scopes,
    /// Whether it is revoked from the start.
    pub revoked: bool,
}

/// A key that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its name in the service.
    pub id: KeyId,
    /// Whose it is.
    pub account: AccountId,
    /// The key.
    pub key: NewKey,
}

impl KeyRecord {
    /// Whoever has proved to hold this key.
    pub const fn caller(&self) -> Caller {
        Caller { key: self.id, account: self.account, scopes: self.key.scopes }
    }
}

/// The types a prompt can have here. The SDK's open `PromptType` knows values
/// that no prompt in a store ever has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PromptKind {
    /// `image`
    Image,
    /// `text`
    #[default]
    Text,
    /// `video`
    Video,
}

impl PromptKind {
    /// The value on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Text => "text",
            Self::Video => "video",
        }
    }

    /// Whether a prompt of this type must name a model.
    pub const fn needs_model(self) -> bool {
        matches!(self, Self::Image | Self::Video)
    }
}

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

/// A prompt to be made.
#[derive(Clone, Debug)]
pub struct NewPrompt {
    /// 1 to 120 characters.
    pub title: Arc<str>,
    /// 1 to 15000 characters.
    pub text: Arc<str>,
    /// Its type.
    pub kind: PromptKind,
    /// Free label.
    pub platform: Option<Arc<str>>,
    /// What it was written for; see [`PromptInputs`].
    pub inputs: PromptInputs,
    /// The vault it goes into, if any.
    pub vault: Option<VaultId>,
}

/// The parts of a prompt that come in and are never shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptInputs {
    /// Model at the provider; always there for image and video prompts.
    pub model_id: Option<Arc<str>>,
    /// At most 20 characters.
    pub aspect_ratio: Option<Arc<str>>,
    /// A URL.
    pub image_url: Option<Arc<str>>,
    /// At most 10 URIs.
    pub reference_media_urls: Option<Arc<[Box<str>]>>,
}

/// A change to a prompt; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct PromptPatch {
    /// New title.
    pub title: Option<Arc<str>>,
    /// New text.
    pub text: Option<Arc<str>>,
    /// New type.
    pub kind: Option<PromptKind>,
    /// New label, or `Some(None)` to clear it.
    pub platform: Option<Option<Arc<str>>>,
    /// New values of the inputs it names; the others stay.
    pub inputs: PromptInputs,
    /// A vault to add the prompt to.
    pub vault: Option<VaultId>,
}

impl PromptPatch {
    /// Whether it names nothing.
    pub fn is_empty(&self) -> bool {
        let Self { title, text, kind, platform, inputs, vault } = self;
        title.is_none()
            && text.is_none()
            && kind.is_none()
            && platform.is_none()
            && *inputs == PromptInputs::default()
            && vault.is_none()
    }
}

/// A picture or video linked to a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptImage {
    /// Where it can be fetched.
    pub url: Box<str>,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A prompt that exists. A copy shares the texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptRecord {
    /// Unique in the service.
    pub id: PromptId,
    /// 1 to 120 characters.
    pub title: Arc<str>,
    /// 1 to 15000 characters.
    pub text: Arc<str>,
    /// Its type.
    pub kind: PromptKind,
    /// Free label.
    pub platform: Option<Arc<str>>,
    /// What it was written for.
    pub inputs: PromptInputs,
    /// Generated pictures, oldest first.
    pub images: Arc<[PromptImage]>,
    /// Every vault it is in, ascending.
    pub vault_ids: Vec<VaultId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed; see `Store::update_prompt`.
    pub updated_at: Timestamp,
}

/// A prompt as it stands in a vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPrompt {
    /// The prompt.
    pub prompt: Arc<PromptRecord>,
    /// Its membership in this vault.
    pub membership: VaultPromptId,
    /// Whether it is pinned in this vault.
    pub pinned: bool,
}

/// A vault to be made.
#[derive(Clone, Debug)]
pub struct NewVault {
    /// 1 to 50 characters.
    pub name: Arc<str>,
    /// At most 200 characters.
    pub description: Option<Arc<str>>,
    /// Who may see it.
    pub visibility: VaultVisibility,
}

/// A change to a vault; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct VaultPatch {
    /// New name.
    pub name: Option<Arc<str>>,
    /// New description, or `Some(None)` to clear it.
    pub description: Option<Option<Arc<str>>>,
    /// New visibility.
    pub visibility: Option<VaultVisibility>,
}

impl VaultPatch {
    /// Whether it names nothing.
    pub fn is_empty(&self) -> bool {
        let Self { name, description, visibility } = self;
        name.is_none() && description.is_none() && visibility.is_none()
    }
}

/// A vault that exists.
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
    /// Picture that stands for it.
    pub cover_image_url: Option<Arc<str>>,
    /// Whether the service made it for the account.
    pub system: bool,
    /// How many prompts it holds.
    pub prompt_count: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its own fields were last changed.
    pub updated_at: Timestamp,
}
