//! Every path of the API, relative to the base URL.
//!
//! The constants are templates with the parameter names of the specification; a
//! server's route table can use them as they stand. The functions fill a template
//! from typed ids. Nothing else in this crate writes a path.
//!
//! ```
//! use promptarium::{PromptId, path};
//!
//! assert_eq!(path::PROMPT, "/prompts/{promptId}");
//! assert_eq!(path::prompt(PromptId::new(7)), "/prompts/7");
//! ```

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

use crate::model::{JobId, PromptId, VaultId, VaultPromptId};

/// List and create prompts.
pub const PROMPTS: &str = "/prompts";
/// Read, change and delete one prompt.
pub const PROMPT: &str = "/prompts/{promptId}";
/// Save a prompt to a further vault.
pub const PROMPT_SAVE: &str = "/prompts/{promptId}/save";
/// List and create vaults.
pub const VAULTS: &str = "/vaults";
/// Read, change and delete one vault.
pub const VAULT: &str = "/vaults/{vaultId}";
/// Copy a vault into the caller's account.
pub const VAULT_FORK: &str = "/vaults/{vaultId}/fork";
/// List the contents of a vault and add prompts to it.
pub const VAULT_PROMPTS: &str = "/vaults/{vaultId}/prompts";
/// Remove one prompt from a vault.
pub const VAULT_PROMPT: &str = "/vaults/{vaultId}/prompts/{vaultPromptId}";
/// Move one prompt to another vault.
pub const VAULT_PROMPT_MOVE: &str = "/vaults/{vaultId}/prompts/{vaultPromptId}/move";
/// Pin and unpin one prompt of a vault.
pub const VAULT_PROMPT_PIN: &str = "/vaults/{vaultId}/prompts/{vaultPromptId}/pin";
/// Queue a generation.
pub const GENERATIONS: &str = "/generations";
/// Poll a generation.
pub const GENERATION_STATUS: &str = "/generations/{clientJobId}/status";
/// Ask for an upload slot.
pub const UPLOADS_IMAGES: &str = "/uploads/images";
/// List and create API keys (in a browser session only).
pub const API_KEYS: &str = "/api-keys";
/// Revoke one API key (in a browser session only).
pub const API_KEY: &str = "/api-keys/{publicId}";

/// [`PROMPT`] of one prompt.
#[must_use]
pub fn prompt(id: PromptId) -> String {
    format!("/prompts/{id}")
}

/// [`PROMPT_SAVE`] of one prompt.
#[must_use]
pub fn prompt_save(id: PromptId) -> String {
    format!("/prompts/{id}/save")
}

/// [`VAULT`] of one vault.
#[must_use]
pub fn vault(id: VaultId) -> String {
    format!("/vaults/{id}")
}

/// [`VAULT_FORK`] of one vault.
#[must_use]
pub fn vault_fork(id: VaultId) -> String {
    format!("/vaults/{id}/fork")
}

/// [`VAULT_PROMPTS`] of one vault.
#[must_use]
pub fn vault_prompts(id: VaultId) -> String {
    format!("/vaults/{id}/prompts")
}

/// [`VAULT_PROMPT`] of one membership.
#[must_use]
pub fn vault_prompt(vault: VaultId, membership: VaultPromptId) -> String {
    format!("/vaults/{vault}/prompts/{membership}")
}

/// [`VAULT_PROMPT_MOVE`] of one membership.
#[must_use]
pub fn vault_prompt_move(vault: VaultId, membership: VaultPromptId) -> String {
    format!("/vaults/{vault}/prompts/{membership}/move")
}

/// [`VAULT_PROMPT_PIN`] of one membership.
#[must_use]
pub fn vault_prompt_pin(vault: VaultId, membership: VaultPromptId) -> String {
    format!("/vaults/{vault}/prompts/{membership}/pin")
}

/// [`GENERATION_STATUS`] of one job.
///
/// The id is the caller's own text, so everything in it that could end a path
/// segment is percent-encoded: `a/../b?c#%` stays one segment. The texts `.` and
/// `..` cannot be written as a segment of a URL at all, encoded or not.
#[must_use]
pub fn generation_status(job: &JobId) -> String {
    format!("/generations/{}/status", segment(job.as_str()))
}

/// What stands in a segment as it is: the unreserved characters of RFC 3986.
const UNRESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn segment(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, &UNRESERVED)
}
