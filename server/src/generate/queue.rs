//! A provider over HTTP that speaks the queue protocol of fal.ai.
//!
//! A request is posted once to the URL of its model. The response has an id and the URLs of
//! status and result. The status is `IN_QUEUE`, `IN_PROGRESS` or `COMPLETED`; a failed request is
//! a completed one with an `error`. Outputs are downloaded from the URLs in the result.
//!
//! No HTTP request is repeated here: a submission must not be, and the worker repeats the others.

mod media;
mod protocol;
mod setting;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Response, StatusCode};
use url::Url;

use self::protocol::{OutputFile, RequestUrls};
pub(crate) use self::setting::{QueueSetting, QueueSettingError};
use super::{Output, PollError, Progress, Provider, SubmitError};
use crate::domain::{GenerationRequest, OutputKind, ProviderTicket};
use crate::error_chain::error_chain;
use crate::outbound::{AddressPolicy, Outbound, OutboundError, Request};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A client of one provider.
pub(crate) struct QueueProvider {
    setting: QueueSetting,
    submissions: Outbound,
    provider: Outbound,
    outputs: Outbound,
}

/// Why a poll ends without progress.
enum PollFailure {
    /// It may succeed later; the cause, for the log.
    Transient(String),
    /// It never will; the reason, for the caller.
    Permanent(String),
}

use PollFailure::{Permanent, Transient};

impl QueueProvider {
    /// `provider` is the HTTP client for the provider itself.
    pub(crate) fn new(setting: QueueSetting, provider: Outbound) -> Self {
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

    /// A request that carries the key. The caller checks that the URL is of the provider's origin.
    fn request_with_key(&self, method: Method, url: Url) -> Request {
        let mut request = Request::new(method, url);
        request.headers_mut().insert(AUTHORIZATION, self.setting.key.header());
        request.headers_mut().insert(ACCEPT, JSON);
        request
    }

    /// The provider's reason in a response that is no success. It might quote the key.
    fn reason(&self, response: &Response<Bytes>) -> String {
        self.setting.key.redact(&protocol::reason(response))
    }

    fn accepted(&self, body: &[u8]) -> Result<ProviderTicket, String> {
        let (request_id, urls) = protocol::submit_response(body)
            .ok_or("the response to the submission is not readable")?;
        // The key is sent to both URLs.
        if [&urls.status, &urls.response].iter().any(|url| !self.setting.is_same_origin(url)) {
            return Err("the response to the submission has URLs of another host".into());
        }
        let state = serde_json::to_string(&urls).map_err(|error| error.to_string())?;
        Ok(ProviderTicket { request_id: request_id.into(), provider_state: state.into() })
    }

    async fn progress(
        &self,
        ticket: &ProviderTicket,
        request: &GenerationRequest,
    ) -> Result<Progress, PollFailure> {
        let urls: RequestUrls = serde_json::from_str(&ticket.provider_state)
            .map_err(|_| Transient("the ticket is of another provider".into()))?;
        let response = self.get(urls.status).await?;
        match protocol::status(response.body()) {
            Some(Progress::Completed(_)) => {
                self.outputs(urls.response, request).await.map(Progress::Completed)
            }
            Some(Progress::Failed(reason)) => Err(Permanent(self.setting.key.redact(&reason))),
            Some(progress) => Ok(progress),
            None => Err(Transient("the status is not readable".into())),
        }
    }

    async fn outputs(
        &self,
        url: Url,
        request: &GenerationRequest,
    ) -> Result<Vec<Output>, PollFailure> {
        // A model reports that it did not accept its input as a client error here.
        let response = self.get(url).await?;
        let files = protocol::result(response.body(), request.kind)
            .ok_or_else(|| Transient("the result is not readable".into()))?
            .map_err(|error| Permanent(self.setting.key.redact(&error)))?;
        if files.is_empty() {
            return Err(Permanent("the provider was done and sent nothing".into()));
        }
        let wanted = usize::try_from(request.batch_count).unwrap_or(usize::MAX);
        let mut outputs = Vec::new();
        for file in files.iter().take(wanted) {
            outputs.push(self.download(file, request.kind).await?);
        }
        Ok(outputs)
    }

    /// A successful response of the provider itself.
    async fn get(&self, url: Url) -> Result<Response<Bytes>, PollFailure> {
        // The ticket may be from before the operator changed the provider.
        if !self.setting.is_same_origin(&url) {
            return Err(Transient("the request is at another provider".into()));
        }
        let request = self.request_with_key(Method::GET, url);
        let response = self.provider.fetch(request, self.setting.poll_limits).await;
        let response = response.map_err(|error| Transient(error_chain(&error)))?;
        match response.status() {
            status if status.is_success() => Ok(response),
            status if is_transient(status) => Err(Transient(self.reason(&response))),
            _ => Err(Permanent(self.reason(&response))),
        }
    }

    /// Downloads an output, without the key.
    async fn download(&self, file: &OutputFile, kind: OutputKind) -> Result<Output, PollFailure> {
        let no_address = || Permanent("an output has no address of the web".into());
        let url = Url::parse(&file.url).map_err(|_| no_address())?;
        // The operator chose the provider's address, so it may be private.
        let own = self.setting.is_same_origin(&url);
        let client = if own { &self.provider } else { &self.outputs };
        let request = Request::new(Method::GET, url);
        let response = client.fetch(request, self.setting.output_limits).await;
        let response = response.map_err(|error| match error {
            OutboundError::TooLarge(bytes) => {
                Permanent(format!("an output is larger than {} MiB", bytes >> 20))
            }
            OutboundError::NotPublic(_) => {
                Permanent("an output is at an address that is not public".into())
            }
            OutboundError::Address => no_address(),
            error => Transient(format!("an output: {}", error_chain(&error))),
        })?;
        match response.status() {
            status if status.is_success() => {
                media::output(response, file, kind).map_err(|reason| Permanent(reason.into()))
            }
            status if status.is_redirection() => {
                Err(Permanent("the address of an output redirects".into()))
            }
            status => Err(Transient(format!("an output: status {}", status.as_u16()))),
        }
    }
}

#[async_trait]
impl Provider for QueueProvider {
    async fn submit(&self, request: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        let url = protocol::model_url(&self.setting.url, request).map_err(SubmitError::Refused)?;
        let body = protocol::submit_body(request).map_err(SubmitError::Refused)?;
        let mut post = self.request_with_key(Method::POST, url);
        post.headers_mut().insert(CONTENT_TYPE, JSON);
        *post.body_mut() = Some(body.into());
        let response = match self.submissions.fetch(post, self.setting.submit_limits).await {
            Ok(response) => response,
            Err(error) if error.nothing_was_sent() => {
                return Err(SubmitError::Unavailable(error_chain(&error)));
            }
            Err(error) => return Err(SubmitError::Unknown(error_chain(&error))),
        };
        let status = response.status();
        if status.is_success() {
            return self.accepted(response.body()).map_err(SubmitError::Unknown);
        }
        let reason = self.reason(&response);
        Err(match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                SubmitError::Unavailable(reason)
            }
            StatusCode::UNAUTHORIZED => {
                SubmitError::Refused("it does not accept the key of this service".into())
            }
            // The provider stopped waiting for a request that it may have received.
            StatusCode::REQUEST_TIMEOUT => SubmitError::Unknown(reason),
            status if status.is_client_error() => SubmitError::Refused(reason),
            _ => SubmitError::Unknown(reason),
        })
    }

    async fn poll(
        &self,
        ticket: &ProviderTicket,
        request: &GenerationRequest,
    ) -> Result<Progress, PollError> {
        match self.progress(ticket, request).await {
            Ok(progress) => Ok(progress),
            Err(Permanent(reason)) => Ok(Progress::Failed(reason)),
            Err(Transient(cause)) => Err(PollError(cause)),
        }
    }
}

/// Whether a status says little about the request: the provider is busy, broken or moved, or
/// refuses the key, which its operator can repair.
fn is_transient(status: StatusCode) -> bool {
    !status.is_client_error()
        || matches!(
            status,
            StatusCode::UNAUTHORIZED
                | StatusCode::FORBIDDEN
                | StatusCode::REQUEST_TIMEOUT
                | StatusCode::TOO_EARLY
                | StatusCode::TOO_MANY_REQUESTS
        )
}
