//! A provider over HTTP that speaks the queue protocol of fal.ai.
//!
//! A request is posted once to the URL of its model. The response has an id and the URLs of
//! status and result. Outputs are downloaded from the URLs in the result.
//!
//! No HTTP request is repeated here: a submission must not be, and the worker repeats the others.

mod outputs;
mod protocol;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Response};
use url::Url;

use self::protocol::{Accepted, RequestUrls};
use super::OutputError::{Permanent, Transient};
use super::{OutputError, PollError, Progress, Provider, SubmitError};
use crate::domain::{GenerationRequest, ProviderTicket};
use crate::error_chain::error_chain;
use crate::limits::{
    PROVIDER_REQUEST_ID_CHARS_MAX, PROVIDER_RETRY_AFTER_MAX, QUEUE_POLL_TIMEOUT,
    QUEUE_RESPONSE_BYTES_MAX, QUEUE_RESULT_BYTES_MAX, QUEUE_RESULTS_BYTES, QUEUE_SUBMIT_TIMEOUT,
};
use crate::outbound::{AddressPolicy, Limits, Outbound, OutboundError, Request};
use crate::quota::Quota;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const SCHEME: &str = "Key ";

/// A provider, its key, and the limits of requests to it.
#[derive(Clone, Debug)]
pub struct QueueSetting {
    url: Url,
    /// With the key. It is marked as sensitive, so `Debug` does not show it.
    authorization: HeaderValue,
    /// Whether outputs may be at addresses that are neither public nor the provider's own.
    pub(crate) private_outputs: bool,
    submit_limits: Limits,
    status_limits: Limits,
    result_limits: Limits,
    pub(crate) results: Quota,
}

/// Why a setting cannot be used. The texts do not contain the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueSettingError {
    #[error("is not an http or https address without user, query and fragment")]
    Url,
    #[error("holds a key that is empty or has characters that no header can hold")]
    Key,
}

impl QueueSetting {
    /// Ids of models are appended to `url`, for example `https://queue.fal.run`.
    pub fn new(url: &str, key: &str) -> Result<Self, QueueSettingError> {
        let url = Url::parse(url).map_err(|_| QueueSettingError::Url)?;
        let is_plain = has_no_user(&url) && url.query().is_none() && url.fragment().is_none();
        if !is_plain || !matches!(url.scheme(), "http" | "https") {
            return Err(QueueSettingError::Url);
        }
        let is_visible = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        let header = HeaderValue::try_from(format!("{SCHEME}{key}")).ok().filter(|_| is_visible);
        let mut authorization = header.ok_or(QueueSettingError::Key)?;
        authorization.set_sensitive(true);
        let json = |time| Limits { time, bytes: QUEUE_RESPONSE_BYTES_MAX, budget: None };
        let (what, most) = ("the memory for results of the provider", QUEUE_RESULTS_BYTES);
        let results = Quota::new("provider_results", what, most, most);
        Ok(Self {
            url,
            authorization,
            private_outputs: false,
            results: results.clone(),
            submit_limits: json(QUEUE_SUBMIT_TIMEOUT),
            status_limits: json(QUEUE_POLL_TIMEOUT),
            result_limits: Limits {
                bytes: QUEUE_RESULT_BYTES_MAX,
                budget: Some(results.clone()),
                ..json(QUEUE_POLL_TIMEOUT)
            },
        })
    }

    /// Whether a URL has the provider's scheme, host and port, and no user.
    fn is_same_origin(&self, url: &Url) -> bool {
        has_no_user(url) && url.origin() == self.url.origin()
    }

    /// Removes the key, and each half of a key of the form `id:secret`, from a text.
    fn redact(&self, text: &str) -> String {
        let key = self.authorization.to_str().unwrap_or_default().trim_start_matches(SCHEME);
        let halves = key.split(':').filter(|half| half.len() >= 8);
        let secrets = std::iter::once(key).chain(halves);
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret, "…"))
    }
}

fn has_no_user(url: &Url) -> bool {
    url.username().is_empty() && url.password().is_none()
}

pub(crate) struct QueueProvider {
    setting: QueueSetting,
    submissions: Outbound,
    provider: Outbound,
    outputs: Outbound,
}

impl QueueProvider {
    pub(crate) fn new(setting: QueueSetting) -> Result<Self, OutboundError> {
        // The operator chose the provider's address, so it may be private.
        let provider = Outbound::new(AddressPolicy::Any)?;
        let outputs =
            if setting.private_outputs { AddressPolicy::Any } else { AddressPolicy::Public };
        Ok(Self {
            // A pooled connection may be closed by the provider just as a submission is sent,
            // and it would not be known whether the submission arrived.
            submissions: provider.with_new_connections(),
            outputs: provider.with_policy(outputs),
            provider,
            setting,
        })
    }

    /// A request that carries the key. The caller checks that the URL is of the provider's origin.
    fn request_with_key(&self, method: Method, url: Url) -> Request {
        let mut request = Request::new(method, url);
        request.headers_mut().insert(AUTHORIZATION, self.setting.authorization.clone());
        request.headers_mut().insert(ACCEPT, JSON);
        request
    }

    fn accepted(&self, body: &[u8]) -> Result<ProviderTicket, String> {
        let Accepted { request_id, urls } = serde_json::from_slice(body).map_err(|_| {
            // The id is all there is to find the output by, which is paid for.
            let id = protocol::request_id(body);
            format!("the response to the submission is not readable; its request id is {id:?}")
        })?;
        let length = request_id.chars().count();
        if !(1..=PROVIDER_REQUEST_ID_CHARS_MAX).contains(&length) || request_id.contains('\0') {
            let id: String = request_id.chars().take(PROVIDER_REQUEST_ID_CHARS_MAX).collect();
            return Err(format!(
                "the response to the submission has the unusable request id {id:?}"
            ));
        }
        // The key is sent to both URLs.
        if [&urls.status, &urls.response].iter().any(|url| !self.setting.is_same_origin(url)) {
            let id = request_id;
            return Err(format!("the submission with request id {id:?} has URLs of another host"));
        }
        let state = serde_json::to_string(&urls).map_err(|error| error.to_string())?;
        Ok(ProviderTicket { request_id: request_id.into(), provider_state: state.into() })
    }

    async fn progress(
        &self,
        ticket: &ProviderTicket,
        request: &GenerationRequest,
    ) -> Result<Progress, OutputError> {
        let urls: RequestUrls = serde_json::from_str(&ticket.provider_state)
            .map_err(|_| PollError::new("the ticket is of another provider"))?;
        let status = self.get(urls.status, &self.setting.status_limits).await?;
        if let Some(progress) = protocol::progress(status.body())? {
            return Ok(progress);
        }
        // A model reports that it did not accept its input as a client error here.
        let result = self.get(urls.response, &self.setting.result_limits).await?;
        Ok(Progress::Completed(self.outputs(result, request)?))
    }

    /// A successful response of the provider itself.
    async fn get(&self, url: Url, limits: &Limits) -> Result<Response<Bytes>, OutputError> {
        // The ticket may be from before the operator changed the provider.
        if !self.setting.is_same_origin(&url) {
            return Err(PollError::new("the request is at another provider").into());
        }
        let request = self.request_with_key(Method::GET, url);
        let response = self.provider.fetch(request, limits).await;
        let response = response.map_err(|error| PollError::new(error_chain(&error)))?;
        let reason = || protocol::reason(&response);
        let later = || PollError {
            cause: reason(),
            retry_after: protocol::retry_after(response.headers()),
        };
        match response.status().as_u16() {
            200..300 => Ok(response),
            // It refuses the key, which its operator can repair, or is too busy.
            401 | 403 | 408 | 425 | 429 => Err(later().into()),
            400..500 => Err(Permanent(reason())),
            _ => Err(later().into()),
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
        let response = self.submissions.fetch(post, &self.setting.submit_limits).await;
        let response = response.map_err(|error| match error_chain(&error) {
            cause if error.nothing_was_sent() => SubmitError::Unavailable(cause),
            cause => SubmitError::Unknown(cause),
        })?;
        let reason = self.setting.redact(&protocol::reason(&response));
        Err(match response.status().as_u16() {
            200..300 => return self.accepted(response.body()).map_err(SubmitError::Unknown),
            429 | 503 => match protocol::retry_after(response.headers()) {
                Some(wait) => SubmitError::Busy(reason, wait.min(PROVIDER_RETRY_AFTER_MAX)),
                None => SubmitError::Unavailable(reason),
            },
            401 => SubmitError::Refused("it does not accept the key of this service".into()),
            // The provider stopped waiting for a request that it may have received.
            408 => SubmitError::Unknown(reason),
            400..500 => SubmitError::Refused(reason),
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
            Err(Permanent(reason)) => Ok(Progress::Failed(self.setting.redact(&reason))),
            Err(Transient(error)) => {
                Err(PollError { cause: self.setting.redact(&error.cause), ..error })
            }
        }
    }
}
