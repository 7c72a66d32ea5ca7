//! Prints an error with its causes on one line.

use std::error::Error;

/// The text of an error and of those causes that it does not quote.
pub(crate) fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string().replace('\n', "; ");
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_follow_on_one_line() {
        #[derive(Debug, thiserror::Error)]
        #[error("above")]
        struct Above(#[source] std::io::Error);

        let error = Above(std::io::Error::other("below\nand further down"));
        assert_eq!(error_chain(&error), "above: below; and further down");
    }
}
