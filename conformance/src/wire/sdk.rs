//! Calls of the SDK go the way of all calls: what a run must not send is not sent, a
//! target that is busy is asked again, what is made is written down, and a report can
//! show the exchange.

use futures::future::BoxFuture;
use promptarium::transport::{Failure as Unanswered, Incoming, Outgoing, Transport};

use super::Wire;

impl Transport for Wire {
    fn send(&self, request: Outgoing) -> BoxFuture<'static, Result<Incoming, Unanswered>> {
        let wire = self.clone();
        Box::pin(async move {
            let Outgoing { method, url, headers, body, .. } = request;
            let base_url = wire.case.target().base_url();
            let call = match url.as_str().strip_prefix(base_url) {
                Some(path) => wire.call(method, path),
                None => wire.call_given(method, url.as_str()),
            };
            let call = call.headers(headers);
            let body = body.collect().await?;
            let call = if body.is_empty() { call } else { call.untyped_body(body) };
            // The failure goes on as the cause, for whoever looks at the SDK's error.
            let reply = call.send().await.map_err(Unanswered::exchanging)?;
            let mut answer = Incoming::new(reply.status_code(), reply.body().clone());
            answer.headers = reply.headers().clone();
            Ok(answer)
        })
    }
}
