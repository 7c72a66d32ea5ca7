//! The one place that sends to the service. Whether a request is sent again would be
//! decided here and nowhere else. What goes elsewhere, without the key, is below it.

mod get;
mod put;

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, USER_AGENT};
use http::{Method, StatusCode};
use reqwest::Response;
use tokio::time::timeout;
use url::Url;

use super::config::Config;
use super::reply::{Reply, request_id};
use super::request::Request;
use super::{Client, Error};

impl Client {
    /// Sends a request and collects its answer, whatever its status.
    pub(super) async fn send(&self, request: Request) -> Result<Reply, Error> {
        let config = &*self.0;
        let url = url(config, &request);
        let sent = prepare(config, &request, url.clone()).send().await;
        let mut response = sent.map_err(|source| {
            let origin = url.origin().ascii_serialization();
            Error::unsent(origin, source).of(request.route.clone(), None)
        })?;
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        if *response.url() != url {
            return Err(Error::followed(status, response.url().as_str())
                .of(request.route, request_id(&headers)));
        }
        match collect(response).await {
            Ok(body) => Ok(Reply { route: request.route, status, headers, body, withheld: false }),
            Err(source) => {
                let id = request_id(&headers);
                Err(Error::broken_off(status, source).of(request.route, id))
            }
        }
    }
}

fn url(config: &Config, request: &Request) -> Url {
    let mut url = config.base_url.clone();
    url.set_path(&format!("{}{}", url.path().trim_end_matches('/'), request.path));
    if !request.query.is_empty() {
        url.query_pairs_mut().extend_pairs(&request.query);
    }
    url
}

fn prepare(config: &Config, request: &Request, url: Url) -> reqwest::RequestBuilder {
    let prepared = config
        .http
        .request(request.route.method.clone(), url)
        .timeout(config.request_timeout)
        .header(AUTHORIZATION, config.authorization.clone())
        .header(USER_AGENT, config.user_agent.clone())
        .header(ACCEPT, "application/json");
    match &request.body {
        Some(body) => prepared.header(CONTENT_TYPE, "application/json").body(body.clone()),
        // Without a length some servers refuse a POST (411), and by itself none is sent.
        None if request.route.method == Method::POST => prepared.header(CONTENT_LENGTH, 0),
        None => prepared,
    }
}

/// The body of an answer. A refusal that broke off is kept as far as it came: its
/// status says more than how it ended.
async fn collect(mut response: Response) -> Result<Bytes, reqwest::Error> {
    let refused = response.status() >= StatusCode::BAD_REQUEST;
    let mut body = BytesMut::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body.freeze()),
            Err(_) if refused => return Ok(body.freeze()),
            Err(source) => return Err(source),
        }
    }
}

/// Bytes of a refusal from elsewhere that are looked at.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;

/// The beginning of the body of a refusal, as far as it comes.
async fn collect_start(mut response: Response, limit: Duration) -> Bytes {
    let mut body = BytesMut::new();
    while body.len() < REFUSAL_BYTES_MAX {
        let Ok(Ok(Some(chunk))) = timeout(limit, response.chunk()).await else { break };
        body.extend_from_slice(&chunk);
    }
    body.freeze()
}
