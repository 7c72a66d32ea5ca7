//! An error with its causes, as one line for the log.

use std::error::Error;

/// The error and all its causes on one line. A cause that the text quotes already is left out.
pub(crate) fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let message = cause.to_string().replace('\n', "; ");
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::error_chain;

    #[test]
    fn all_causes_are_on_one_line() {
        #[derive(Debug, thiserror::Error)]
        #[error("above")]
        struct Above(#[source] std::io::Error);

        let error = Above(std::io::Error::other("below\nand further down"));
        assert_eq!(error_chain(&error), "above: below; and further down");
    }
}
