//! A fail-over: the primary is killed under load, and its synchronous standby promoted.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{Crash, Deployment, run};
use crate::cluster::Cluster;

/// Each speed is measured for this time.
const WINDOW: Duration = Duration::from_millis(500);
/// The part of the speed before that counts as full.
const FULL: f64 = 0.8;
/// From the promotion to full speed.
const FULL_SPEED_MAX: Duration = Duration::from_secs(15);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "script/nightly failover runs it"]
async fn acknowledged_writes_survive_failovers_to_a_synchronous_standby() {
    run(&[Crash::Failover]).await;
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
        let promoted = Instant::now();
        let acknowledged = || self.acknowledged.load(Ordering::Relaxed);
        let (count, mut first) = (acknowledged(), None);
        loop {
            let after = self.speed(WINDOW).await;
            if acknowledged() > count {
                first.get_or_insert(promoted.elapsed());
            }
            if after >= FULL * before {
                println!(
                    "promoted {:.1?} after the kill, first write within {:.1?} and full speed \
                     within {:.1?} after the promotion; {before:.0} writes per second before, \
                     {after:.0} after",
                    promoted - killed,
                    first.expect("a write"),
                    promoted.elapsed()
                );
                return;
            }
            assert!(
                promoted.elapsed() < FULL_SPEED_MAX,
                "{before:.0} writes per second before the fail-over, {after:.0} after"
            );
        }
    }

    /// Acknowledged writes per second.
    async fn speed(&self, time: Duration) -> f64 {
        let count = || self.acknowledged.load(Ordering::Relaxed);
        let before = count();
        sleep(time).await;
        let done = u32::try_from(count() - before).unwrap();
        f64::from(done) / time.as_secs_f64()
    }
}
