//! Metrics that are read at each scrape: of generations, memory, the database and the process.

use std::fmt::Write as _;
use std::fs::{read_dir, read_to_string};
use std::sync::atomic::Ordering::Relaxed;

use crate::generate::submit::Submitter;
use crate::generate::worker::Worker;
use crate::quota::{Quota, Usage};
use crate::store::postgres::{PoolUse, PostgresStore};

pub(crate) struct Readings {
    pub(crate) connections: Quota,
    /// For requests of accounts.
    pub(crate) memory: Quota,
    /// All others.
    pub(crate) quotas: Vec<Quota>,
    pub(crate) database: Option<PostgresStore>,
    pub(crate) worker: Worker,
    pub(crate) submitter: Submitter,
}

/// Name, type, meaning, the name of the label, and each value with its label. Without a label
/// there is one value.
type Reading = (&'static str, &'static str, &'static str, &'static str, Vec<(&'static str, f64)>);

const COUNTER: &str = "counter";
const GAUGE: &str = "gauge";

const fn float(value: usize) -> f64 {
    value as f64
}

impl Readings {
    /// Appends all of them as Prometheus text.
    pub(super) fn write(&self, page: &mut String) {
        let service = self.all().into_iter().map(|reading| ("promptarium_", reading));
        for (prefix, reading) in service.chain(process().into_iter().map(|reading| ("", reading))) {
            let (name, kind, text, label, values) = reading;
            let name = format!("{prefix}{name}");
            // Writing to a string does not fail.
            let _ = writeln!(page, "# HELP {name} {text}.\n# TYPE {name} {kind}");
            for (value_of, value) in values {
                let _ = match label {
                    "" => writeln!(page, "{name} {value:?}"),
                    _ => writeln!(page, "{name}{{{label}=\"{value_of}\"}} {value:?}"),
                };
            }
        }
    }

    #[rustfmt::skip]
    fn all(&self) -> Vec<Reading> {
        let Self { connections, memory, quotas, database, worker, submitter } = self;
        let usages: Vec<_> = quotas.iter().chain([connections, memory]).map(Quota::usage).collect();
        let (connections, memory) = (connections.usage(), memory.usage());
        let (busy, large) = (worker.activity.busy.load(Relaxed), worker.large.usage());
        let gauge = |name, text, value| (name, GAUGE, text, "", vec![("", float(value))]);
        let mut all = vec![
            ("build_info", GAUGE, "The version that runs", "version", vec![(env!("CARGO_PKG_VERSION"), 1.0)]),
            gauge("http_connections", "Open connections", connections.used),
            ("http_connections_refused_total", COUNTER, "Connections closed because their address had too many", "", vec![("", float(connections.refused))]),
            gauge("http_body_memory_bytes", "Memory of the bodies of requests and responses", memory.used),
            gauge("http_body_memory_limit_bytes", "Most memory that bodies may have: --memory-budget", memory.total),
            gauge("generations_workers", "Generations processed at once: --workers", worker.settings.workers),
            gauge("generations_workers_busy", "Generations in progress", busy),
            gauge("generations_large_outputs", "Large outputs in progress", large.used),
            gauge("generations_large_outputs_waiting", "Large outputs that wait for their turn", large.waiting),
            gauge("generations_unrecorded", "Accepted generations that are not in the database yet", submitter.unrecorded()),
        ];
        let of_quotas = |name, kind, text, read: fn(&Usage) -> usize| {
            let values = usages.iter().map(|usage| (usage.name, float(read(usage)))).collect();
            (name, kind, text, "quota", values)
        };
        all.extend([
            of_quotas("quota_used", GAUGE, "What is used of a quota", |usage| usage.used),
            of_quotas("quota_limit", GAUGE, "How much a quota has", |usage| usage.total),
            of_quotas("quota_waiting", GAUGE, "How many wait for a quota", |usage| usage.waiting),
            of_quotas("quota_refused_total", COUNTER, "How often a quota was used up, in all or by one client", |usage| usage.refused),
        ]);
        if let Some(PoolUse { busy, idle, max, pipelined, waiting }) = database.as_ref().map(PostgresStore::pool_use) {
            let text = "Connections for one statement at a time: busy, idle, and the most there may be";
            let states = vec![("busy", float(busy)), ("idle", float(idle)), ("max", float(max))];
            all.push(("database_connections", GAUGE, text, "state", states));
            all.push(gauge("database_pipelined_statements", "Statements that run or wait on shared connections", pipelined));
            let text = "Statements and requests that wait for a connection or for their share of them";
            let waiting = waiting.map(|(what, number)| (what, float(number))).to_vec();
            all.push(("database_waiting", GAUGE, text, "for", waiting));
        }
        all
    }
}

/// The process itself, from `/proc` of Linux; elsewhere nothing. The names are those of
/// Prometheus' own clients.
fn process() -> Vec<Reading> {
    // The unit of times, `USER_HZ`, is the same on all processors.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = read_to_string("/proc/self/stat").unwrap_or_default();
    // From the third field on: the second one, the name of the program, may have spaces.
    let stat: Vec<_> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let seconds = |field: usize| Some(stat.get(field - 3)?.parse::<f64>().ok()? / TICKS_PER_SECOND);
    let cpu = seconds(14).zip(seconds(15)).map(|(user, system)| user + system);
    let started = seconds(22).zip(number("/proc/stat", "btime")).map(|(after, boot)| boot + after);
    let memory = number("/proc/self/status", "VmRSS:").map(|kib| 1024.0 * kib);
    let files = read_dir("/proc/self/fd").ok().map(|entries| float(entries.count()));
    let all = [
        ("process_cpu_seconds_total", COUNTER, "Processor time of the process", cpu),
        ("process_resident_memory_bytes", GAUGE, "Resident memory of the process", memory),
        ("process_open_fds", GAUGE, "Open file descriptors of the process", files),
        ("process_start_time_seconds", GAUGE, "Start of the process in Unix time", started),
    ];
    let known = |(name, kind, text, value)| Some((name, kind, text, "", vec![("", value?)]));
    all.into_iter().filter_map(known).collect()
}

/// The first number after the name of this field.
fn number(path: &str, field: &str) -> Option<f64> {
    let text = read_to_string(path).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(field))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}
