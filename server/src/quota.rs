//! The only limiter of concurrent use: how much there is of something, in all and for one client.
//!
//! A permit is released when it is dropped. Who waits gets it in order: first among the client's
//! own requests, so that a client delays only its own, and then among all.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::domain::AccountId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    Account(AccountId),
    /// A network of IPv6 is one address: one host has all of its 64 bits.
    Address(IpAddr),
    /// The server itself, or clients that cannot be told apart.
    Server,
}

impl Client {
    fn over(self, what: &'static str) -> OverQuota {
        match self {
            Self::Account(_) => OverQuota::Account(what),
            Self::Address(_) => OverQuota::Address(what),
            Self::Server => OverQuota::Server(what),
        }
    }
}

impl From<AccountId> for Client {
    fn from(account: AccountId) -> Self {
        Self::Account(account)
    }
}

impl From<IpAddr> for Client {
    fn from(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => {
                Ipv6Addr::from(u128::from(address) & !u128::from(u64::MAX)).into()
            }
            address => address,
        })
    }
}

/// What is used up, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverQuota {
    #[error(
        "this account uses all of {0} that it may; try again when some of its requests have ended"
    )]
    Account(&'static str),
    #[error("this address uses all of {0} that it may; try again in a while")]
    Address(&'static str),
    #[error("all of {0} is in use; try again in a while")]
    Server(&'static str),
}

/// A bound of something. Clones share it.
#[derive(Clone, Debug)]
pub struct Quota(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: &'static str,
    what: &'static str,
    total: AtomicUsize,
    share: AtomicUsize,
    all: Arc<Semaphore>,
    /// What each client may still take.
    clients: Mutex<HashMap<Client, Arc<Semaphore>>>,
    /// Each request that waits has a clone.
    waiting: Arc<()>,
    refused: AtomicUsize,
}

/// A part of a quota, until it is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    of_client: OwnedSemaphorePermit,
    of_all: OwnedSemaphorePermit,
    quota: Quota,
    client: Client,
}

/// A quota as one client sees it.
#[derive(Clone, Copy, Debug)]
pub struct ClientQuota<'a> {
    quota: &'a Quota,
    client: Client,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) name: &'static str,
    pub(crate) total: usize,
    pub(crate) used: usize,
    pub(crate) waiting: usize,
    pub(crate) refused: usize,
}

impl Quota {
    /// `name` is for metrics, `what` for the text of a refusal. Each client gets at least one.
    pub(crate) fn new(name: &'static str, what: &'static str, total: usize, share: usize) -> Self {
        let (none, clients, waiting, refused) = Default::default();
        let (all, empty) = (Arc::new(Semaphore::new(0)), AtomicUsize::new(0));
        let inner = Inner { name, what, total: empty, share: none, all, clients, waiting, refused };
        let quota = Self(Arc::new(inner));
        quota.resize(total, share);
        quota
    }

    /// Makes it larger, before it is used.
    pub(crate) fn resize(&self, total: usize, share: usize) {
        let total = total.clamp(1, Semaphore::MAX_PERMITS);
        self.0.all.add_permits(total.saturating_sub(self.0.total.swap(total, Relaxed)));
        // Without a share of its own a client waits for the others.
        let share = if share < total { share.max(1) } else { Semaphore::MAX_PERMITS };
        self.0.share.store(share, Relaxed);
    }

    pub(crate) fn usage(&self) -> Usage {
        let Inner { name, total, all, waiting, refused, .. } = &*self.0;
        let total = total.load(Relaxed);
        let used = total.saturating_sub(all.available_permits());
        let waiting = Arc::strong_count(waiting) - 1;
        Usage { name, total, used, waiting, refused: refused.load(Relaxed) }
    }

    pub(crate) fn of(&self, client: impl Into<Client>) -> ClientQuota<'_> {
        ClientQuota { quota: self, client: client.into() }
    }

    /// Waits for a permit for this amount, or for as much as one client may have.
    pub(crate) async fn acquire(
        &self,
        client: impl Into<Client>,
        amount: usize,
        wait: Duration,
    ) -> Result<Permit, OverQuota> {
        self.acquire_within(client.into(), amount, wait, wait).await
    }

    /// The same with another wait for the client's own share.
    pub(crate) async fn acquire_within(
        &self,
        client: Client,
        amount: usize,
        wait_for_own: Duration,
        wait: Duration,
    ) -> Result<Permit, OverQuota> {
        let most = self.0.share.load(Relaxed).min(self.0.total.load(Relaxed));
        let count = count(amount.min(most));
        let _waiting = self.0.waiting.clone();
        let mut over = client.over(self.0.what);
        let permits = async {
            let own = self.share_of(client).acquire_many_owned(count);
            let of_client = timeout(wait_for_own, own).await.ok()?.ok()?;
            over = OverQuota::Server(self.0.what);
            Some((of_client, self.0.all.clone().acquire_many_owned(count).await.ok()?))
        };
        let permits = timeout(wait, permits).await.ok().flatten();
        let (of_client, of_all) = permits.ok_or_else(|| self.refused(over))?;
        Ok(Permit { of_client, of_all, quota: self.clone(), client })
    }

    fn share_of(&self, client: Client) -> Arc<Semaphore> {
        let clients = &mut *self.0.clients.lock();
        if clients.len() == clients.capacity() {
            // Permits, and requests that wait, have clones. Others use nothing.
            clients.retain(|_, share| Arc::strong_count(share) > 1);
            clients.reserve(clients.len() + 1);
        }
        let new = || Arc::new(Semaphore::new(self.0.share.load(Relaxed)));
        clients.entry(client).or_insert_with(new).clone()
    }

    fn refused(&self, over: OverQuota) -> OverQuota {
        self.0.refused.fetch_add(1, Relaxed);
        over
    }
}

/// More than a quota has, where it does not fit.
fn count(amount: usize) -> u32 {
    u32::try_from(amount).unwrap_or(u32::MAX)
}

impl ClientQuota<'_> {
    pub(crate) fn reserve(self, amount: usize) -> Result<Permit, OverQuota> {
        let Self { quota, client } = self;
        let take = |of: Arc<Semaphore>, over| {
            of.try_acquire_many_owned(count(amount)).map_err(|_| quota.refused(over))
        };
        let of_client = take(quota.share_of(client), client.over(quota.0.what))?;
        let of_all = take(quota.0.all.clone(), OverQuota::Server(quota.0.what))?;
        Ok(Permit { of_client, of_all, quota: quota.clone(), client })
    }
}

impl Permit {
    /// Takes more, so that it has this amount in all.
    pub(crate) fn grow_to(&mut self, amount: usize) -> Result<(), OverQuota> {
        let more = amount.saturating_sub(self.of_all.num_permits());
        let Self { of_client, of_all, .. } = self.quota.of(self.client).reserve(more)?;
        self.of_client.merge(of_client);
        self.of_all.merge(of_all);
        Ok(())
    }
}

/// These bytes, with a guard, such as a permit, that is dropped with their last clone.
pub(crate) fn guarded(bytes: impl AsRef<[u8]> + Send + 'static, by: impl Send + 'static) -> Bytes {
    struct Held<T, G>(T, G);
    impl<T: AsRef<[u8]>, G> AsRef<[u8]> for Held<T, G> {
        fn as_ref(&self) -> &[u8] {
            self.0.as_ref()
        }
    }
    Bytes::from_owner(Held(bytes, by))
}

#[cfg(test)]
mod tests;
