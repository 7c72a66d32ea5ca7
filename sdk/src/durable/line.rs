//! The lines of the file of a journal.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{JobId, Timestamp};

/// The kinds of steps of this [`VERSION`](super::file::VERSION) of the file. Another needs a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Prompt,
    Vault,
    Fork,
    Upload,
    Generation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum List {
    Prompts,
    Vaults,
}

impl Kind {
    pub(super) const fn list(self) -> Option<List> {
        match self {
            Self::Prompt => Some(List::Prompts),
            Self::Vault | Self::Fork => Some(List::Vaults),
            Self::Upload | Self::Generation => None,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) key: String,
    #[serde(flatten)]
    pub(super) event: Event,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event {
    Begin(Begin),
    Done { value: Value },
    NotDone,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Begin {
    pub(super) kind: Kind,
    /// What the call sends, without URLs.
    pub(super) content: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) job: Option<JobId>,
    pub(super) at: Timestamp,
}

impl Line {
    pub(super) fn new(key: &str, event: Event) -> Self {
        Self { key: key.to_owned(), event }
    }
}

impl Begin {
    pub(super) fn new(kind: Kind, content: Value) -> Self {
        Self { kind, content, job: None, at: Timestamp::now() }
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;
    use crate::durable::file::VERSION;

    #[test]
    fn a_kind_that_an_older_crate_does_not_know_needs_another_version_of_the_file() {
        // Whoever adds a kind here raises the version.
        let version_of = |kind| match kind {
            Kind::Prompt | Kind::Vault | Kind::Fork | Kind::Upload | Kind::Generation => 2,
        };
        assert_eq!(version_of(Kind::Fork), VERSION);
    }
}
