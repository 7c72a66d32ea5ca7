//! A provider over HTTP that speaks the queue protocol of fal.ai.
//!
//! A request is posted once to the URL of its model. The response has an id and the URLs of
//! status and result. The status is `IN_QUEUE`, `IN_PROGRESS` or `COMPLETED`; a failed request is
//! a completed one with an `error`. Outputs are downloaded from the URLs in the result.

mod client;
mod media;
mod output;
mod protocol;
mod setting;
#[cfg(test)]
mod stand_in;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use url::Url;

use self::client::QueueClient;
use self::protocol::{OutputFile, Status};
pub(crate) use self::setting::{QueueSetting, QueueSettingError};
use super::{Output, PollError, Progress, Provider, SubmitError};
use crate::domain::{GenerationRequest, OutputKind, ProviderTicket};
use crate::error_chain::error_chain;
use crate::outbound::{Outbound, OutboundError};

/// A client of one provider.
pub(crate) struct QueueProvider(QueueClient);

/// The URLs of a request; the `memo` of its ticket.
#[derive(Debug, Deserialize, Serialize)]
struct ProviderState {
    status: Url,
    response: Url,
}

/// Why a poll ends without progress.
enum PollFailure {
    /// It may succeed later; the cause, for the log.
    Passing(String),
    /// It never will; the reason, for the caller.
    Final(String),
}

use PollFailure::{Final, Passing};

impl QueueProvider {
    /// `provider` is the HTTP client for the provider itself.
    pub(crate) fn new(setting: QueueSetting, provider: Outbound) -> Self {
        Self(QueueClient::new(setting, provider))
    }

    /// The provider's reason in a response that is no success. It might quote the key.
    fn reason(&self, response: &Response<Bytes>) -> String {
        self.0.setting.key.redact(&protocol::reason(response))
    }

    fn accepted(&self, body: &[u8]) -> Result<ProviderTicket, String> {
        let response = protocol::submit_response(body)
            .ok_or("the response to the submission is not readable")?;
        let state = ProviderState { status: response.status_url, response: response.response_url };
        // The key is sent to both URLs.
        if [&state.status, &state.response].iter().any(|url| !self.0.setting.is_same_origin(url)) {
            return Err("the response to the submission has URLs of another host".into());
        }
        let memo = serde_json::to_string(&state).map_err(|error| error.to_string())?;
        Ok(ProviderTicket { request_id: response.request_id.into(), provider_state: memo.into() })
    }

    async fn progress(
        &self,
        ticket: &ProviderTicket,
        request: &GenerationRequest,
    ) -> Result<Progress, PollFailure> {
        let state: ProviderState = serde_json::from_str(&ticket.provider_state)
            .map_err(|_| Passing("the ticket is of another provider".into()))?;
        let response = self.get(&state.status).await?;
        match protocol::status(response.body()) {
            Some(Status::Queued) => Ok(Progress::Queued),
            Some(Status::InProgress) => Ok(Progress::InProgress),
            Some(Status::Completed) => {
                self.outputs(&state.response, request).await.map(Progress::Completed)
            }
            Some(Status::Failed(reason)) => Err(Final(self.0.setting.key.redact(&reason))),
            None => Err(Passing("the status is not readable".into())),
        }
    }

    async fn outputs(
        &self,
        url: &Url,
        request: &GenerationRequest,
    ) -> Result<Vec<Output>, PollFailure> {
        // A model reports that it did not accept its input as a client error here.
        let response = self.get(url).await?;
        let files = protocol::result(response.body(), request.kind)
            .ok_or_else(|| Passing("the result is not readable".into()))?
            .map_err(|error| Final(self.0.setting.key.redact(&error)))?;
        if files.is_empty() {
            return Err(Final("the provider was done and sent nothing".into()));
        }
        let wanted = usize::try_from(request.batch_count).unwrap_or(usize::MAX);
        let mut outputs = Vec::new();
        for file in files.iter().take(wanted) {
            outputs.push(self.output(file, request.kind).await?);
        }
        Ok(outputs)
    }

    /// A successful response of the provider itself.
    async fn get(&self, url: &Url) -> Result<Response<Bytes>, PollFailure> {
        // The ticket may be from before the operator changed the provider.
        if !self.0.setting.is_same_origin(url) {
            return Err(Passing("the request is at another provider".into()));
        }
        let response = self.0.get(url).await.map_err(|error| Passing(error_chain(&error)))?;
        match response.status() {
            status if status.is_success() => Ok(response),
            status if may_pass(status) => Err(Passing(self.reason(&response))),
            _ => Err(Final(self.reason(&response))),
        }
    }

    async fn output(&self, file: &OutputFile, kind: OutputKind) -> Result<Output, PollFailure> {
        let no_address = || Final("an output has no address of the web".into());
        let url = Url::parse(&file.url).map_err(|_| no_address())?;
        let response = self.0.download(&url).await.map_err(|error| match error {
            OutboundError::TooLarge(bytes) => {
                Final(format!("an output is larger than {} MiB", bytes >> 20))
            }
            OutboundError::NotPublic(_) => {
                Final("an output is at an address that is not public".into())
            }
            OutboundError::Address => no_address(),
            error => Passing(format!("an output: {}", error_chain(&error))),
        })?;
        match response.status() {
            status if status.is_success() => {
                output::read(response, file, kind).map_err(|reason| Final(reason.into()))
            }
            status if status.is_redirection() => {
                Err(Final("the address of an output redirects".into()))
            }
            status => Err(Passing(format!("an output: status {}", status.as_u16()))),
        }
    }
}

#[async_trait]
impl Provider for QueueProvider {
    async fn submit(&self, request: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        let url =
            protocol::model_url(&self.0.setting.url, request).map_err(SubmitError::Refused)?;
        let body = protocol::submit_body(request).map_err(SubmitError::Refused)?;
        let response = match self.0.submit(&url, body).await {
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
            Err(Final(reason)) => Ok(Progress::Failed(reason)),
            Err(Passing(cause)) => Err(PollError(cause)),
        }
    }
}

impl std::fmt::Debug for QueueProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueueProvider").field("setting", &self.0.setting).finish_non_exhaustive()
    }
}

/// Whether a status says little about the request: the provider is busy, broken or moved, or
/// refuses the key, which its operator can repair.
fn may_pass(status: StatusCode) -> bool {
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

#[cfg(test)]
mod tests;
