//! Failures of a store. Their texts are for the log.

use std::error::Error;
use std::io;
use std::iter::successors;
use std::time::Duration;

use crate::domain::AssetName;
use crate::error_chain::error_chain;

/// The store failed. The text, for the log, has no names of assets, which must stay secret.
#[derive(Debug, thiserror::Error)]
#[error("the blob store failed: {text}")]
pub struct BlobError {
    pub(super) text: String,
    pub(super) full: bool,
}

impl BlobError {
    pub fn is_full(&self) -> bool {
        self.full
    }

    pub(crate) fn silent(limit: Duration) -> Self {
        Self::text(format!("it did not answer for {limit:?}"))
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), full: false }
    }

    fn of(error: &(dyn Error + 'static)) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let mut causes = successors(Some(error), |error| (*error).source());
        let full = causes.any(|cause| {
            let kind = cause.downcast_ref().map(io::Error::kind);
            matches!(kind, Some(StorageFull | QuotaExceeded | FileTooLarge))
        });
        Self { text: redact_names(&without_xml(&error_chain(error))), full }
    }
}

impl From<object_store::Error> for BlobError {
    fn from(error: object_store::Error) -> Self {
        Self::of(&error)
    }
}

impl From<io::Error> for BlobError {
    fn from(error: io::Error) -> Self {
        Self::of(&error)
    }
}

/// Leaves out the XML of an S3 response except for its error code: it may repeat a signature.
fn without_xml(text: &str) -> String {
    let Some((before, xml)) = text.split_once('<') else {
        return text.to_owned();
    };
    let code = xml.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    match code.filter(|(code, _)| code.chars().all(|c| c.is_ascii_alphanumeric())) {
        Some((code, _)) => format!("{before}{code}"),
        None => before.trim_end_matches([' ', ':']).to_owned(),
    }
}

fn redact_names(text: &str) -> String {
    let is_other = |c: char| !c.is_ascii_alphanumeric();
    let redacted = text.split_inclusive(|c| is_other(c) && c != '.').map(|word| {
        let name = word.trim_end_matches(is_other);
        let is_name = AssetName::parse(name).is_some();
        if is_name { word.replace(name, "<asset>") } else { word.to_owned() }
    });
    redacted.collect()
}
