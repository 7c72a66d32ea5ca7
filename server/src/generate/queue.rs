//! A provider that is spoken to over HTTP, by the queue protocol of fal.ai.
//!
//! An order is posted once to the model's address. The answer names the request
//! and says where to ask for its status and its result; the status is `IN_QUEUE`,
//! `IN_PROGRESS` or `COMPLETED`, and a failed request is a completed one with an
//! `error`. Outputs are fetched from where the result says, without the key.
//!
//! Nothing here is tried twice: a post must not be, and what is asked for is asked
//! for again by the worker.

mod answer;
mod errand;
mod media;
mod output;
mod setting;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use serde::{Deserialize, Serialize};
use url::Url;

use self::answer::Status;
pub use self::setting::{QueueSetting, QueueSettingFault};
use super::{PollError, Progress, Provider, SubmitError};
use crate::domain::{GenerationRequest, ProviderTicket};
use crate::error_chain::error_chain;
use crate::outbound::{AddressPolicy, Limits, Outbound, OutboundError};

/// Speaks to one provider.
pub struct QueueProvider {
    setting: QueueSetting,
    /// To the provider.
    provider: Outbound,
    /// To the provider, for orders.
    submitting: Outbound,
    /// To the addresses of outputs.
    outputs: Outbound,
}

/// Where to ask for a request; kept with the job.
#[derive(Debug, Deserialize, Serialize)]
struct Memo {
    status: Url,
    response: Url,
}

impl QueueProvider {
    /// `provider` is the client that reaches the provider; that for outputs is made
    /// here.
    pub fn new(setting: QueueSetting, provider: Outbound) -> Self {
        let outputs =
            if setting.private_outputs { AddressPolicy::Any } else { AddressPolicy::Public };
        Self {
            submitting: provider.with_new_connections(),
            outputs: provider.with_policy(outputs),
            provider,
            setting,
        }
    }

    /// A question to the provider itself, with the key.
    async fn ask(&self, url: &Url) -> Result<Response<Bytes>, PollError> {
        if !self.setting.is_of_provider(url) {
            return Err(PollError("the request is at another provider".into()));
        }
        let request = self.request(Request::get(uri(url).map_err(PollError)?), Bytes::new());
        let answer = self.provider.fetch(request.map_err(PollError)?, self.setting.asking).await;
        answer.map_err(|error| PollError(error_chain(&error)))
    }

    fn request(
        &self,
        builder: http::request::Builder,
        body: Bytes,
    ) -> Result<Request<Bytes>, String> {
        builder
            .header(AUTHORIZATION, self.setting.key.header())
            .header(ACCEPT, HeaderValue::from_static("application/json"))
            .body(body)
            .map_err(|error| error.to_string())
    }

    /// What the provider says in an answer that is no success; without the key,
    /// should it repeat that.
    fn reason(&self, answer: &Response<Bytes>) -> String {
        self.setting.key.hidden_in(&answer::reason(answer))
    }

    /// The outputs of a request that has completed.
    async fn result(&self, memo: &Memo, order: &GenerationRequest) -> Result<Progress, PollError> {
        let answer = self.ask(&memo.response).await?;
        match answer.status() {
            status if status.is_success() => {}
            status if may_pass(status) => {
                return Err(PollError(format!("the result: {}", self.reason(&answer))));
            }
            // So the protocol tells that a model did not accept its input.
            _ => return Ok(Progress::Failed(self.reason(&answer))),
        }
        let Some(result) = answer::result(answer.body()) else {
            return Err(PollError("the result is not readable".into()));
        };
        if let Some(error) = result.error() {
            return Ok(Progress::Failed(self.setting.key.hidden_in(&error)));
        }
        let files = result.files(order.kind);
        if files.is_empty() {
            return Ok(Progress::Failed("the provider was done and sent nothing".into()));
        }
        let asked = usize::try_from(order.batch_count).unwrap_or(usize::MAX);
        let mut outputs = Vec::new();
        for file in files.into_iter().take(asked) {
            match self.fetch(&file, order.kind).await {
                Ok(output) => outputs.push(output),
                Err(output::Fault::Passing(reason)) => return Err(PollError(reason)),
                Err(output::Fault::Lasting(reason)) => return Ok(Progress::Failed(reason)),
            }
        }
        Ok(Progress::Completed(outputs))
    }
}

#[async_trait]
impl Provider for QueueProvider {
    async fn submit(&self, order: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        let url = errand::address(&self.setting.url, order).map_err(SubmitError::Refused)?;
        let builder = Request::post(uri(&url).map_err(SubmitError::Refused)?)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = errand::body(order).map_err(SubmitError::Refused)?;
        let request = self.request(builder, body).map_err(SubmitError::Refused)?;
        let answer = match self.submitting.fetch(request, self.setting.submitting).await {
            Ok(answer) => answer,
            Err(error) if error.nothing_was_sent() => {
                return Err(SubmitError::Unavailable(error_chain(&error)));
            }
            Err(error) => return Err(SubmitError::Unknown(error_chain(&error))),
        };
        let status = answer.status();
        if status.is_success() {
            return self.taken(answer.body()).map_err(SubmitError::Unknown);
        }
        let reason = self.reason(&answer);
        Err(match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                SubmitError::Unavailable(reason)
            }
            StatusCode::UNAUTHORIZED => {
                SubmitError::Refused("it does not accept the key of this service".into())
            }
            // It gave up waiting for something it may have had.
            StatusCode::REQUEST_TIMEOUT => SubmitError::Unknown(reason),
            status if status.is_client_error() => SubmitError::Refused(reason),
            _ => SubmitError::Unknown(reason),
        })
    }

    async fn poll(
        &self,
        ticket: &ProviderTicket,
        order: &GenerationRequest,
    ) -> Result<Progress, PollError> {
        let memo: Memo = serde_json::from_str(&ticket.memo)
            .map_err(|_| PollError("a ticket of another provider".into()))?;
        let answer = self.ask(&memo.status).await?;
        match answer.status() {
            status if status.is_success() => {}
            status if may_pass(status) => {
                return Err(PollError(format!("the status: {}", self.reason(&answer))));
            }
            _ => return Ok(Progress::Failed(self.reason(&answer))),
        }
        match answer::status(answer.body()) {
            Some(Status::Queued) => Ok(Progress::Queued),
            Some(Status::AtWork) => Ok(Progress::AtWork),
            Some(Status::Done) => self.result(&memo, order).await,
            Some(Status::Failed(reason)) => {
                Ok(Progress::Failed(self.setting.key.hidden_in(&reason)))
            }
            None => Err(PollError("the status is not readable".into())),
        }
    }
}

impl QueueProvider {
    /// Reads the answer to an order that was taken.
    fn taken(&self, body: &[u8]) -> Result<ProviderTicket, String> {
        let Some(taken) = answer::taken(body) else {
            return Err("the answer to the order is not readable".into());
        };
        let memo = Memo { status: taken.status_url, response: taken.response_url };
        // The key goes along with each question, so it matters whom we ask.
        if [&memo.status, &memo.response].iter().any(|url| !self.setting.is_of_provider(url)) {
            return Err("the answer to the order names an address of somebody else".into());
        }
        let memo = serde_json::to_string(&memo).map_err(|error| error.to_string())?;
        Ok(ProviderTicket { request_id: taken.request_id.into(), memo: memo.into() })
    }
}

impl std::fmt::Debug for QueueProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueueProvider").field("setting", &self.setting).finish_non_exhaustive()
    }
}

/// Whether an answer says little about the request: the provider is busy or broken,
/// was moved, or does not accept the key, which its operator can mend.
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

fn uri(url: &Url) -> Result<Uri, String> {
    url.as_str().parse().map_err(|_| "an address that cannot be called".to_owned())
}

#[cfg(test)]
mod tests;
