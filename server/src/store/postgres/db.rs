//! The connections of the database, and how they are divided.

use std::sync::Arc;
use std::time::Duration;

use deadpool::managed::{BuildError, Pool, QueueMode};
use jiff::Timestamp;
use tokio::sync::RwLock;
use tokio::time::Instant;

use super::connect::{Connector, DbClient, Unreachable};
use crate::clock::Clock;
use crate::limits::{
    DATABASE_CONNECTIONS_MIN, KEY_LOOKUPS_MAX, LIST_ROWS_PER_ACCOUNT, LONG_WRITE_TIMEOUT,
    LONG_WRITES_PER_ACCOUNT, POOL_WAIT, SHARED_CLIENTS_MAX, SHARED_CLIENTS_PART, STATEMENT_GRACE,
};
use crate::quota::{Client, Permit, Quota};
use crate::store::{Gauge, Result, StoreError, time_budget};

#[derive(Clone)]
pub(super) struct Db {
    /// Connections for one statement at a time.
    pub(super) pool: Pool<Connector>,
    shared: Arc<[Slot]>,
    pub(super) clock: Clock,
    /// For one statement: the server itself ends it after `statement_timeout`.
    pub(super) limit: Duration,
    pub(super) long_limit: Duration,
    // How those connections are divided. Long writes hold less than all, so that steps have some.
    /// Statements of callers, of milliseconds each unless they wait for a lock.
    pub(super) steps: Quota,
    pub(super) long_writes: Quota,
    /// Rows of lists. A list may have megabytes, for which all statements behind it wait.
    pub(super) list_rows: Quota,
    /// Searches for keys and sessions, which anybody can cause.
    pub(super) look_ups: Quota,
}

/// A connection that many statements share (pipelining). Answers come in order, so these statements
/// must be short and wait for no locks. Each holds a reference. Written while connecting, so that a
/// slot opens one at a time.
type Slot = Arc<RwLock<Option<Arc<DbClient>>>>;

impl Db {
    pub(super) fn new(connector: &Connector, clock: Clock) -> Result<Self, BuildError> {
        let connections = connector.url.connections.max(DATABASE_CONNECTIONS_MIN);
        let shared = (connections / SHARED_CLIENTS_PART).clamp(1, SHARED_CLIENTS_MAX);
        let own = connections - shared;
        // The last one that came back is used next, so that few are busy.
        let pool = Pool::builder(connector.clone()).max_size(own).queue_mode(QueueMode::Lifo);
        let limit = match connector.url.statement_timeout {
            Duration::ZERO => Duration::MAX,
            timeout => timeout.saturating_add(STATEMENT_GRACE),
        };
        let shared = std::iter::repeat_with(Slot::default).take(shared).collect();
        let (changes, long) = ("the connections for changes", "the changes of large vaults");
        let (rows, keys) = ("the database for lists", "the database for unknown keys");
        let (share, long_share) = (LIST_ROWS_PER_ACCOUNT, LONG_WRITES_PER_ACCOUNT);
        Ok(Self {
            pool: pool.build()?,
            shared,
            clock,
            limit,
            long_limit: LONG_WRITE_TIMEOUT,
            steps: Quota::new("database_steps", changes, own, own.div_ceil(2)),
            long_writes: Quota::new("database_long_writes", long, own.div_ceil(4), long_share),
            list_rows: Quota::new("database_list_rows", rows, 8 * share, share),
            look_ups: Quota::new("key_look_ups", keys, KEY_LOOKUPS_MAX, KEY_LOOKUPS_MAX),
        })
    }

    /// The time of a statement, a parameter: Citus refuses functions of the time in an UPDATE.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The shared client with the fewest statements; another one if it cannot be connected.
    pub(super) async fn shared_client(&self) -> Result<(Arc<DbClient>, Slot), Unreachable> {
        let usable = |slot: &Slot, client: &Option<Arc<DbClient>>| {
            let client = client.as_ref().filter(|client| client.is_usable())?;
            Some((client.clone(), slot.clone()))
        };
        let least = self.shared.iter().min_by_key(|slot| Arc::strong_count(slot));
        let slot = least.unwrap_or(&self.shared[0]).clone();
        if let Some(found) = usable(&slot, &*slot.read().await) {
            return Ok(found);
        }
        let mut client = slot.write().await;
        if let Some(found) = usable(&slot, &client) {
            return Ok(found);
        }
        match self.pool.manager().connect().await {
            Ok(new) => Ok((client.insert(Arc::new(new)).clone(), slot.clone())),
            Err(error) => {
                let other = |slot| usable(slot, &*slot.try_read().ok()?);
                self.shared.iter().find_map(other).ok_or(error)
            }
        }
    }

    pub(super) fn gauges(&self) -> Vec<Gauge> {
        let Self { pool, shared, steps, long_writes, list_rows, .. } = self;
        let status = pool.status();
        let busy = status.size.saturating_sub(status.available);
        let states = vec![("busy", busy), ("idle", status.available), ("max", status.max_size)];
        // Each slot is in the list, too.
        let pipelined = shared.iter().map(|slot| Arc::strong_count(slot).saturating_sub(1)).sum();
        let waiting = [("step", steps), ("long_write", long_writes), ("list", list_rows)];
        let waiting = waiting.map(|(name, quota)| (name, quota.usage().waiting)).into_iter();
        let waiting = [("connection", status.waiting)].into_iter().chain(waiting).collect();
        let gauge = |name, label, values, meaning| Gauge { name, meaning, label, values };
        let one = "Connections for one statement at a time: busy, idle, and the most there may be";
        let shared = "Statements that run or wait on shared connections";
        let share = "Statements and requests that wait for a connection or for their share of them";
        vec![
            gauge("database_connections", "state", states, one),
            gauge("database_pipelined_statements", "", vec![("", pipelined)], shared),
            gauge("database_waiting", "for", waiting, share),
        ]
    }
}

/// Waits for a part of a quota, within the time that the request has left.
pub(super) async fn permit(
    quota: &Quota,
    client: impl Into<Client>,
    amount: usize,
) -> Result<Permit> {
    let began = Instant::now();
    let permit = quota.acquire(client, amount, POOL_WAIT.min(time_budget::left())).await;
    time_budget::spend(began.elapsed());
    permit.map_err(StoreError::Busy)
}

#[cfg(test)]
mod tests;
