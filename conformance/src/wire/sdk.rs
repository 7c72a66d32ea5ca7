//! Calls of the SDK go the way of all calls: what a run must not send is not sent, a
//! target that is busy is asked again, what is made is written down, and a report can
//! show the exchange.

use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use promptarium::transport::{Body, Failure as Unanswered, Transport};

use super::Wire;

impl Transport for Wire {
    fn send(
        &self,
        request: Request<Body>,
    ) -> BoxFuture<'static, Result<Response<Body>, Unanswered>> {
        let wire = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let (url, base_url) = (head.uri.to_string(), wire.target.base_url());
            let call = match url.strip_prefix(base_url) {
                Some(path) => wire.call(head.method, path),
                None => wire.call_given(head.method, &url),
            };
            let call = call.headers(head.headers);
            let body = body.collect().await?;
            let call = if body.is_empty() { call } else { call.untyped_body(body) };
            // The failure goes on as the cause, for whoever looks at the SDK's error.
            let reply = call.send().await.map_err(Unanswered::exchanging)?;
            let mut response = Response::new(Body::full(reply.body().clone()));
            *response.status_mut() =
                StatusCode::from_u16(reply.status_code()).map_err(Unanswered::exchanging)?;
            *response.headers_mut() = reply.headers().clone();
            Ok(response)
        })
    }
}
