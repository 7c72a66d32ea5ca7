//! How far a run is, on one line that overwrites itself. Only on a terminal: in a log it would be
//! noise.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::report::Totals;
use crate::run::Active;

/// How often the line is written.
const PAUSE: Duration = Duration::from_millis(200);
/// A scenario that takes longer is named.
const SLOW: Duration = Duration::from_secs(3);
/// Characters of the bar.
const BAR: usize = 24;
/// Characters of the whole line, so that it fits most terminals.
const LINE: usize = 79;

/// The line, kept up to date until this is dropped.
pub(super) struct Progress {
    totals: watch::Sender<Totals>,
    drawing: Option<JoinHandle<()>>,
}

impl Progress {
    /// Shows nothing where standard error is no terminal.
    pub(super) fn new(all: usize, active: Active) -> Self {
        let (totals, shown) = watch::channel(Totals::default());
        let draw = async move {
            loop {
                tokio::time::sleep(PAUSE).await;
                let line = line(*shown.borrow(), all, active.oldest());
                let _ = write!(std::io::stderr().lock(), "\r\x1b[K{line}");
            }
        };
        Self { totals, drawing: std::io::stderr().is_terminal().then(|| tokio::spawn(draw)) }
    }

    pub(super) fn show(&self, totals: Totals) {
        self.totals.send_replace(totals);
    }
}

impl Drop for Progress {
    /// Removes the line, so that the report begins on a clean one.
    fn drop(&mut self) {
        if let Some(drawing) = &self.drawing {
            drawing.abort();
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

fn line(totals: Totals, all: usize, oldest: Option<(&str, Duration)>) -> String {
    let (done, bad) = (totals.scenarios, totals.failed + totals.errors + totals.blocked);
    let full = (done * BAR).checked_div(all).unwrap_or(BAR).min(BAR);
    let bar = "#".repeat(full) + &"-".repeat(BAR - full);
    let mut line = format!("[{bar}] {done}/{all}");
    for (count, word) in [(bad, "failed"), (totals.skipped, "skipped")] {
        if count > 0 {
            line.push_str(&format!(", {count} {word}"));
        }
    }
    if let Some((id, time)) = oldest.filter(|(_, time)| *time >= SLOW) {
        line.push_str(&format!("; {id} for {} s", time.as_secs()));
    }
    line.truncate(LINE);
    line
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::report::Totals;

    use super::line;

    #[test]
    fn it_counts_and_names_what_takes_long() {
        let totals =
            Totals { scenarios: 50, passed: 47, failed: 2, errors: 1, ..Totals::default() };
        let slow = Some(("generations.job.slow", Duration::from_millis(4900)));
        let quick = Some(("generations.job.slow", Duration::from_millis(2900)));
        let start = "[############------------] 50/100, 3 failed";
        assert_eq!(line(totals, 100, slow), format!("{start}; generations.job.slow for 4 s"));
        assert_eq!(line(totals, 100, quick), start);
        assert_eq!(line(Totals::default(), 100, None), "[------------------------] 0/100");
    }
}
