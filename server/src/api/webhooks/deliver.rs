//! The delivery of events: the request, its signature, what the response means, and when the next
//! attempt is.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use jiff::Timestamp;
use promptarium::WebhookSecret;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::api::generations::job_view;
use crate::api::view::Time;
use crate::blobs::urls::Assets;
use crate::clock::Clock;
use crate::domain::webhook::{Attempt, Delivery, Webhook};
use crate::domain::{AccountId, JobKey, JobRecord, Turn};
use crate::error_chain::error_chain;
use crate::generate::worker::pool::{Claimed, Work};
use crate::generate::{Outcomes, count};
use crate::limits::product::{
    WEBHOOK_DELIVERIES_KEPT, WEBHOOK_FAILING_MAX, WEBHOOK_RESPONSE_BYTES_KEPT,
    WEBHOOK_RESPONSE_BYTES_MAX, WEBHOOK_RETRY_AFTER_MAX, WEBHOOK_TIMEOUT, WEBHOOK_WORKERS,
};
use crate::limits::{JOB_DELETE_INTERVAL, JOB_LEASE, JOB_POLL, JOBS_AT_ONCE};
use crate::outbound::{Outbound, OutboundError, OutboundRequest, retry_after};
use crate::store::StoreError;
use crate::store::webhooks::{WebhookStore, change_webhooks};

/// Delivers events. Handlers use it for tests of a webhook.
#[derive(Clone)]
pub(crate) struct Deliverer {
    pub(crate) store: Arc<dyn WebhookStore>,
    pub(crate) outbound: Outbound,
    pub(crate) assets: Assets,
    pub(crate) clock: Clock,
    pub(crate) settings: WebhookSettings,
    /// Of attempts.
    pub(crate) outcomes: Outcomes,
}

/// Settings of the operator.
#[derive(Clone, Debug)]
pub(crate) struct WebhookSettings {
    /// Whether URLs may be those of private networks, and without TLS.
    pub(crate) allow_private: bool,
    /// Before the first attempt, and after each that failed; after the last there is none.
    pub(crate) delays: Arc<[Duration]>,
}

impl Default for WebhookSettings {
    fn default() -> Self {
        let minutes = [0.0, 5.0 / 60.0, 5.0, 30.0, 120.0, 300.0, 600.0, 840.0, 1200.0, 1440.0];
        let delays = minutes.map(|minutes| Duration::from_secs_f64(60.0 * minutes));
        Self { allow_private: false, delays: delays.into() }
    }
}

impl Deliverer {
    /// Sends a request. Returns the response as an attempt, and its `Retry-After`.
    pub(super) async fn send(
        &self,
        webhook: &Webhook,
        id: &str,
        body: &Value,
    ) -> (Attempt, Option<Duration>) {
        let began = Instant::now();
        let exchange = self.exchange(webhook, id, body).await;
        let mut attempt = Attempt::default();
        let mut wait = None;
        let error = match exchange {
            Err(error) => Some(error.to_string()),
            Ok((status, headers, bytes)) => {
                let kept = &bytes[..bytes.len().min(WEBHOOK_RESPONSE_BYTES_KEPT)];
                let text = String::from_utf8_lossy(kept).replace('\0', "\u{fffd}");
                attempt.status_code = Some(status.as_u16());
                attempt.response = Some(text.into());
                wait = retry_after(&headers).map(|wait| wait.min(WEBHOOK_RETRY_AFTER_MAX));
                match status {
                    _ if status.is_success() => None,
                    _ if status.is_redirection() => Some("redirects are not followed".to_owned()),
                    _ => Some(format!("the receiver answered {}", status.as_u16())),
                }
            }
        };
        attempt.error = error.map(Into::into);
        attempt.duration_ms = began.elapsed().as_millis() as u64;
        (attempt, wait)
    }

    async fn exchange(
        &self,
        webhook: &Webhook,
        id: &str,
        body: &Value,
    ) -> Result<(StatusCode, HeaderMap, Vec<u8>), OutboundError> {
        let invalid = |error: &str| OutboundError::Address(error.to_owned());
        let url = Url::parse(&webhook.url).map_err(|_| invalid("the URL is not valid"))?;
        if url.scheme() != "https" && !self.settings.allow_private {
            return Err(invalid("the URL is not one of https"));
        }
        let (body, now) = (body.to_string(), self.clock.now());
        let mut request = OutboundRequest::new(Method::POST, url);
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in secrets(webhook, now).sign(id, now, body.as_bytes()) {
            headers.insert(name, value.parse().map_err(|_| invalid("the signature is not valid"))?);
        }
        *request.body_mut() = Some(body.into());
        let deadline = Instant::now() + WEBHOOK_TIMEOUT;
        let late = |_| {
            OutboundError::Failed(format!("no response within {} s", WEBHOOK_TIMEOUT.as_secs()))
        };
        let opened = timeout_at(deadline, self.outbound.open(request)).await;
        let (head, mut pieces) = opened.map_err(late)??.into_parts();
        let mut bytes = Vec::new();
        // The status decides. Reading the body lets the receiver finish.
        while let (true, Ok(Some(Ok(piece)))) =
            (bytes.len() < WEBHOOK_RESPONSE_BYTES_MAX, timeout_at(deadline, pieces.next()).await)
        {
            bytes.extend_from_slice(&piece);
        }
        Ok((head.status, head.headers, bytes))
    }

    /// Attempts a delivery, and records what came of it.
    async fn deliver(&self, mut delivery: Delivery) -> Result<(), StoreError> {
        let account = delivery.account;
        let (_, mut webhooks) = self.store.webhooks(account).await?;
        let webhook = webhooks.get_mut(delivery.webhook).filter(|one| one.disabled.is_none());
        let client_job_id = delivery.details.client_job_id.clone();
        let body = match self.store.job_by_key(&JobKey { account, client_job_id }).await {
            Err(StoreError::NotFound) => None,
            job => payload(&delivery, &job?, &self.assets),
        };
        let to = webhook.as_deref().zip(body);
        let (attempt, wait) = match &to {
            Some((webhook, body)) => self.send(webhook, &delivery.id, body).await,
            None => (Attempt { error: Some(NOT_SENT.into()), ..Attempt::default() }, None),
        };
        let attempts = delivery.details.attempts + 1;
        let is_retried =
            attempt.error.is_some() && to.is_some() && attempt.status_code != Some(410);
        let next = self.settings.delays.get(attempts as usize).filter(|_| is_retried);
        delivery.due_at = next.and_then(|delay| {
            let delay = delay.mul_f64(rand::random_range(1.0..1.2));
            // Whole microseconds, as databases keep them.
            let delay = Duration::from_micros(delay.as_micros() as u64);
            self.clock.now().checked_add(delay.max(wait.unwrap_or_default())).ok()
        });
        let outcome = match (&attempt.error, delivery.due_at) {
            (None, _) => "delivered",
            (_, Some(_)) => "retried",
            _ => "failed",
        };
        count(&self.outcomes, outcome);
        if let Some((webhook, _)) = to {
            self.note_health(account, webhook, &attempt).await?;
        }
        (delivery.details.attempts, delivery.details.last_attempt) = (attempts, Some(attempt));
        self.store.put_delivery(&delivery).await
    }

    /// Records whether a webhook fails, and disables one that does for too long.
    async fn note_health(
        &self,
        account: AccountId,
        webhook: &Webhook,
        attempt: &Attempt,
    ) -> Result<(), StoreError> {
        let (now, has_failed) = (self.clock.now(), attempt.error.is_some());
        let failing = webhook.failing_since.map(|since| now.duration_since(since).unsigned_abs());
        let reason = match attempt.status_code {
            Some(410) => Some("the receiver answered 410"),
            _ if has_failed && failing >= Some(WEBHOOK_FAILING_MAX) => Some("it failed for 5 days"),
            _ if has_failed == failing.is_some() => return Ok(()),
            _ => None,
        };
        change_webhooks(&*self.store, account, |all| {
            if let Some(webhook) = all.get_mut(webhook.id) {
                let since = webhook.failing_since.unwrap_or(now);
                webhook.failing_since = has_failed.then_some(since);
                reason.into_iter().for_each(|reason| webhook.disable(reason));
            }
            Ok::<_, StoreError>(())
        })
        .await?;
        if let Some(reason) = reason {
            let (account, id, host) = (account.0, webhook.id, host(&webhook.url));
            tracing::warn!(account, %id, host, reason, "a webhook is disabled");
        }
        Ok(())
    }
}

/// Why nothing is sent.
const NOT_SENT: &str = "the webhook is disabled, or the generation is deleted";

/// The secrets that sign at this time.
fn secrets(webhook: &Webhook, now: Timestamp) -> WebhookSecret {
    let previous = webhook.previous.as_ref().filter(|(_, until)| *until > now);
    let both =
        previous.map(|(before, _)| format!("{} {}", webhook.secret.expose(), before.expose()));
    both.and_then(|both| WebhookSecret::new(both).ok()).unwrap_or_else(|| webhook.secret.clone())
}

/// For the log: the rest of a URL may be a secret.
fn host(url: &str) -> String {
    Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

pub(super) fn message(kind: &str, at: Timestamp, data: &Value) -> Value {
    json!({ "type": kind, "timestamp": Time(at), "data": data })
}

/// `None` if the job is not as the event says: one that was lost may have been found since.
fn payload(delivery: &Delivery, job: &JobRecord, assets: &Assets) -> Option<Value> {
    let event = delivery.details.event.as_str();
    let mut data = job_view(job);
    if event.strip_prefix("generation.") != data["status"].as_str() {
        return None;
    }
    let images = delivery.details.images.iter().map(|image| {
        json!({
            "url": assets.write(&image.source),
            "width": image.width,
            "height": image.height,
            "createdAt": Time(image.created_at),
        })
    });
    data["images"] = images.collect();
    Some(message(event, delivery.created_at, &data))
}

impl Work for Deliverer {
    type Claim = Delivery;

    fn at_once(&self) -> usize {
        WEBHOOK_WORKERS
    }

    async fn claim(&self, turn: &Turn) -> Claimed<Delivery> {
        let claim = self.store.claim_delivery(JOB_LEASE, turn).await?;
        Ok(claim.map(|delivery| (delivery.account, delivery)))
    }

    async fn due(&self, at_most: Duration, _: &[AccountId]) {
        let poll = JOB_POLL.mul_f64(rand::random_range(0.75..0.9));
        let _ = timeout(at_most.min(poll), self.store.deliveries_changed()).await;
    }

    /// If it is stopped, the delivery is claimed again when the lease expires.
    async fn process(self, claim: Delivery, stop: CancellationToken) -> Result<(), StoreError> {
        stop.run_until_cancelled(self.deliver(claim)).await.unwrap_or(Ok(()))
    }

    async fn clean_up(self) {
        loop {
            match self.store.delete_old_deliveries(WEBHOOK_DELIVERIES_KEPT).await {
                Ok(JOBS_AT_ONCE) => continue,
                Ok(_) => {}
                Err(error) => {
                    let error = error_chain(&error);
                    tracing::warn!(error, "old deliveries of events could not be deleted");
                }
            }
            sleep(JOB_DELETE_INTERVAL).await;
        }
    }
}
