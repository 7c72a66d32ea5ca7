//! What was measured beside an attack, and its bounds.

use std::fmt;
use std::time::Duration;

use crate::support::TIMEOUT;

/// 99 of 100 requests take less. A debug build takes many times as long for what it parses,
/// digests and writes. Its bound is below the shortest time for which a server lets a request wait
/// for others (4 s, for a connection to the database), so that such waits are seen.
const P99_MAX: Duration = Duration::from_millis(if cfg!(debug_assertions) { 3_000 } else { 250 });
/// An upload waits for the disk, which other uploads keep busy.
const UPLOAD_MAX: Duration = Duration::from_secs(5);
/// A generation takes at most twice as long as without the attack, and this much more. In a debug
/// build one of its requests may take as long as [`P99_MAX`].
const JOB_DELAY_MAX: Duration =
    if cfg!(debug_assertions) { P99_MAX } else { Duration::from_secs(1) };

/// What a good client saw, and the most memory of the server.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) requests: Vec<Duration>,
    pub(crate) uploads: Vec<Duration>,
    pub(crate) jobs: Vec<Duration>,
    /// Generations before the attack.
    pub(crate) undisturbed: Vec<Duration>,
    pub(crate) errors: Vec<String>,
    pub(crate) peak_mib: usize,
}

impl Report {
    pub(crate) fn add(&mut self, round: Self) {
        self.requests.extend(round.requests);
        self.uploads.extend(round.uploads);
        self.jobs.extend(round.jobs);
        self.undisturbed.extend(round.undisturbed);
        self.errors.extend(round.errors);
        self.peak_mib = self.peak_mib.max(round.peak_mib);
    }

    pub(crate) fn check(&self, memory_max_mib: usize) {
        let mut faults = self.errors.clone();
        let job_max = 2 * quantile(&self.undisturbed, 50) + JOB_DELAY_MAX;
        for (what, value, max) in [
            ("p99", quantile(&self.requests, 99), P99_MAX),
            ("the slowest upload", quantile(&self.uploads, 100), UPLOAD_MAX),
            ("the slowest generation", quantile(&self.jobs, 100), job_max),
        ] {
            if value > max {
                faults.push(format!("{what}: {value:?}, at most {max:?}"));
            }
        }
        if self.peak_mib > memory_max_mib {
            faults.push(format!("{} MiB, at most {memory_max_mib}", self.peak_mib));
        }
        assert!(faults.is_empty(), "{faults:#?}");
    }
}

/// The cells of a table: requests, errors, p50, p99, slowest request, slowest
/// upload, peak memory, median generation before the attack, slowest beside it. Times are in
/// milliseconds.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} | {}", self.requests.len(), self.errors.len())?;
        let time = |times, percent| quantile(times, percent).as_secs_f64() * 1e3;
        for percent in [50, 99, 100] {
            write!(f, " | {:.1}", time(&self.requests, percent))?;
        }
        write!(f, " | {:.1} | {}", time(&self.uploads, 100), self.peak_mib)?;
        write!(f, " | {:.1} | {:.1}", time(&self.undisturbed, 50), time(&self.jobs, 100))
    }
}

/// So many percent take at most this time. Without any, no bound holds.
fn quantile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    let at = (times.len() * percent).div_ceil(100).checked_sub(1);
    at.map_or(TIMEOUT, |at| times[at])
}
