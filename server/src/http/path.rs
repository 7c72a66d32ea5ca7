//! What a request's path names, and that it may name nothing.
//!
//! Finding it is for `route`. This room is below that one and below `error` and
//! `api`, so that they can all speak of it without knowing the table.

mod params;

use http::HeaderValue;
use promptarium::path;

pub use self::params::PathParams;

/// What the parameters of a path name, and so what is missing where it is not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressed {
    /// It has none.
    Nothing,
    /// A prompt of the caller.
    Prompt,
    /// A vault of the caller.
    Vault,
    /// A vault of anybody who lets others see it.
    SeenVault,
    /// A membership in a vault of the caller.
    Membership,
    /// A generation of the caller.
    Job,
    /// A file that was uploaded or made.
    Asset,
}

impl Addressed {
    /// What the parameters of a template name.
    pub fn by(template: &str) -> Self {
        if template.contains("{vaultPromptId}") {
            Self::Membership
        } else if template == path::VAULT_FORK {
            Self::SeenVault
        } else if template.contains("{vaultId}") {
            Self::Vault
        } else if template.contains("{promptId}") {
            Self::Prompt
        } else if template.contains("{clientJobId}") {
            Self::Job
        } else if template.contains("{name}") {
            Self::Asset
        } else {
            Self::Nothing
        }
    }
}

/// What a refusal tells by, of the request that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What its path names.
    pub addressed: Addressed,
    /// Whether it could have changed something.
    pub writes: bool,
}

impl Asked {
    /// Nothing that is there.
    pub const NOTHING: Self = Self { addressed: Addressed::Nothing, writes: false };
}

/// Why a request goes nowhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteRefusal {
    /// Nothing is served at this path.
    #[error("there is nothing at this path")]
    UnknownPath,
    /// Something is, but not with this method.
    #[error("this path does not take this method; it takes {}", allow.to_str().unwrap_or_default())]
    WrongMethod {
        /// The methods it takes, for the header `Allow`.
        allow: HeaderValue,
    },
}
