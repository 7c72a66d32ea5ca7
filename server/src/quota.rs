//! The only limiter of concurrent use: how much there is of something, in all and for one client.
//!
//! A permit is released when it is dropped. Requests that wait get their permits in order, one
//! client after the other, so a client with many requests delays only its own. What is limited in
//! a time and not at once has a rate instead, see [`crate::http::rates`].

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::domain::AccountId;

/// Who uses a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    Account(AccountId),
    /// A network of IPv6 is one address: one host has all of its 64 bits.
    Address(IpAddr),
    /// The server itself, or clients that cannot be told apart.
    Server,
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
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    total: usize,
    /// What one client may have.
    share: usize,
    used: usize,
    /// Clients that use something or wait.
    clients: HashMap<Client, Own>,
    /// Clients that wait, in the order of their turns.
    turns: VecDeque<Client>,
    /// Whether the first of them that may have more waits for the others. Nobody overtakes it.
    is_full: bool,
    waiting: usize,
    refused: usize,
}

#[derive(Debug, Default)]
struct Own {
    used: usize,
    queue: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    amount: usize,
    turn: oneshot::Sender<Permit>,
}

/// A part of a quota, until it is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    quota: Quota,
    client: Client,
    amount: usize,
}

/// A quota as one client sees it.
#[derive(Clone, Copy, Debug)]
pub struct Share<'a> {
    quota: &'a Quota,
    client: Client,
}

/// How a quota is used, for the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) name: &'static str,
    pub(crate) total: usize,
    pub(crate) used: usize,
    pub(crate) waiting: usize,
    pub(crate) refused: usize,
}

impl Quota {
    /// `name` is for the metrics, and `what` for the text of a refusal.
    pub(crate) fn new(name: &'static str, what: &'static str, total: usize, share: usize) -> Self {
        let quota = Self(Arc::new(Inner { name, what, state: Mutex::default() }));
        quota.resize(total, share);
        quota
    }

    /// At least one in all and for each client.
    pub(crate) fn resize(&self, total: usize, share: usize) {
        let mut state = self.0.state.lock();
        (state.total, state.share) = (total.max(1), share.clamp(1, total.max(1)));
    }

    /// Lets each client have everything.
    pub(crate) fn share_all(&self) {
        let mut state = self.0.state.lock();
        state.share = state.total;
    }

    pub(crate) fn usage(&self) -> Usage {
        let State { total, used, waiting, refused, .. } = *self.0.state.lock();
        Usage { name: self.0.name, total, used, waiting, refused }
    }

    pub(crate) fn of(&self, client: impl Into<Client>) -> Share<'_> {
        Share { quota: self, client: client.into() }
    }

    /// A permit at once.
    pub(crate) fn try_acquire(
        &self,
        client: impl Into<Client>,
        amount: usize,
    ) -> Result<Permit, OverQuota> {
        let client = client.into();
        self.take(client, amount)?;
        Ok(Permit { quota: self.clone(), client, amount })
    }

    /// Waits for a permit for this amount, or for as much as one client may have.
    pub(crate) async fn acquire(
        &self,
        client: impl Into<Client>,
        amount: usize,
        wait: Duration,
    ) -> Result<Permit, OverQuota> {
        self.acquire_unless(client.into(), amount, wait, |_| false).await
    }

    /// The same without a limit of time, but not for what is beyond the client's own share.
    pub(crate) async fn acquire_share(
        &self,
        client: impl Into<Client>,
        amount: usize,
    ) -> Result<Permit, OverQuota> {
        let beyond_share = |over: &_| !matches!(over, OverQuota::Server(_));
        self.acquire_unless(client.into(), amount, Duration::MAX, beyond_share).await
    }

    async fn acquire_unless(
        &self,
        client: Client,
        amount: usize,
        wait: Duration,
        is_refused: impl FnOnce(&OverQuota) -> bool,
    ) -> Result<Permit, OverQuota> {
        let (turn, over) = {
            let state = &mut *self.0.state.lock();
            let amount = amount.min(state.share);
            let Err(over) = state.take(client, amount, self.0.what) else {
                return Ok(Permit { quota: self.clone(), client, amount });
            };
            if is_refused(&over) {
                state.refused += 1;
                return Err(over);
            }
            let (sender, turn) = oneshot::channel();
            let own = state.clients.entry(client).or_default();
            own.queue.push_back(Waiter { amount, turn: sender });
            if own.queue.len() == 1 {
                state.turns.push_back(client);
            }
            state.waiting += 1;
            state.is_full |= matches!(over, OverQuota::Server(_));
            (turn, over)
        };
        // Dropped after `turn`, also if the request is.
        let _waiting = Waiting { quota: self, client };
        let permit = match wait {
            // Without a timer.
            Duration::MAX => turn.await.ok(),
            wait => timeout(wait, turn).await.ok().and_then(Result::ok),
        };
        permit.ok_or_else(|| {
            self.0.state.lock().refused += 1;
            over
        })
    }

    fn take(&self, client: Client, amount: usize) -> Result<(), OverQuota> {
        let state = &mut *self.0.state.lock();
        state.take(client, amount, self.0.what).inspect_err(|_| state.refused += 1)
    }

    /// Gives back what was used, and ends the wait of so many.
    fn give_back(&self, client: Client, amount: usize, waits: usize) {
        let late = {
            let state = &mut *self.0.state.lock();
            state.used -= amount;
            state.waiting -= waits;
            if let Some(own) = state.clients.get_mut(&client) {
                own.used -= amount;
                if own.used == 0 && own.queue.is_empty() {
                    state.clients.remove(&client);
                }
            }
            self.grant(state)
        };
        // Gives them back in turn, now that the lock is free.
        drop(late);
    }

    /// Gives permits to those that wait, as far as there are any. Returns those that came too late.
    fn grant(&self, state: &mut State) -> Vec<Permit> {
        let (mut late, mut at) = (Vec::new(), 0);
        state.is_full = false;
        while let Some(client) = state.turns.get(at).copied() {
            let Some(own) = state.clients.get_mut(&client) else { break };
            while own.queue.front().is_some_and(|waiter| waiter.turn.is_closed()) {
                own.queue.pop_front();
            }
            let amount = own.queue.front().map_or(0, |waiter| waiter.amount);
            if own.used + amount > state.share {
                at += 1;
                continue;
            }
            if state.used + amount > state.total {
                state.is_full = true;
                break;
            }
            state.turns.remove(at);
            if let Some(Waiter { turn, .. }) = own.queue.pop_front() {
                (own.used, state.used) = (own.used + amount, state.used + amount);
                late.extend(turn.send(Permit { quota: self.clone(), client, amount }).err());
            }
            if !own.queue.is_empty() {
                // After one of each other client.
                state.turns.push_back(client);
            } else if own.used == 0 {
                state.clients.remove(&client);
            }
        }
        late
    }
}

impl State {
    /// Takes from what there is, unless somebody waits for it.
    fn take(&mut self, client: Client, amount: usize, what: &'static str) -> Result<(), OverQuota> {
        if amount == 0 {
            return Ok(());
        }
        let own = self.clients.get(&client);
        let (used, waits) = own.map_or((0, false), |own| (own.used, !own.queue.is_empty()));
        if waits || used.saturating_add(amount) > self.share {
            return Err(match client {
                Client::Account(_) => OverQuota::Account(what),
                Client::Address(_) => OverQuota::Address(what),
                Client::Server => OverQuota::Server(what),
            });
        }
        if self.is_full || self.used + amount > self.total {
            return Err(OverQuota::Server(what));
        }
        self.used += amount;
        self.clients.entry(client).or_default().used += amount;
        Ok(())
    }
}

impl Share<'_> {
    pub(crate) fn reserve(&self, amount: usize) -> Result<Permit, OverQuota> {
        self.quota.try_acquire(self.client, amount)
    }
}

impl Permit {
    /// Takes more, so that it has this amount in all.
    pub(crate) fn grow_to(&mut self, amount: usize) -> Result<(), OverQuota> {
        let more = amount.saturating_sub(self.amount);
        self.quota.take(self.client, more)?;
        self.amount += more;
        Ok(())
    }

    /// These bytes, with the permit until their last clone is dropped.
    pub(crate) fn hold(self, bytes: impl AsRef<[u8]> + Send + 'static) -> Bytes {
        struct Held<T>(T, #[expect(dead_code, reason = "dropped with the bytes")] Permit);
        impl<T: AsRef<[u8]>> AsRef<[u8]> for Held<T> {
            fn as_ref(&self) -> &[u8] {
                self.0.as_ref()
            }
        }
        Bytes::from_owner(Held(bytes, self))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.amount > 0 {
            self.quota.give_back(self.client, self.amount, 0);
        }
    }
}

/// A request that waits.
struct Waiting<'a> {
    quota: &'a Quota,
    client: Client,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.quota.give_back(self.client, 0, 1);
    }
}

#[cfg(test)]
mod tests;
