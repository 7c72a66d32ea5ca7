//! The commands that run scenarios again. Keys come from the environment.

use std::fmt::Write as _;

use super::{Record, Report};
use crate::Profile;
use crate::shell::quoted;

/// The whole run, in the same order.
pub(super) fn whole(report: &Report) -> String {
    let filters: Vec<_> = report.filters.iter().map(String::as_str).collect();
    let mut line = command(report, &report.profiles, &filters);
    if let Some(file) = report.known.file() {
        let _ = write!(line, " --known-failures {}", quoted(file));
    }
    line
}

/// One scenario alone.
pub(super) fn alone(report: &Report, record: &Record) -> String {
    command(report, &[record.profile], &[record.id])
}

fn command(report: &Report, profiles: &[Profile], filters: &[&str]) -> String {
    let mut line = format!("promptarium-conformance run --base-url {}", quoted(&report.target));
    for profile in profiles {
        let _ = write!(line, " --profile {}", profile.word());
    }
    for filter in filters {
        let _ = write!(line, " --filter {filter}");
    }
    let _ = write!(line, " --seed {}", report.seed);
    for flag in &report.flags {
        let _ = write!(line, " {flag}");
    }
    line
}
