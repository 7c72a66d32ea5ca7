//! How far a run is, on one line that writes over itself. Only on a terminal:
//! in a log it would be noise.

use std::io::{IsTerminal as _, Write as _};

use promptarium_conformance::Report;

pub(super) struct Progress {
    shown: bool,
    all: usize,
}

impl Progress {
    pub(super) fn new(all: usize) -> Self {
        Self { shown: std::io::stderr().is_terminal(), all }
    }

    pub(super) fn show(&self, report: &Report) {
        if !self.shown {
            return;
        }
        let (totals, all) = (report.totals, self.all);
        let (done, bad) = (totals.scenarios, totals.failed + totals.errors);
        let _ = write!(std::io::stderr().lock(), "\r\x1b[K{done} of {all}, {bad} failed");
    }

    /// Takes the line away, so that the report begins on a clean one.
    pub(super) fn clear(&self) {
        if self.shown {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}
