//! What goes wrong with a store of files, in words for the log.

use std::error::Error;
use std::io;
use std::path::Path;

/// The store failed. The text is for the log.
///
/// It is taken from the cause with care: what an S3-compatible store answers to a
/// refused request repeats the request's signature.
#[derive(Debug, thiserror::Error)]
#[error("the blob store failed: {text}")]
pub struct BlobError {
    text: String,
    full: bool,
}

/// A store cannot be used at all.
#[derive(Debug, thiserror::Error)]
#[error("the blob store cannot be used: {0}")]
pub struct BlobsUnusable(String);

impl BlobError {
    /// Whether there is no space left.
    pub fn is_full(&self) -> bool {
        self.full
    }
}

impl From<object_store::Error> for BlobError {
    fn from(error: object_store::Error) -> Self {
        Self { text: without_answer(&chain(&error)), full: is_full(&error) }
    }
}

impl From<io::Error> for BlobError {
    fn from(error: io::Error) -> Self {
        Self { text: error.to_string(), full: is_full(&error) }
    }
}

impl BlobsUnusable {
    pub(super) fn new(error: BlobError) -> Self {
        Self(error.text)
    }

    pub(super) fn because(text: String) -> Self {
        Self(text)
    }
}

/// Makes a folder if it is absent, and a file in it that goes again.
pub(super) fn prove_writable(folder: &Path) -> Result<(), BlobsUnusable> {
    let shown = folder.display();
    std::fs::create_dir_all(folder).map_err(|error| {
        BlobsUnusable::because(format!("the folder {shown} cannot be made: {error}"))
    })?;
    let probe = folder.join(format!(".writable-{:016x}", rand::random::<u64>()));
    std::fs::write(&probe, b"").and_then(|()| std::fs::remove_file(&probe)).map_err(|error| {
        BlobsUnusable::because(format!("nothing can be written in the folder {shown}: {error}"))
    })
}

/// An error and its causes, each said once.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        next = cause.source();
    }
    text
}

/// Leaves out the XML of an answer, but for the code that says what was wrong.
fn without_answer(text: &str) -> String {
    let Some((before, answer)) = text.split_once('<') else {
        return text.to_owned();
    };
    let code = answer.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    let plain = |code: &str| code.chars().all(|c| c.is_ascii_alphanumeric());
    match code {
        Some((code, _)) if plain(code) => format!("{before}{code}"),
        _ => before.trim_end_matches([' ', ':']).to_owned(),
    }
}

fn is_full(error: &(dyn Error + 'static)) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let mut next = Some(error);
    while let Some(cause) = next {
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        if matches!(kind, Some(StorageFull | QuotaExceeded | FileTooLarge)) {
            return true;
        }
        next = cause.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_a_store_stays_out_of_the_text() {
        let xml = "403 Forbidden: <?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code>\
                   <SignatureProvided>s3cret</SignatureProvided></Error>";
        assert_eq!(without_answer(xml), "403 Forbidden: SignatureDoesNotMatch");
        assert_eq!(without_answer("500: <html>s3cret"), "500");
        assert_eq!(without_answer("500: <Code>s3 cret</Code>"), "500");
        assert_eq!(without_answer("no answer"), "no answer");
    }

    #[test]
    fn a_full_disk_is_recognised_through_its_wrapping() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let wrapped = object_store::Error::Generic { store: "t", source: Box::new(full) };
        let error = BlobError::from(wrapped);
        assert!(error.is_full(), "{error}");
        let other = io::Error::from(io::ErrorKind::PermissionDenied);
        assert!(!BlobError::from(other).is_full());
    }
}
