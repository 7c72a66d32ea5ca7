//! Accounts, API keys as records, and the authenticated caller.

/// Id of an account inside the service; never on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(pub i64);

/// Id of an API key inside the service; never on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub i64);

/// The authenticated caller of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The key it authenticated with. It may have been revoked since.
    pub key: KeyId,
    /// The account that the request reads and changes.
    pub account: AccountId,
    /// What the key may do.
    pub scopes: Scopes,
}

/// Scopes of a key. Reading needs none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    /// The scope `prompts:write`.
    pub prompts_write: bool,
}

impl Scopes {
    /// All scopes.
    pub const ALL: Self = Self { prompts_write: true };
}

/// A key to create. Its secret is known by digest only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    /// The public part of the key; unique in the service.
    pub public_id: Box<str>,
    /// SHA-256 of the whole key.
    pub digest: [u8; 32],
    /// What the key may do.
    pub scopes: Scopes,
    /// Whether it is created as a revoked key.
    pub revoked: bool,
}

/// A stored key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// Id inside the service.
    pub id: KeyId,
    /// The account it belongs to.
    pub account: AccountId,
    /// Its public part, digest, scopes and state.
    pub key: NewKey,
}

impl KeyRecord {
    /// The caller that this key authenticates.
    pub const fn caller(&self) -> Caller {
        Caller { key: self.id, account: self.account, scopes: self.key.scopes }
    }
}
