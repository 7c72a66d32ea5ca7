//! Metrics that are read at each scrape: of generations, memory, the database and the process.

use std::fmt::{self, Debug, Formatter};
use std::fs::{read_dir, read_to_string};
use std::sync::atomic::Ordering::Relaxed;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType::{self, Counter, Gauge};
use prometheus_client::metrics::exemplar::Exemplar;

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
type Reading = (&'static str, MetricType, &'static str, &'static str, Vec<(&'static str, f64)>);

impl Collector for Readings {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let service = self.all().into_iter().map(|reading| ("promptarium_", reading));
        for (prefix, reading) in service.chain(process().into_iter().map(|reading| ("", reading))) {
            let (name, kind, text, label, values) = reading;
            let name = format!("{prefix}{name}");
            let mut family = encoder.encode_descriptor(&name, text, None, kind)?;
            for (label_value, value) in values {
                match label {
                    "" => write(&mut family, kind, value)?,
                    _ => write(&mut family.encode_family(&[(label, label_value)])?, kind, value)?,
                }
            }
        }
        Ok(())
    }
}

impl Debug for Readings {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("Readings")
    }
}

fn write(metric: &mut MetricEncoder<'_>, kind: MetricType, value: f64) -> fmt::Result {
    match kind {
        Counter => metric.encode_counter(&value, None::<&Exemplar<NoLabelSet, f64>>),
        _ => metric.encode_gauge(&value),
    }
}

const fn float(value: usize) -> f64 {
    value as f64
}

impl Readings {
    #[rustfmt::skip]
    fn all(&self) -> Vec<Reading> {
        let Self { connections, memory, quotas, database, worker, submitter } = self;
        let usages: Vec<_> = quotas.iter().chain([connections, memory]).map(Quota::usage).collect();
        let (connections, memory) = (connections.usage(), memory.usage());
        let (busy, large) = (worker.activity.busy.load(Relaxed), worker.outputs.limits.large.usage());
        let gauge = |name, text, value| (name, Gauge, text, "", vec![("", float(value))]);
        let mut all = vec![
            ("build_info", Gauge, "The version that runs", "version", vec![(env!("CARGO_PKG_VERSION"), 1.0)]),
            gauge("http_connections", "Open connections", connections.used),
            ("http_connections_refused", Counter, "Connections closed because their address had too many", "", vec![("", float(connections.refused))]),
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
            of_quotas("quota_used", Gauge, "What is used of a quota", |usage| usage.used),
            of_quotas("quota_limit", Gauge, "How much a quota has", |usage| usage.total),
            of_quotas("quota_waiting", Gauge, "How many wait for a quota", |usage| usage.waiting),
            of_quotas("quota_refused", Counter, "How often a quota was used up, in all or by one client", |usage| usage.refused),
        ]);
        if let Some(PoolUse { busy, idle, max, pipelined, waiting }) = database.as_ref().map(PostgresStore::pool_use) {
            let text = "Connections for one statement at a time: busy, idle, and the most there may be";
            let states = vec![("busy", float(busy)), ("idle", float(idle)), ("max", float(max))];
            all.push(("database_connections", Gauge, text, "state", states));
            all.push(gauge("database_pipelined_statements", "Statements that run or wait on shared connections", pipelined));
            let text = "Statements and requests that wait for a connection or for their share of them";
            let waiting = waiting.map(|(what, number)| (what, float(number))).to_vec();
            all.push(("database_waiting", Gauge, text, "for", waiting));
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
        ("process_cpu_seconds", Counter, "Processor time of the process", cpu),
        ("process_resident_memory_bytes", Gauge, "Resident memory of the process", memory),
        ("process_open_fds", Gauge, "Open file descriptors of the process", files),
        ("process_start_time_seconds", Gauge, "Start of the process in Unix time", started),
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
