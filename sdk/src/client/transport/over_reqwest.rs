//! The transport everybody has: a [`reqwest::Client`].

use futures_core::future::BoxFuture;

use super::{Failure, Incoming, IncomingBody, Outgoing, Transport};

impl Transport for reqwest::Client {
    fn send(&self, request: Outgoing) -> BoxFuture<'static, Result<Incoming, Failure>> {
        let Outgoing { method, url, headers, body } = request;
        let mut request = reqwest::Request::new(method, url);
        *request.headers_mut() = headers;
        *request.body_mut() = body.for_reqwest();
        let sending = self.execute(request);
        Box::pin(async move {
            let mut response = sending.await.map_err(Failure::of_reqwest)?;
            let headers = std::mem::take(response.headers_mut());
            let status = response.status();
            // The body knows where it is from.
            let (redirected_to, body) = (None, IncomingBody::of_reqwest(response));
            Ok(Incoming { status, headers, redirected_to, body })
        })
    }
}

impl Failure {
    /// The address is left out: its query may authorise something.
    pub(super) fn of_reqwest(error: reqwest::Error) -> Self {
        let (connecting, timed_out) = (error.is_connect(), error.is_timeout());
        let source = error.without_url();
        let failure = if connecting { Self::connecting(source) } else { Self::exchanging(source) };
        if timed_out { failure.by_timeout() } else { failure }
    }
}
