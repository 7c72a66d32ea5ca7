//! Connections on which something may be running.

use std::ops::Deref;

use super::connect::DbClient;

/// A connection on which a statement may be running. Dropped meanwhile, as when a client hangs
/// up, it is abandoned: back in the pool, it would make its next user wait for the statement.
pub(super) struct Busy<C: Deref<Target = DbClient>> {
    pub(super) client: C,
    pub(super) running: bool,
}

impl<C: Deref<Target = DbClient>> Drop for Busy<C> {
    fn drop(&mut self) {
        if self.running {
            self.client.abandon();
        }
    }
}
