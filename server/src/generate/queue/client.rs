//! The client of the provider. Outputs are files at other addresses, or in the result itself
//! (`data:`).

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use data_encoding::BASE64_NOPAD;
use futures::stream::{self, StreamExt, TryStreamExt};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, LOCATION};
use http::{HeaderValue, Method};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use url::Url;

use super::protocol::{self, OutputFile, Part, RequestUrls};
use super::{QueueSetting, SCHEME, fields, has_no_user};
use crate::domain::{GenerationRequest, ProviderTicket};
use crate::generate::PollError::{self, Doubtful, NotAuthorized, Permanent, Transient};
use crate::generate::{Output, OutputStream, Progress, Provider, SubmitError, model, too_large};
use crate::limits::product::{
    OUTPUT_REDIRECTS_MAX, PROVIDER_REQUEST_ID_CHARS_MAX, PROVIDER_STATE_BYTES_MAX,
    QUEUE_POLL_TIMEOUT, QUEUE_RESPONSE_BYTES_MAX, QUEUE_RESULT_BYTES_MAX, QUEUE_SUBMIT_TIMEOUT,
};
use crate::limits::{PROVIDER_BUSY_WAIT, PROVIDER_RETRY_AFTER_MAX};
use crate::outbound::{Outbound, OutboundError, OutboundRequest};
use crate::quota::Permit;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

#[derive(Clone)]
pub(super) struct QueueProvider {
    pub(super) setting: QueueSetting,
    submissions: Outbound,
    provider: Outbound,
    outputs: Outbound,
}

impl QueueProvider {
    pub(super) fn new(setting: QueueSetting) -> Result<Self, OutboundError> {
        Ok(Self {
            // A pooled connection may be closed by the provider just as a submission is sent,
            // and it would not be known whether the submission arrived.
            submissions: Outbound::new(false, 0)?,
            // The operator chose the provider's address, so it may be private.
            provider: Outbound::new(false, usize::MAX)?,
            outputs: Outbound::new(!setting.private_outputs, usize::MAX)?,
            setting,
        })
    }

    /// Whether a URL has the provider's scheme, host and port, and no user.
    pub(super) fn is_same_origin(&self, url: &Url) -> bool {
        has_no_user(url) && url.origin() == self.setting.url.origin()
    }

    /// Removes the key, and each half of a key of the form `id:secret`, from a text.
    pub(super) fn redact(&self, text: &str) -> String {
        let header = self.setting.authorization.to_str().unwrap_or_default();
        let key = header.trim_start_matches(SCHEME);
        let halves = key.split(':').filter(|half| half.len() >= 8);
        let secrets = std::iter::once(key).chain(halves);
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret, "…"))
    }

    fn redacted(&self, mut error: PollError) -> PollError {
        let (Transient { cause: text, .. }
        | Doubtful(text)
        | NotAuthorized(text)
        | Permanent(text)) = &mut error;
        *text = self.redact(text);
        error
    }

    /// A request that carries the key. The caller checks that the URL is of the provider's origin.
    fn request_with_key(&self, method: Method, url: Url) -> OutboundRequest {
        let mut request = OutboundRequest::new(method, url);
        request.headers_mut().insert(AUTHORIZATION, self.setting.authorization.clone());
        request.headers_mut().insert(ACCEPT, JSON);
        request
    }

    fn accepted(&self, body: &[u8], model: &str) -> Result<ProviderTicket, SubmitError> {
        let body = protocol::fields(body);
        let lengths = 1..=PROVIDER_REQUEST_ID_CHARS_MAX;
        let is_usable = |id: &&str| lengths.contains(&id.chars().count()) && !id.contains('\0');
        let id = body["request_id"].as_str().filter(is_usable).ok_or_else(|| {
            SubmitError::Unknown("the response to the submission has no usable request id".into())
        })?;
        // The key is sent to these addresses.
        let given = RequestUrls::given(&body, |url| self.is_same_origin(url));
        let urls = given.unwrap_or_else(|| {
            let text = "the provider gave no addresses of its own origin for a generation; the \
                        protocol's addresses below --provider-url are used";
            tracing::warn!(request_id = id, "{text}");
            RequestUrls::built(&self.setting.url, model, id)
        });
        Ok(ProviderTicket { request_id: id.into(), provider_state: urls.to_text().into() })
    }

    async fn progress(
        &self,
        ticket: &ProviderTicket,
        request: &GenerationRequest,
    ) -> Result<Progress, PollError> {
        let mut urls = RequestUrls::of(ticket)?;
        let (mut permit, mut provider_state) = (None, None);
        if urls.outputs.is_empty() {
            let status = self.call(Method::GET, &urls.status, Part::Status).await?;
            let Some((status, _)) = status else { return Ok(Progress::InProgress) };
            if let Some(progress) = protocol::progress(&status)? {
                return Ok(progress);
            }
            let result = self.call(Method::GET, &urls.response, Part::Result).await?;
            let Some((mut result, of_result)) = result else { return Ok(Progress::InProgress) };
            permit = of_result;
            // The result may lag behind the status.
            if let Ok(Some(progress)) = protocol::progress(&result) {
                return Ok(progress);
            }
            let files = protocol::output_files(&mut result, request.kind);
            urls.outputs = files.inspect_err(|_| {
                let fields = self.redact(&protocol::field_names(&result));
                let request_id = &*ticket.request_id;
                tracing::warn!(request_id, fields, "no output can be read from a result");
            })?;
            urls.outputs.truncate(request.batch_count as usize);
            if !urls.outputs.iter().any(OutputFile::is_embedded) {
                let state = urls.to_text();
                provider_state = (state.len() <= PROVIDER_STATE_BYTES_MAX).then(|| state.into());
            }
        }
        let permit = Arc::new(permit);
        let outputs = urls.outputs.into_iter().map(|file| self.output(file, permit.clone()));
        Ok(Progress::Completed { outputs: outputs.collect(), provider_state })
    }

    /// A successful response of the provider itself, with a permit for its memory if it is large;
    /// `None` if it says that the request is not completed yet.
    async fn call(
        &self,
        method: Method,
        url: &Url,
        part: Part,
    ) -> Result<Option<(Value, Option<Permit>)>, PollError> {
        // The ticket may be from before the operator changed the provider.
        if !self.is_same_origin(url) {
            return Err(PollError::transient("the request is at another provider"));
        }
        let (bytes_max, memory) = match part {
            Part::Result => (QUEUE_RESULT_BYTES_MAX, Some(&self.setting.results)),
            _ => (QUEUE_RESPONSE_BYTES_MAX, None),
        };
        let request = self.request_with_key(method, url.clone());
        let fetched = self.provider.fetch(request, QUEUE_POLL_TIMEOUT, bytes_max, memory);
        let (response, permit) =
            fetched.await.map_err(|error| PollError::transient(error.to_string()))?;
        let is_complete = protocol::answer(part, &response, response.body())?;
        Ok(is_complete.then(|| (protocol::fields(response.body()), permit)))
    }

    /// The output in a file of a result, whose memory the permit is for.
    fn output(&self, file: OutputFile, permit: Arc<Option<Permit>>) -> Output {
        let side = |value: &Value| u32::try_from(value.as_u64()?).ok();
        let size = side(&file.width).zip(side(&file.height));
        let bytes = match file.is_embedded() {
            _ if file.is_filtered => {
                let reason = "the provider's safety filter replaced the output";
                stream::once(async move { Err(PollError::permanent(reason)) }).boxed()
            }
            true => {
                let decoding = async move {
                    let _permit = permit;
                    embedded(file.url)
                };
                stream::once(decoding).boxed()
            }
            false => stream::once(self.clone().download(file.url)).try_flatten().boxed(),
        };
        Output { size, bytes }
    }

    /// The bytes of an output, without the key. Each address that it redirects to is checked as the
    /// first one is.
    async fn download(self, url: String) -> Result<OutputStream, PollError> {
        let mut url = Url::parse(&url).map_err(no_address)?;
        for _ in 0..=OUTPUT_REDIRECTS_MAX {
            let client = if self.is_same_origin(&url) { &self.provider } else { &self.outputs };
            let response = client.open(OutboundRequest::new(Method::GET, url.clone())).await;
            let response = response.map_err(failure)?;
            let target = response.headers().get(LOCATION);
            let target = target.and_then(|target| str::from_utf8(target.as_bytes()).ok());
            if let Some(target) = target.filter(|_| response.status().is_redirection()) {
                url = url.join(target).map_err(no_address)?;
                continue;
            }
            protocol::answer(Part::Output, &response, b"")?;
            let length = response.headers().get(CONTENT_LENGTH);
            let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
            let mib_max = self.setting.output_max_mib;
            if length.is_some_and(|length| length > (mib_max as u64) << 20) {
                return Err(too_large(mib_max));
            }
            return Ok(response.into_body().map_err(failure).boxed());
        }
        Err(PollError::permanent("the address of an output redirects too often"))
    }
}

fn failure(error: OutboundError) -> PollError {
    match error {
        OutboundError::Address(reason) => Permanent(format!("an output: {reason}")),
        error => PollError::transient(format!("an output: {error}")),
    }
}

fn no_address<T>(_: T) -> PollError {
    PollError::permanent("an output: no http or https address")
}

/// The content of a `data:` URL.
fn embedded(url: String) -> Result<Bytes, PollError> {
    let unreadable = || PollError::permanent("an output in a data: address cannot be read");
    let (head, data) = url.split_once(',').ok_or_else(unreadable)?;
    let is_base64 = head.to_ascii_lowercase().ends_with(";base64");
    let mut data = Cow::from(percent_decode_str(data)).into_owned();
    // It may have 64 MiB.
    drop(url);
    if !is_base64 {
        return Ok(data.into());
    }
    data.retain(|byte| !byte.is_ascii_whitespace() && *byte != b'=');
    BASE64_NOPAD.decode(&data).map(Bytes::from).map_err(|_| unreadable())
}

#[async_trait]
impl Provider for QueueProvider {
    async fn submit(&self, request: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        use SubmitError::{Busy, Refused, Unavailable, Unknown};
        let url = protocol::model_url(&self.setting.url, request).map_err(Refused)?;
        let body = fields::submit_body(request, &self.setting.model_fields).map_err(Refused)?;
        let mut post = self.request_with_key(Method::POST, url);
        post.headers_mut().insert(CONTENT_TYPE, JSON);
        *post.body_mut() = Some(body.into());
        let (time, bytes_max) = (QUEUE_SUBMIT_TIMEOUT, QUEUE_RESPONSE_BYTES_MAX);
        let fetched = self.submissions.fetch(post, time, bytes_max, None).await;
        let (response, _) = fetched.map_err(|error| match error {
            OutboundError::Failed(cause) => Unknown(cause),
            error => Unavailable(error.to_string()),
        })?;
        let answer = protocol::answer(Part::Submission, &response, response.body());
        Err(match answer.map_err(|error| self.redacted(error)) {
            Ok(_) => return self.accepted(response.body(), model(request)),
            Err(Transient { cause, retry_after }) => {
                let wait = retry_after.unwrap_or(PROVIDER_BUSY_WAIT);
                Busy(cause, wait.min(PROVIDER_RETRY_AFTER_MAX))
            }
            Err(NotAuthorized(reason)) => SubmitError::NotAuthorized(reason),
            Err(Permanent(reason)) => Refused(reason),
            Err(Doubtful(reason)) => Unknown(reason),
        })
    }

    async fn poll(
        &self,
        ticket: &ProviderTicket,
        request: &GenerationRequest,
    ) -> Result<Progress, PollError> {
        self.progress(ticket, request).await.map_err(|error| self.redacted(error))
    }

    async fn cancel(&self, ticket: &ProviderTicket) -> Result<(), PollError> {
        let Some(url) = RequestUrls::of(ticket)?.cancel else { return Ok(()) };
        let called = self.call(Method::PUT, &url, Part::Status).await;
        called.map(|_| ()).map_err(|error| self.redacted(error))
    }
}
