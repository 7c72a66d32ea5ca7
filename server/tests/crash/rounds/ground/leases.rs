//! Leases on jobs, as the database has them.

use std::collections::BTreeSet;
use std::time::Duration;

use promptarium_server::limits::SUBMIT_LIMIT;
use tokio::time::{Instant, sleep, timeout};

use crate::PATIENCE;
use crate::cluster::Cluster;

const PAUSE: Duration = Duration::from_millis(50);

/// Some leases, by their fences, and when they were seen.
pub(crate) struct Leases {
    fences: BTreeSet<String>,
    seen: Instant,
}

impl Leases {
    /// Those that run, whoever has them.
    pub(crate) async fn now(cluster: &Cluster) -> Self {
        let seen = Instant::now();
        let rows = cluster.connect().await;
        let rows = rows.query("SELECT fence::text FROM job WHERE fence IS NOT NULL", &[]).await;
        Self { fences: rows.unwrap().iter().map(|row| row.get(0)).collect(), seen }
    }

    /// Waits until so many run at once; not for ever, as workers may be quicker.
    pub(crate) async fn wait_for(cluster: &Cluster, count: usize) {
        let begun = Instant::now();
        while Self::now(cluster).await.count() < count && begun.elapsed() < Duration::from_secs(5) {
            sleep(Duration::from_millis(5)).await;
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.fences.len()
    }

    /// Waits until each has been given back or taken over, and says how long that
    /// took since they were seen. A job whose worker has died is not left alone for
    /// longer than `limit`.
    pub(crate) async fn gone(&self, cluster: &Cluster, limit: Duration) -> Option<Duration> {
        if self.fences.is_empty() {
            return None;
        }
        loop {
            let left = Self::now(cluster).await;
            let after = left.seen - self.seen;
            if left.fences.is_disjoint(&self.fences) {
                return Some(after);
            }
            assert!(after < limit, "a job was not taken over within {limit:?}");
            sleep(PAUSE).await;
        }
    }

    /// Every job has ended; of those that were never handed over only some time
    /// after a `long` run.
    pub(crate) async fn none_are_open(cluster: &Cluster, long: bool) {
        let client = cluster.connect().await;
        let open = "SELECT count(*) FROM job WHERE state NOT IN ('completed', 'failed') \
                    AND ($1 OR state <> 'submitting')";
        let ended = async {
            while client.query_one(open, &[&long]).await.unwrap().get::<_, i64>(0) > 0 {
                sleep(PAUSE).await;
            }
        };
        let patience = if long { SUBMIT_LIMIT + PATIENCE } else { PATIENCE };
        timeout(patience, ended).await.expect("an end of every job");
    }
}
