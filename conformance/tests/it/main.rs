//! What the suite promises about itself: honest verdicts, honest exit codes,
//! reports without secrets, and a list that covers every rule.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod action;
#[path = "../shared/balancer.rs"]
mod balancer;
mod blocked;
mod cli;
mod coverage;
mod crowded;
mod deployed;
mod docs;
mod guides;
mod half_built;
mod hostile;
mod isolation;
#[path = "../shared/keys.rs"]
mod keys;
mod known;
mod last;
mod last_failed;
mod layers;
mod own;
mod prelude;
mod program;
mod reach;
mod read_only;
mod report;
mod stub;
mod sweep;
mod terminal;
#[path = "../shared/tls.rs"]
mod tls;
mod transcripts;
mod understand;
mod verdicts;
