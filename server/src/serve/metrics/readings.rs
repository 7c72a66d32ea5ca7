//! Metrics that are read at each scrape: of generations, memory, quotas and the store.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder};
use prometheus_client::metrics::MetricType;

use crate::generate::submit::Submitter;
use crate::generate::worker::Worker;
use crate::quota::{Quota, Usage};
use crate::store::{Gauge, Store};

pub(crate) struct Readings {
    pub(crate) connections: Quota,
    /// For requests of accounts.
    pub(crate) memory: Quota,
    /// All others.
    pub(crate) quotas: Vec<Quota>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) worker: Worker,
    pub(crate) submitter: Submitter,
}

impl fmt::Debug for Readings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Readings")
    }
}

impl Collector for Readings {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (kind, Gauge { name, meaning, label, values }) in self.all() {
            let mut metric = encoder.encode_descriptor(name, &format!("{meaning}."), None, kind)?;
            for (value_of, value) in values {
                match label {
                    "" => encode(kind, &mut metric, value)?,
                    _ => encode(kind, &mut metric.encode_family(&[(label, value_of)])?, value)?,
                }
            }
        }
        Ok(())
    }
}

fn encode(kind: MetricType, metric: &mut MetricEncoder<'_>, value: usize) -> fmt::Result {
    match kind {
        MetricType::Counter => metric.encode_counter::<[(&str, &str); 0], _, u64>(&value, None),
        _ => metric.encode_gauge(&value),
    }
}

impl Readings {
    #[rustfmt::skip]
    fn all(&self) -> Vec<(MetricType, Gauge)> {
        let Self { connections, memory, quotas, store, worker, submitter } = self;
        let usages: Vec<_> = quotas.iter().chain([connections, memory]).map(Quota::usage).collect();
        let (connections, memory) = (connections.usage(), memory.usage());
        let files = worker.blobs.available.load(Relaxed).into();
        let (busy, large) = (worker.activity.busy.load(Relaxed), worker.large.usage());
        let labelled = |kind, name, meaning, label, values| (kind, Gauge { name, meaning, label, values });
        let one = |kind, name, meaning, value| labelled(kind, name, meaning, "", vec![("", value)]);
        let of_quotas = |kind, name, meaning, read: fn(&Usage) -> usize| {
            labelled(kind, name, meaning, "quota", usages.iter().map(|usage| (usage.name, read(usage))).collect())
        };
        use MetricType::{Counter, Gauge as Now};
        let mut all = vec![
            labelled(Now, "build_info", "The version that runs", "version", vec![(env!("CARGO_PKG_VERSION"), 1)]),
            one(Now, "http_connections", "Open connections", connections.used),
            one(Counter, "http_connections_refused", "Connections closed because their address had too many", connections.refused),
            one(Now, "http_body_memory_bytes", "Memory of the bodies of requests and responses", memory.used),
            one(Now, "http_body_memory_limit_bytes", "Most memory that bodies may have: --memory-budget", memory.total),
            one(Now, "generations_workers", "Generations processed at once: --workers", worker.settings.workers),
            one(Now, "generations_workers_busy", "Generations in progress", busy),
            one(Now, "generations_large_outputs", "Large outputs in progress", large.used),
            one(Now, "generations_large_outputs_waiting", "Large outputs that wait for their turn", large.waiting),
            one(Now, "files_available", "Whether the storage of files worked when /readyz asked last", files),
            one(Now, "generations_unrecorded", "Accepted generations that are not in the database yet", submitter.unrecorded()),
            of_quotas(Now, "quota_used", "What is used of a quota", |usage| usage.used),
            of_quotas(Now, "quota_limit", "How much a quota has", |usage| usage.total),
            of_quotas(Now, "quota_waiting", "How many wait for a quota", |usage| usage.waiting),
            of_quotas(Counter, "quota_refused", "How often a quota was used up, in all or by one client", |usage| usage.refused),
        ];
        all.extend(store.gauges().into_iter().map(|gauge| (Now, gauge)));
        all
    }
}
