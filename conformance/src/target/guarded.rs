//! The HTTP client as the SDK gets it: it sends what the run's manners allow.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use promptarium::transport::{Failure, Incoming, Outgoing, Transport};

use super::Manners;

/// A client that refuses to send what a run must not send.
pub(crate) struct Guarded {
    pub(crate) http: reqwest::Client,
    pub(crate) manners: Manners,
}

impl Transport for Guarded {
    fn send(&self, request: Outgoing) -> BoxFuture<'static, Result<Incoming, Failure>> {
        match self.manners.allow(&request.method) {
            Ok(()) => Transport::send(&self.http, request),
            Err(refusal) => {
                let failure = Failure::connecting(refusal.got);
                std::future::ready(Err(failure)).boxed()
            }
        }
    }
}
