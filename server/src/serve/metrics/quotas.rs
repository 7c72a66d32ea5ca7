//! Metrics of all quotas in one family. Some have names of their own too, from before.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::{Labels, gauge_value};
use crate::quota::{Quota, Usage};

/// The quotas of a server. The metrics are set at each scrape.
pub(crate) struct Quotas {
    pub(crate) connections: Quota,
    /// For requests of accounts.
    pub(crate) memory: Quota,
    pub(crate) others: Vec<Quota>,
}

#[derive(Default)]
struct Families {
    /// What is used, how much there is, and how many requests wait.
    gauges: [Family<Labels, Gauge>; 3],
    refused: Family<Labels, Counter>,
    /// Connections, bytes in memory, and the most of these.
    named: [Gauge; 3],
    connections_refused: Counter,
}

pub(super) struct QuotaMetrics(Quotas, Families);

impl QuotaMetrics {
    pub(super) fn new(quotas: Quotas, registry: &mut Registry) -> Self {
        let families = Families::default();
        let [connections, memory, memory_limit] = families.named.clone();
        let http = registry.sub_registry_with_prefix("http");
        http.register("connections", "Open connections", connections);
        let text = "Connections closed because their address had too many";
        http.register("connections_refused", text, families.connections_refused.clone());
        let text = "Memory of the bodies of requests and responses";
        http.register_with_unit("body_memory", text, Unit::Bytes, memory);
        let text = "Most memory that bodies may have: --memory-budget";
        http.register_with_unit("body_memory_limit", text, Unit::Bytes, memory_limit);
        let registry = registry.sub_registry_with_prefix("quota");
        let [used, limit, waiting] = families.gauges.clone();
        registry.register("used", "What is used of a quota", used);
        registry.register("limit", "How much a quota has", limit);
        registry.register("waiting", "How many wait for a quota", waiting);
        let text = "How often a quota was used up, in all or by one client";
        registry.register("refused", text, families.refused.clone());
        Self(quotas, families)
    }

    pub(super) fn update(&self) {
        let Self(quotas, families) = self;
        let Quotas { connections, memory, others } = quotas;
        for quota in others.iter().chain([connections, memory]) {
            let Usage { name, total, used, waiting, refused } = quota.usage();
            let labels = vec![("quota", name.to_owned())];
            for (family, number) in families.gauges.iter().zip([used, total, waiting]) {
                family.get_or_create_owned(&labels).set(gauge_value(number));
            }
            set(&families.refused.get_or_create_owned(&labels), refused);
        }
        let (connections, memory) = (connections.usage(), memory.usage());
        let numbers = [connections.used, memory.used, memory.total];
        for (gauge, number) in families.named.iter().zip(numbers) {
            gauge.set(gauge_value(number));
        }
        set(&families.connections_refused, connections.refused);
    }
}

fn set(counter: &Counter, number: usize) {
    let more = (number as u64).saturating_sub(counter.get());
    counter.inc_by(more);
}
