//! What the suite promises about itself: honest verdicts, honest exit codes,
//! reports without secrets, and a list that covers every rule.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod cli;
mod coverage;
mod hostile;
mod isolation;
mod listing;
mod report;
mod stub;
