//! A provider over HTTP that speaks the queue protocol of fal.ai.
//!
//! A request is posted once to the URL of its model. The response has an id and the URLs of
//! status and result. Outputs are downloaded from the URLs in the result.
//!
//! No HTTP request is repeated here: a submission must not be, and the worker repeats the others.

mod media;
mod protocol;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Response};
use url::Url;

use self::protocol::{Accepted, OutputFile, RequestUrls};
use super::{Output, PollError, Progress, Provider, SubmitError};
use crate::domain::{GenerationRequest, OutputKind, ProviderTicket};
use crate::error_chain::error_chain;
use crate::limits::{
    OUTPUT_BYTES_MAX, OUTPUT_TIMEOUT, PROVIDER_REQUEST_ID_CHARS_MAX, QUEUE_POLL_TIMEOUT,
    QUEUE_RESPONSE_BYTES_MAX, QUEUE_SUBMIT_TIMEOUT,
};
use crate::outbound::{AddressPolicy, Limits, Outbound, OutboundError, Request};

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
    poll_limits: Limits,
    output_limits: Limits,
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
        let json = |time| Limits { time, bytes: QUEUE_RESPONSE_BYTES_MAX };
        Ok(Self {
            url,
            authorization,
            private_outputs: false,
            submit_limits: json(QUEUE_SUBMIT_TIMEOUT),
            poll_limits: json(QUEUE_POLL_TIMEOUT),
            output_limits: Limits { time: OUTPUT_TIMEOUT, bytes: OUTPUT_BYTES_MAX },
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

enum PollFailure {
    /// It may succeed later; the cause, for the log.
    Transient(String),
    /// It never will; the reason, for the caller.
    Permanent(String),
}

use PollFailure::{Permanent, Transient};

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
        let Accepted { request_id, urls } = serde_json::from_slice(body)
            .map_err(|_| "the response to the submission is not readable")?;
        let length = request_id.chars().count();
        if !(1..=PROVIDER_REQUEST_ID_CHARS_MAX).contains(&length) || request_id.contains('\0') {
            return Err("the response to the submission has no usable request id".into());
        }
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
        let status = self.get(urls.status).await?;
        if let Some(progress) = protocol::progress(status.body())? {
            return Ok(progress);
        }
        // A model reports that it did not accept its input as a client error here.
        let result = self.get(urls.response).await?;
        let files = protocol::output_files(result.body(), request.kind)?;
        let mut outputs = Vec::new();
        for file in files.iter().take(request.batch_count as usize) {
            outputs.push(self.download(file, request.kind).await?);
        }
        Ok(Progress::Completed(outputs))
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
        match response.status().as_u16() {
            200..300 => Ok(response),
            // It refuses the key, which its operator can repair, or is too busy.
            401 | 403 | 408 | 425 | 429 => Err(Transient(protocol::reason(&response))),
            400..500 => Err(Permanent(protocol::reason(&response))),
            _ => Err(Transient(protocol::reason(&response))),
        }
    }

    /// Downloads an output, without the key.
    async fn download(&self, file: &OutputFile, kind: OutputKind) -> Result<Output, PollFailure> {
        let no_address = || Permanent("an output has no address of the web".into());
        let url = Url::parse(&file.url).map_err(|_| no_address())?;
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
        match response.status().as_u16() {
            200..300 => media::output(response, file, kind).map_err(|it| Permanent(it.into())),
            300..400 => Err(Permanent("the address of an output redirects".into())),
            status => Err(Transient(format!("an output: status {status}"))),
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
        let response = self.submissions.fetch(post, self.setting.submit_limits).await;
        let response = response.map_err(|error| match error_chain(&error) {
            cause if error.nothing_was_sent() => SubmitError::Unavailable(cause),
            cause => SubmitError::Unknown(cause),
        })?;
        let reason = self.setting.redact(&protocol::reason(&response));
        Err(match response.status().as_u16() {
            200..300 => return self.accepted(response.body()).map_err(SubmitError::Unknown),
            429 | 503 => SubmitError::Unavailable(reason),
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
            Err(Transient(cause)) => Err(PollError(self.setting.redact(&cause))),
        }
    }
}
