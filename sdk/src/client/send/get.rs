//! Downloads an asset, from any host and without the key.

use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, Method, Response};
use url::Url;

use super::incoming::{Incoming, MaxSize};
use super::limit::Running;
use super::{redirect, repeats_query};
use crate::client::error::ErrorBody;
use crate::client::reply::encoded;
use crate::client::request::Route;
use crate::client::trace::Span;
use crate::client::transport::Body;
use crate::client::{Client, Error};

impl Client {
    /// Requests the asset at this URL and receives the head of the response. Redirects are
    /// followed, since there is no key that they could leak.
    pub(in crate::client) async fn open_asset(
        &self,
        url: &str,
        max_size: u64,
        span: &Span,
    ) -> Result<Incoming, Error> {
        let route = Route::new(Method::GET, Route::ASSET);
        let invalid = || Error::input("the URL of the asset is not an absolute http or https URL");
        let mut url = Url::parse(url).ok().filter(redirect::is_web).ok_or_else(invalid)?;
        let running = Running::idle_only(self.0.limits);
        let max = MaxSize { bytes: max_size, setting: "max_size" };
        let mut redirects = 0;
        let asset = loop {
            let attempt = span.attempt(&route, &url, redirects + 1);
            let response = attempt.around(self.get_once(&url, &running)).await;
            attempt.ended(response.as_ref().map(Response::status));
            let response = response.map_err(|error| error.of(route.clone(), None))?;
            let asset = Incoming::new(route.clone(), url, response, running, max);
            match asset.redirect(|from, to| redirect::check_asset(from, to, redirects))? {
                Some(next) => url = next,
                None => break asset,
            }
            redirects += 1;
        };
        if !asset.status().is_success() {
            let url = asset.url.clone();
            let reply = asset.refusal().await;
            return Err(if repeats_query(&reply.body, &url) {
                reply.refused_with(ErrorBody::Withheld)
            } else {
                reply.refused()
            });
        }
        if let Some(error) = encoded(asset.status(), &asset.head.headers) {
            return Err(asset.fail(error));
        }
        asset.check_length()?;
        Ok(asset)
    }

    async fn get_once(&self, url: &Url, running: &Running) -> Result<Response<Body>, Error> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, self.0.user_agent.clone());
        let sending = self.0.http_client.send(Method::GET, url, headers, Body::default());
        running.exchange(url, sending).await
    }
}

impl Incoming {
    pub(in crate::client) fn content_type(&self) -> Option<String> {
        let value = self.head.headers.get(CONTENT_TYPE)?;
        value.to_str().ok().map(str::to_owned)
    }
}
