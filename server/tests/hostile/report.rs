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

/// What a good client saw.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) requests: Vec<Duration>,
    pub(crate) uploads: Vec<Duration>,
    pub(crate) jobs: Vec<Duration>,
    pub(crate) errors: Vec<String>,
}

/// One attack on one server.
pub(crate) struct Round {
    pub(crate) peak_mib: usize,
    /// Times of generations before the attack.
    pub(crate) undisturbed: Vec<Duration>,
    pub(crate) beside: Seen,
}

/// All rounds of an attack.
pub(crate) struct Report(pub(crate) Vec<Round>);

impl Round {
    /// What is wrong.
    fn faults(&self, memory_max_mib: usize) -> Vec<String> {
        let Self { peak_mib, undisturbed, beside } = self;
        let mut faults = beside.errors.clone();
        let mut check = |what: &str, value: Duration, max: Duration| {
            if value > max {
                faults.push(format!("{what}: {value:?}, at most {max:?}"));
            }
        };
        check("the slowest upload", slowest(&beside.uploads), UPLOAD_MAX);
        let job_max = 2 * quantile(undisturbed, 50) + JOB_DELAY_MAX;
        check("the slowest generation", slowest(&beside.jobs), job_max);
        if *peak_mib > memory_max_mib {
            faults.push(format!("{peak_mib} MiB, at most {memory_max_mib}"));
        }
        faults
    }
}

impl Report {
    pub(crate) fn check(&self, memory_max_mib: usize) {
        let faults = self.0.iter().flat_map(|round| round.faults(memory_max_mib));
        let mut faults: Vec<_> = faults.collect();
        // Of all rounds: within one some attacks see fewer than 100 requests.
        let p99 = quantile(&self.all(|round| &round.beside.requests), 99);
        if p99 > P99_MAX {
            faults.push(format!("p99: {p99:?}, at most {P99_MAX:?}"));
        }
        assert!(faults.is_empty(), "{faults:#?}");
    }

    fn all(&self, times: impl Fn(&Round) -> &Vec<Duration>) -> Vec<Duration> {
        self.0.iter().flat_map(times).copied().collect()
    }
}

/// The cells of a table: requests, errors, p50, p99, slowest request, slowest
/// upload, peak memory, median generation before the attack, slowest beside it. Times are in
/// milliseconds.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requests = self.all(|round| &round.beside.requests);
        let errors: usize = self.0.iter().map(|round| round.beside.errors.len()).sum();
        let upload = slowest(&self.all(|round| &round.beside.uploads));
        let peak = self.0.iter().map(|round| round.peak_mib).max();
        let before = quantile(&self.all(|round| &round.undisturbed), 50);
        let job = slowest(&self.all(|round| &round.beside.jobs));
        let times = [quantile(&requests, 50), quantile(&requests, 99), slowest(&requests), upload];
        let [p50, p99, slowest, upload] = times.map(milliseconds);
        let (before, job) = (milliseconds(before), milliseconds(job));
        let (count, peak) = (requests.len(), peak.unwrap_or_default());
        write!(
            f,
            "{count} | {errors} | {p50:.1} | {p99:.1} | {slowest:.1} | {upload:.1} | {peak}"
        )?;
        write!(f, " | {before:.1} | {job:.1}")
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// So many percent take at most this time. Without any, no bound holds.
fn quantile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    let at = (times.len() * percent).div_ceil(100).checked_sub(1);
    at.map_or(TIMEOUT, |at| times[at])
}

fn slowest(times: &[Duration]) -> Duration {
    quantile(times, 100)
}
