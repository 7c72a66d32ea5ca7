//! Errors of blob stores. Their texts are for the log and contain no names of assets, which are
//! the assets' only protection.

use std::error::Error;
use std::io;

use super::AssetName;
use crate::error_chain::error_chain;

/// The store failed.
#[derive(Debug, thiserror::Error)]
#[error("the blob store failed: {text}")]
pub struct BlobError {
    pub(super) text: String,
    full: bool,
}

/// A store cannot be used at all.
#[derive(Debug, thiserror::Error)]
#[error("the blob store cannot be used: {0}")]
pub struct BlobOpenError(pub(super) String);

/// Why a file was not put.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    /// The name has a file already, which stays as it is.
    #[error("there is a file of this name already")]
    Taken,
    /// The store failed. No part of the file is visible.
    #[error(transparent)]
    Failed(#[from] BlobError),
}

impl BlobError {
    /// Whether there is no space left.
    pub fn is_full(&self) -> bool {
        self.full
    }

    pub(super) fn busy() -> Self {
        Self { text: "too many uploads are on their way to it".to_owned(), full: false }
    }

    fn new(error: &(dyn Error + 'static)) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let mut causes = std::iter::successors(Some(error), |error| (*error).source());
        let full = causes.any(|cause| {
            let kind = cause.downcast_ref().map(io::Error::kind);
            matches!(kind, Some(StorageFull | QuotaExceeded | FileTooLarge))
        });
        Self { text: redact_names(&without_xml(&error_chain(error))), full }
    }
}

impl From<object_store::Error> for BlobError {
    fn from(error: object_store::Error) -> Self {
        Self::new(&error)
    }
}

impl From<io::Error> for BlobError {
    fn from(error: io::Error) -> Self {
        Self::new(&error)
    }
}

/// Leaves out the XML of an S3 response except for its error code: the response to a refused
/// request repeats the request's signature.
fn without_xml(text: &str) -> String {
    let Some((before, xml)) = text.split_once('<') else {
        return text.to_owned();
    };
    let code = xml.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    match code {
        Some((code, _)) if code.chars().all(|c| c.is_ascii_alphanumeric()) => {
            format!("{before}{code}")
        }
        _ => before.trim_end_matches([' ', ':']).to_owned(),
    }
}

fn redact_names(text: &str) -> String {
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    words
        .map(|word| {
            let name = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            let is_name = AssetName::parse(name).is_some();
            if is_name { word.replace(name, "<asset>") } else { word.to_owned() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_no_xml_and_no_asset_name() {
        let xml = "403 Forbidden: <?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code>\
                   <SignatureProvided>s3cret</SignatureProvided></Error>";
        let name = "0123456789abcdefghijklmno0.png";
        for (text, expected) in [
            (xml, "403 Forbidden: SignatureDoesNotMatch"),
            ("500: <html>s3cret", "500"),
            ("500: <Code>s3 cret</Code>", "500"),
            ("no response", "no response"),
            (
                &format!("PUT http://h/b/images/{name}: {name}. x"),
                "PUT http://h/b/images/<asset>: <asset>. x",
            ),
            (&format!("\"{name}\", /x/{name}#1"), "\"<asset>\", /x/<asset>#1"),
        ] {
            let source = io::Error::other(text.to_owned());
            assert_eq!(BlobError::from(source).text, expected);
        }
    }

    #[test]
    fn a_full_disk_is_recognised_in_the_causes() {
        let full = Box::new(io::Error::from(io::ErrorKind::StorageFull));
        let wrapped = object_store::Error::Generic { store: "t", source: full };
        assert!(BlobError::from(wrapped).is_full());
        assert!(!BlobError::from(io::Error::from(io::ErrorKind::PermissionDenied)).is_full());
    }
}
