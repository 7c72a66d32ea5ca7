//! How many connections a listener has, in all and of each address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use tokio::time::Instant;

use crate::http::attempts::address_group;
use crate::limits::DRAIN_QUIET;

/// The connections of one listener. Copies count the same ones.
#[derive(Clone, Debug, Default)]
pub struct ConnectionCount {
    /// Connections that are open, and those that were refused, for the metrics.
    pub(crate) open: Gauge,
    pub(crate) refused: Counter,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Counted only where there is a limit.
    by_address: HashMap<IpAddr, usize>,
    last: Option<Instant>,
}

/// A connection, counted while this lives.
pub(super) struct Counted {
    count: ConnectionCount,
    address: Option<IpAddr>,
}

impl ConnectionCount {
    /// Counts a connection; `None` if its address has as many as it may have. Zero is no limit.
    pub(super) fn begin(&self, address: Option<IpAddr>, limit: usize) -> Option<Counted> {
        let address = address.map(address_group).filter(|_| limit > 0);
        let mut state = self.state.lock();
        state.last = Some(Instant::now());
        if let Some(address) = address {
            let number = state.by_address.entry(address).or_default();
            if *number >= limit {
                self.refused.inc();
                return None;
            }
            *number += 1;
        }
        self.open.inc();
        Some(Counted { count: self.clone(), address })
    }

    /// Whether nobody is connected, and nobody has been for a while.
    pub(super) fn is_quiet(&self) -> bool {
        let last = self.state.lock().last;
        self.open.get() == 0 && last.is_none_or(|last| last.elapsed() > DRAIN_QUIET)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.count.open.dec();
        if let Some(address) = self.address {
            let mut state = self.count.state.lock();
            let left = state.by_address.get_mut(&address).map(|number| {
                *number -= 1;
                *number
            });
            if left == Some(0) {
                state.by_address.remove(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;

    fn address(number: u32) -> Option<IpAddr> {
        Some(Ipv4Addr::from(number).into())
    }

    #[test]
    fn an_address_has_as_many_connections_as_it_may_have() {
        let count = ConnectionCount::default();
        let held: Vec<_> = (0..2).map(|_| count.begin(address(1), 2).unwrap()).collect();
        assert!(count.begin(address(1), 2).is_none());
        let other = count.begin(address(2), 2);
        assert_eq!((count.open.get(), count.refused.get()), (3, 1));
        drop(held);
        assert!(count.begin(address(1), 2).is_some());
        drop(other);
        assert_eq!(count.open.get(), 0);
        assert!(count.state.lock().by_address.is_empty());
    }

    #[test]
    fn without_a_limit_all_connections_may_have_one_address() {
        let count = ConnectionCount::default();
        let held: Vec<_> = (0..50).map(|_| count.begin(address(1), 0).unwrap()).collect();
        assert_eq!(count.open.get(), 50);
        drop(held);
    }

    #[tokio::test(start_paused = true)]
    async fn a_listener_is_quiet_a_while_after_its_last_connection() {
        let count = ConnectionCount::default();
        assert!(count.is_quiet());
        let held = count.begin(address(1), 0);
        tokio::time::advance(2 * DRAIN_QUIET).await;
        assert!(!count.is_quiet());
        drop(held);
        assert!(count.is_quiet());
        drop(count.begin(address(1), 0));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(!count.is_quiet());
    }
}
