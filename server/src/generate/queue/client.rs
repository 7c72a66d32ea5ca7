//! HTTP requests to the provider, and downloads of its outputs.
//!
//! No request is repeated here: a submission must not be, and the worker repeats the others.

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response};
use url::Url;

use super::setting::QueueSetting;
use crate::outbound::{AddressPolicy, Outbound, OutboundError};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// All HTTP of a [`QueueProvider`](super::QueueProvider). The caller checks that a URL which gets
/// the key is of the provider's own origin.
pub(super) struct QueueClient {
    pub(super) setting: QueueSetting,
    submissions: Outbound,
    provider: Outbound,
    outputs: Outbound,
}

impl QueueClient {
    pub(super) fn new(setting: QueueSetting, provider: Outbound) -> Self {
        let policy =
            if setting.private_outputs { AddressPolicy::Any } else { AddressPolicy::Public };
        Self {
            // A pooled connection may be closed by the provider just as a submission is sent,
            // and it would not be known whether the submission arrived.
            submissions: provider.with_new_connections(),
            outputs: provider.with_policy(policy),
            provider,
            setting,
        }
    }

    /// Sends a submission, with the key.
    pub(super) async fn submit(
        &self,
        url: &Url,
        body: Bytes,
    ) -> Result<Response<Bytes>, OutboundError> {
        let request = self.with_key(request(Method::POST, url, body)?);
        self.submissions.fetch(request, self.setting.submit_limits).await
    }

    /// Gets a status or a result, with the key.
    pub(super) async fn get(&self, url: &Url) -> Result<Response<Bytes>, OutboundError> {
        let request = self.with_key(request(Method::GET, url, Bytes::new())?);
        self.provider.fetch(request, self.setting.poll_limits).await
    }

    /// Gets an output, without the key.
    pub(super) async fn download(&self, url: &Url) -> Result<Response<Bytes>, OutboundError> {
        let request = request(Method::GET, url, Bytes::new())?;
        // The operator chose the provider's address, so it may be private.
        let own = self.setting.is_same_origin(url);
        let client = if own { &self.provider } else { &self.outputs };
        client.fetch(request, self.setting.output_limits).await
    }

    fn with_key(&self, mut request: Request<Bytes>) -> Request<Bytes> {
        let headers = request.headers_mut();
        headers.insert(AUTHORIZATION, self.setting.key.header());
        headers.insert(ACCEPT, JSON);
        request
    }
}

fn request(method: Method, url: &Url, body: Bytes) -> Result<Request<Bytes>, OutboundError> {
    let mut request = Request::new(body);
    *request.uri_mut() = url.as_str().parse().map_err(|_| OutboundError::Address)?;
    if method == Method::POST {
        request.headers_mut().insert(CONTENT_TYPE, JSON);
    }
    *request.method_mut() = method;
    Ok(request)
}
