//! The database goes away under load: it is restarted, or killed and its synchronous standby
//! promoted. How soon the servers work at full speed again is measured.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{Crash, Deployment, run};
use crate::cluster::Cluster;

/// Each speed is measured for this time.
const WINDOW: Duration = Duration::from_millis(500);
/// The part of the speed before that counts as full.
const FULL: f64 = 0.8;
/// From the promotion to full speed.
const FAILOVER_MAX: Duration = Duration::from_secs(15);
/// From the return of a restarted database to full speed.
const RESTART_MAX: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "script/nightly failover runs it"]
async fn acknowledged_writes_survive_failovers_to_a_synchronous_standby() {
    run(&[Crash::Failover]).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "script/nightly restarts runs it"]
async fn acknowledged_writes_survive_restarts_of_the_database() {
    run(&[Crash::Restart("fast"), Crash::Restart("immediate")]).await;
}

/// The address that servers are given: both hosts, the primary first.
pub(super) fn url(primary: &Cluster, standby: Option<&Cluster>) -> String {
    let Some(standby) = standby else { return primary.url.clone() };
    let (start, _) = primary.url.rsplit_once('/').unwrap();
    let (_, end) = standby.url.split_once('@').unwrap();
    format!("{start},{end}")
}

impl Deployment {
    pub(super) async fn fail_over(&mut self) {
        let before = self.speed(4 * WINDOW).await;
        self.cluster.kill().await;
        let killed = Instant::now();
        // As long as what watches a primary may take to notice.
        self.pause().await;
        let standby = self.standby.as_mut().expect("a standby");
        standby.promote().await;
        std::mem::swap(&mut self.cluster, standby);
        println!("promoted {:.1?} after the kill", killed.elapsed());
        self.wait_for_full_speed(before, FAILOVER_MAX).await;
    }

    /// In the mode `immediate` the database recovers from its log, as after a crash.
    pub(super) async fn restart(&mut self, mode: &str) {
        let before = self.speed(4 * WINDOW).await;
        self.interrupt(mode).await;
        self.wait_for_full_speed(before, RESTART_MAX).await;
    }

    pub(super) async fn interrupt(&mut self, mode: &str) {
        self.cluster.stop(mode).await;
        self.pause().await;
        self.cluster.start_again().await;
    }

    /// Waits for [`FULL`] of the speed before, from now on.
    async fn wait_for_full_speed(&self, before: f64, limit: Duration) {
        let (start, mut first) = (Instant::now(), None);
        loop {
            let after = self.speed(WINDOW).await;
            let elapsed = start.elapsed();
            if after > 0.0 {
                first.get_or_insert(elapsed);
            }
            let speeds = format!("{before:.0} writes per second before, {after:.0} after");
            // The window in which it was reached began earlier.
            assert!(elapsed <= limit + WINDOW, "no full speed within {limit:?}: {speeds}");
            if after >= FULL * before {
                let first = first.unwrap_or(elapsed);
                println!("first write within {first:.1?}, full speed in {elapsed:.1?}; {speeds}");
                return;
            }
        }
    }

    /// Acknowledged writes per second.
    async fn speed(&self, time: Duration) -> f64 {
        let acknowledged = || self.counts.lock().unwrap().get("acknowledged").copied();
        let before = acknowledged().unwrap_or_default();
        sleep(time).await;
        let done = u32::try_from(acknowledged().unwrap_or_default() - before).unwrap();
        f64::from(done) / time.as_secs_f64()
    }
}
