//! A provider over HTTP that speaks the queue protocol of fal.ai.
//!
//! A request is posted once to the URL of its model. The response has an id and the URLs of
//! status and result. Outputs are downloaded from the URLs in the result.
//! No HTTP request is repeated here: a submission must not be, and the worker repeats the others.

pub(crate) mod fields;
mod outputs;
mod protocol;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Response};
use serde_json::Value;
use url::Url;

use self::fields::ModelFields;
use self::protocol::{OutputFile, RequestUrls};
use super::OutputError::{Permanent, Transient};
use super::{OutputError, PollError, Progress, Provider, SubmitError, model};
use crate::domain::{GenerationRequest, ProviderTicket};
use crate::error_chain::error_chain;
use crate::limits::{
    PROVIDER_REQUEST_ID_CHARS_MAX, PROVIDER_RETRY_AFTER_MAX, PROVIDER_STATE_BYTES_MAX,
    QUEUE_POLL_TIMEOUT, QUEUE_RESPONSE_BYTES_MAX, QUEUE_RESULT_BYTES_MAX, QUEUE_RESULTS_BYTES,
    QUEUE_SUBMIT_TIMEOUT,
};
pub(crate) use crate::outbound::OutboundError;
use crate::outbound::{AddressPolicy, Outbound, OutboundRequest, ResponseLimits, ResponsePermit};
use crate::quota::Quota;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const SCHEME: &str = "Key ";

/// A provider, its key, and the limits of requests to it.
#[derive(Clone, Debug)]
pub(crate) struct QueueSetting {
    url: Url,
    /// With the key. It is marked as sensitive, so `Debug` does not show it.
    authorization: HeaderValue,
    /// Whether outputs may be at addresses that are neither public nor the provider's own.
    pub(crate) private_outputs: bool,
    /// What families of models take, before the built-in table.
    pub(crate) model_fields: ModelFields,
    submit_limits: ResponseLimits,
    status_limits: ResponseLimits,
    result_limits: ResponseLimits,
    pub(crate) results: Quota,
}

/// Why a setting cannot be used. The texts do not contain the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QueueSettingError {
    #[error("is not an http or https address without user, query and fragment")]
    Url,
    #[error("holds a key that is empty or has characters that no header can hold")]
    Key,
}

impl QueueSetting {
    /// Ids of models are appended to `url`, for example `https://queue.fal.run`.
    pub(crate) fn new(url: &str, key: &str) -> Result<Self, QueueSettingError> {
        let url = Url::parse(url).map_err(|_| QueueSettingError::Url)?;
        let is_plain = has_no_user(&url) && url.query().is_none() && url.fragment().is_none();
        if !is_plain || !matches!(url.scheme(), "http" | "https") {
            return Err(QueueSettingError::Url);
        }
        let is_visible = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        let header = HeaderValue::try_from(format!("{SCHEME}{key}")).ok().filter(|_| is_visible);
        let mut authorization = header.ok_or(QueueSettingError::Key)?;
        authorization.set_sensitive(true);
        let json = |time| ResponseLimits { time, bytes: QUEUE_RESPONSE_BYTES_MAX, memory: None };
        let (what, most) = ("the memory for results of the provider", QUEUE_RESULTS_BYTES);
        let results = Quota::new("provider_results", what, most, most);
        let (bytes, memory) = (QUEUE_RESULT_BYTES_MAX, Some(results.clone()));
        let result_limits = ResponseLimits { bytes, memory, ..json(QUEUE_POLL_TIMEOUT) };
        Ok(Self {
            url,
            authorization,
            private_outputs: false,
            model_fields: ModelFields::new(),
            results,
            submit_limits: json(QUEUE_SUBMIT_TIMEOUT),
            status_limits: json(QUEUE_POLL_TIMEOUT),
            result_limits,
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

#[derive(Clone)]
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
    fn request_with_key(&self, method: Method, url: Url) -> OutboundRequest {
        let mut request = OutboundRequest::new(method, url);
        request.headers_mut().insert(AUTHORIZATION, self.setting.authorization.clone());
        request.headers_mut().insert(ACCEPT, JSON);
        request
    }

    fn accepted(&self, body: &[u8], model: &str) -> Result<ProviderTicket, String> {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let id = body["request_id"].as_str().unwrap_or_default();
        let length = id.chars().count();
        if !(1..=PROVIDER_REQUEST_ID_CHARS_MAX).contains(&length) || id.contains('\0') {
            let id: String = id.chars().take(PROVIDER_REQUEST_ID_CHARS_MAX).collect();
            return Err(format!(
                "the response to the submission has the unusable request id {id:?}"
            ));
        }
        // The key is sent to these addresses.
        let given = RequestUrls::given(&body, |url| self.setting.is_same_origin(url));
        let urls = given.unwrap_or_else(|| {
            tracing::warn!(
                request_id = id,
                "the provider gave no addresses of its own origin for a generation; the protocol's \
                 addresses below --provider-url are used"
            );
            RequestUrls::built(&self.setting.url, model, id)
        });
        let state = serde_json::to_string(&urls).map_err(|error| error.to_string())?;
        Ok(ProviderTicket { request_id: id.into(), provider_state: state.into() })
    }

    async fn progress(
        &self,
        ticket: &ProviderTicket,
        request: &GenerationRequest,
    ) -> Result<Progress, OutputError> {
        let mut urls = urls(ticket)?;
        let outputs = |files: Vec<OutputFile>, permit: &ResponsePermit| {
            let outputs: Result<_, _> =
                files.into_iter().map(|file| self.output(file, permit)).collect();
            outputs.map(Progress::Completed)
        };
        if !urls.outputs.is_empty() {
            return outputs(urls.outputs, &ResponsePermit::default());
        }
        let status =
            self.call(Method::GET, &urls.status, &self.setting.status_limits, false).await?;
        if let Some(progress) = protocol::progress(status.body())? {
            return Ok(progress);
        }
        // A model reports its errors as the status of the result.
        let result =
            self.call(Method::GET, &urls.response, &self.setting.result_limits, true).await?;
        let (head, body) = result.into_parts();
        let mut files = protocol::output_files(&body, request.kind)?;
        drop(body);
        files.truncate(request.batch_count as usize);
        if !files.iter().any(OutputFile::is_embedded) {
            urls.outputs = files;
            let state = serde_json::to_string(&urls).unwrap_or_default();
            if (1..=PROVIDER_STATE_BYTES_MAX).contains(&state.len()) {
                return Ok(Progress::Ready(state.into()));
            }
            files = urls.outputs;
        }
        outputs(files, &head.extensions.get::<ResponsePermit>().cloned().unwrap_or_default())
    }

    /// A successful response of the provider itself. One to `is_result` comes from the model, so it
    /// may be the model's own error.
    async fn call(
        &self,
        method: Method,
        url: &Url,
        limits: &ResponseLimits,
        is_result: bool,
    ) -> Result<Response<Bytes>, OutputError> {
        // The ticket may be from before the operator changed the provider.
        if !self.setting.is_same_origin(url) {
            return Err(PollError::new("the request is at another provider").into());
        }
        let request = self.request_with_key(method, url.clone());
        let response = self.provider.fetch(request, limits).await;
        let response = response.map_err(|error| PollError::new(error_chain(&error)))?;
        let reason = || protocol::reason(&response);
        match response.status().as_u16() {
            200..300 => return Ok(response),
            // It refuses the key, which its operator can repair, or is too busy.
            401..=403 | 408 | 425 | 429 => {}
            400..500 => return Err(Permanent(reason())),
            500.. if is_result && protocol::is_of_model(&response) => {
                return Err(Permanent(reason()));
            }
            _ => {}
        }
        let retry_after = protocol::retry_after(response.headers());
        Err(PollError { cause: reason(), retry_after }.into())
    }

    /// Without the key.
    fn redacted(&self, mut error: PollError) -> PollError {
        error.cause = self.setting.redact(&error.cause);
        error
    }
}

fn urls(ticket: &ProviderTicket) -> Result<RequestUrls, PollError> {
    serde_json::from_str(&ticket.provider_state)
        .map_err(|_| PollError::new("the ticket is of another provider"))
}

#[async_trait]
impl Provider for QueueProvider {
    async fn submit(&self, request: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        let url = protocol::model_url(&self.setting.url, request).map_err(SubmitError::Refused)?;
        let body = fields::submit_body(request, &self.setting.model_fields)
            .map_err(SubmitError::Refused)?;
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
            200..300 => {
                return self
                    .accepted(response.body(), model(request))
                    .map_err(SubmitError::Unknown);
            }
            429 | 503 => match protocol::retry_after(response.headers()) {
                Some(wait) => SubmitError::Busy(reason, wait.min(PROVIDER_RETRY_AFTER_MAX)),
                None => SubmitError::Unavailable(reason),
            },
            401..=403 => SubmitError::NotAuthorized(reason),
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
            Err(Transient(error)) => Err(self.redacted(error)),
        }
    }

    async fn cancel(&self, ticket: &ProviderTicket) -> Result<(), PollError> {
        let Some(url) = urls(ticket)?.cancel else { return Ok(()) };
        match self.call(Method::PUT, &url, &self.setting.status_limits, false).await {
            Ok(_) => Ok(()),
            Err(Permanent(reason)) => Err(self.redacted(PollError::new(reason))),
            Err(Transient(error)) => Err(self.redacted(error)),
        }
    }
}
