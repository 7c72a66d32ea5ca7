//! One request for an asset, without the API key, and its redirects.

use http::{HeaderMap, Method, Response};
use url::Url;

use crate::call::Context;
use crate::error::Error;
use crate::send::incoming::{Incoming, MaxSize, check_asset};
use crate::send::request::Route;
use crate::send::timeout::Running;
use crate::send::trace::Span;
use crate::transport::Body;

/// Sends the request and receives the head of the response. Redirects are followed, since there is
/// no key that they could leak. `count` is of all requests of the download.
pub(super) async fn request(
    context: &Context,
    url: &Url,
    headers: HeaderMap,
    running: Running,
    span: &Span,
    count: &mut u32,
) -> Result<Incoming, Error> {
    let route = Route::new(Method::GET, Route::ASSET);
    // The download checks its size, of which a response may be a part.
    let max = MaxSize { bytes: u64::MAX, setting: "" };
    let (mut url, mut redirects) = (url.clone(), 0);
    loop {
        *count += 1;
        let attempt = span.attempt(&route, &url, *count);
        let response = attempt.around(get(context, &url, headers.clone(), running)).await;
        attempt.ended(response.as_ref().map(Response::status));
        let response = response.map_err(|error| error.of(route.clone(), None))?;
        let incoming = Incoming::new(route.clone(), url, response, running, max);
        match incoming.redirect(|from, to| check_asset(from, to, redirects))? {
            Some(next) => url = next,
            None => return Ok(incoming),
        }
        redirects += 1;
    }
}

async fn get(
    context: &Context,
    url: &Url,
    headers: HeaderMap,
    running: Running,
) -> Result<Response<Body>, Error> {
    let sending = context.client.0.http_client.send(Method::GET, url, headers, Body::default());
    match running.head(sending).await {
        Ok(response) => response.map_err(|failure| Error::no_response(url, failure)),
        Err(limit) => Err(Error::timed_out(url, limit, None)),
    }
}
