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

/// Slugs: the URL-safe names of vaults (rule `VA-04`, and S-16 of the silent points).
///
/// A vault's slug is the first free [`candidate`](slug::candidate) for the
/// [`base`](slug::base) of its name: `night-sky`, `night-sky-2`, `night-sky-3`… The stores
/// know which are taken.
pub(crate) mod slug {
    /// Slug of a name without letters or digits.
    const NAMELESS: &str = "vault";

    /// The preferred slug of a name: transliterated to ASCII, lower case, words joined by
    /// single hyphens, never empty.
    pub(crate) fn base(name: &str) -> String {
        let slug = ::slug::slugify(name);
        if slug.is_empty() { NAMELESS.to_owned() } else { slug }
    }

    /// The `number`th candidate for a base, from 1: the base, then the base with a number.
    pub(crate) fn candidate(base: &str, number: u64) -> String {
        if number <= 1 { base.to_owned() } else { format!("{base}-{number}") }
    }
}

#[cfg(test)]
mod tests {
    use super::slug::{base, candidate};

    #[test]
    fn a_base_is_transliterated_lower_case_and_hyphenated() {
        assert_eq!(base("Night Sky"), "night-sky");
        assert_eq!(base("  Ærøskøbing -- 100% Öl!  "), "aeroskobing-100-ol");
        assert_eq!(base("影師嗎"), "ying-shi-ma");
    }

    #[test]
    fn a_base_is_never_empty() {
        for name in ["", "---", "!?", "\u{200b}", " "] {
            assert_eq!(base(name), "vault", "{name:?}");
        }
    }

    #[test]
    fn candidates_count_from_two() {
        assert_eq!([1, 2, 3].map(|n| candidate("a", n)), ["a", "a-2", "a-3"]);
    }
}
