//! Shared clients: a few connections over which many short statements are sent without waiting
//! for one another (pipelining). That costs fewer wake-ups on both sides than a connection for
//! each statement.
//!
//! A connection answers in the order of its statements, so only short statements that wait for
//! no locks may be sent here; `statement_timeout` is the limit. A caller that is dropped does
//! not cancel its statement.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::sync::Mutex;

use super::client::DbClient;
use super::connect::{Connector, Unreachable};

/// Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct SharedClients {
    connector: Connector,
    slots: Arc<[Slot]>,
}

#[derive(Debug, Default)]
struct Slot {
    /// Statements that are under way or wait for the connection.
    in_flight: AtomicUsize,
    /// Locked while connecting, so that a slot opens one connection at a time.
    client: Mutex<Option<Arc<DbClient>>>,
}

/// One use of a shared client.
pub(super) struct SharedClient<'a> {
    client: Arc<DbClient>,
    _use: InFlight<'a>,
}

struct InFlight<'a>(&'a AtomicUsize);

impl SharedClients {
    pub(super) fn new(connector: Connector, size: usize) -> Self {
        Self { connector, slots: std::iter::repeat_with(Slot::default).take(size).collect() }
    }

    /// The client with the fewest statements, connected if it is not.
    ///
    /// # Errors
    /// If no host accepts a connection and no other client has one.
    pub(super) async fn get(&self) -> Result<SharedClient<'_>, Unreachable> {
        let mut slots: Vec<_> = self.slots.iter().collect();
        slots.sort_by_key(|slot| slot.in_flight.load(Ordering::Relaxed));
        let in_flight = InFlight::new(&slots[0].in_flight);
        let mut current = slots[0].client.lock().await;
        if let Some(client) = current.as_ref().filter(|client| client.is_usable()) {
            return Ok(SharedClient { client: client.clone(), _use: in_flight });
        }
        match self.connector.connect().await {
            Ok(client) => {
                let client = current.insert(Arc::new(client)).clone();
                Ok(SharedClient { client, _use: in_flight })
            }
            Err(error) => {
                drop(current);
                let others = slots[1..].iter().find_map(|slot| slot.connected());
                others.ok_or(error)
            }
        }
    }

    /// Forgets connections that were opened before `moment`: what broke one broke all.
    pub(super) fn discard_opened_before(&self, moment: Instant) {
        for slot in &*self.slots {
            // A slot that is locked is connecting.
            if let Ok(mut client) = slot.client.try_lock() {
                client.take_if(|client| client.created < moment);
            }
        }
    }
}

impl Slot {
    fn connected(&self) -> Option<SharedClient<'_>> {
        let client = self.client.try_lock().ok()?.clone().filter(|client| client.is_usable())?;
        Some(SharedClient { client, _use: InFlight::new(&self.in_flight) })
    }
}

impl<'a> InFlight<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Deref for SharedClient<'_> {
    type Target = DbClient;

    fn deref(&self) -> &DbClient {
        &self.client
    }
}
