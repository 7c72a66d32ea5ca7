//! Who waits for an answer: a task, which goes on meanwhile, or a thread, which does
//! not.
//!
//! Whatever can be asked is written once, for both. Only what does the waiting differs,
//! and the type says which it is.

use std::fmt;
use std::ops::Deref;

use super::Client;
use super::call::Call;
use super::options::CallOptions;

/// How calls are waited for: [`Async`], or with the feature `blocking` by the thread
/// that makes them. Implemented in this crate only.
pub trait Mode: sealed::Sealed + Clone + fmt::Debug + Send + Sync + 'static {}

pub(super) mod sealed {
    /// Keeps [`Mode`](super::Mode) to this crate.
    pub trait Sealed {}
}

/// Calls are awaited.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Async;

impl sealed::Sealed for Async {}

impl Mode for Async {}

/// A client and how its calls are waited for. It can be used as the client itself,
/// whose own calls are awaited.
#[derive(Clone)]
pub(super) struct Bound<M> {
    pub(super) client: Client,
    pub(super) mode: M,
}

impl<M: Mode> Bound<M> {
    pub(super) fn call<E>(&self, endpoint: E) -> Call<E, M> {
        Call { client: self.clone(), endpoint, options: CallOptions::default() }
    }
}

#[cfg(feature = "blocking")]
impl<M: Mode> Bound<M> {
    /// The same call, waited for in this way.
    pub(super) fn take<E>(&self, call: Call<E>) -> Call<E, M> {
        Call { client: self.clone(), endpoint: call.endpoint, options: call.options }
    }
}

#[cfg(feature = "blocking")]
impl<E, M> Call<E, M> {
    /// The same call to be awaited, and how it was to be waited for.
    pub(super) fn into_async(self) -> (Call<E>, M) {
        let Bound { client, mode } = self.client;
        let client = Bound { client, mode: Async };
        (Call { client, endpoint: self.endpoint, options: self.options }, mode)
    }
}

impl<M> Deref for Bound<M> {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl<M> fmt::Debug for Bound<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.client.fmt(f)
    }
}
