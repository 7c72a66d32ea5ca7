//! Webhooks: where an account wants its events sent, and the deliveries of events.

use std::sync::Arc;

use jiff::Timestamp;
use promptarium::{WebhookEventType, WebhookId, WebhookSecret};
use serde::{Deserialize, Serialize};

use super::{AccountId, PromptImage};

/// How many an account may have.
pub(crate) const WEBHOOKS_MAX: usize = 10;

/// Those of one account. They are stored as one JSON document, which servers of other versions read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Webhooks {
    /// Ids are not used again.
    pub(crate) last_id: i64,
    pub(crate) all: Vec<Webhook>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Webhook {
    pub(crate) id: WebhookId,
    pub(crate) url: Arc<str>,
    pub(crate) description: Option<Arc<str>>,
    pub(crate) events: Vec<WebhookEventType>,
    pub(crate) secret: WebhookSecret,
    /// The secret before, which signs too until this time.
    pub(crate) previous: Option<(WebhookSecret, Timestamp)>,
    /// Since the first of the attempts that failed in a row, at any event.
    pub(crate) failing_since: Option<Timestamp>,
    /// Why it gets no events; `None` if it is enabled.
    pub(crate) disabled: Option<Box<str>>,
    pub(crate) created_at: Timestamp,
}

/// The fields of a webhook to change.
#[derive(Debug, Default)]
pub(crate) struct WebhookPatch {
    pub(crate) url: Option<Arc<str>>,
    pub(crate) description: Option<Option<Arc<str>>>,
    pub(crate) events: Option<Vec<WebhookEventType>>,
    pub(crate) enabled: Option<bool>,
}

impl WebhookPatch {
    pub(crate) fn apply(&self, webhook: &mut Webhook) {
        webhook.url = self.url.clone().unwrap_or_else(|| webhook.url.clone());
        webhook.events = self.events.clone().unwrap_or_else(|| webhook.events.clone());
        webhook.description = self.description.clone().unwrap_or(webhook.description.take());
        match self.enabled {
            Some(true) => (webhook.disabled, webhook.failing_since) = (None, None),
            Some(false) => webhook.disable("its owner has turned it off"),
            None => {}
        }
    }
}

impl Webhook {
    /// A reason that it had before stays.
    pub(crate) fn disable(&mut self, reason: &str) {
        self.disabled.get_or_insert_with(|| reason.into());
    }
}

impl Webhooks {
    /// Adds a webhook without a URL for all events; `None` if there are as many as there may be.
    pub(crate) fn add(&mut self, secret: &WebhookSecret, now: Timestamp) -> Option<&mut Webhook> {
        if self.all.len() >= WEBHOOKS_MAX {
            return None;
        }
        self.last_id += 1;
        self.all.push(Webhook {
            id: WebhookId::new(self.last_id),
            url: "".into(),
            description: None,
            events: WebhookEventType::KNOWN[..2].to_vec(),
            secret: secret.clone(),
            previous: None,
            failing_since: None,
            disabled: None,
            created_at: now,
        });
        self.all.last_mut()
    }

    pub(crate) fn get_mut(&mut self, id: WebhookId) -> Option<&mut Webhook> {
        self.all.iter_mut().find(|webhook| webhook.id == id)
    }

    /// The enabled webhooks that are subscribed to this event.
    pub(crate) fn subscribed(&self, event: &WebhookEventType) -> impl Iterator<Item = WebhookId> {
        let subscribed = |one: &&Webhook| one.disabled.is_none() && one.events.contains(event);
        self.all.iter().filter(subscribed).map(|webhook| webhook.id)
    }
}

/// An event for a webhook, and the result of its delivery.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) account: AccountId,
    pub(crate) webhook: WebhookId,
    /// The header `webhook-id`, the same for every attempt. Later events have higher ids.
    pub(crate) id: Arc<str>,
    /// When the event was.
    pub(crate) created_at: Timestamp,
    /// When a worker may claim it, if one may: for the next attempt, or when a lease expires.
    pub(crate) due_at: Option<Timestamp>,
    pub(crate) is_claimed: bool,
    /// Counts the changes: the fencing token of a claim.
    pub(crate) version: i64,
    pub(crate) details: DeliveryDetails,
}

/// The event and the last attempt, stored as [`Webhooks`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryDetails {
    /// Of the job that has ended.
    pub(crate) client_job_id: Arc<str>,
    pub(crate) event: WebhookEventType,
    pub(crate) images: Arc<[PromptImage]>,
    #[serde(default)]
    pub(crate) attempts: u32,
    #[serde(default)]
    pub(crate) last_attempt: Option<Attempt>,
}

impl Delivery {
    pub(crate) fn new_id(at: Timestamp) -> String {
        format!("msg_{:016x}{:016x}", at.as_microsecond(), rand::random::<u64>())
    }

    pub(crate) fn is_id(text: &str) -> bool {
        text.strip_prefix("msg_")
            .is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }

    pub(crate) fn status(&self) -> &'static str {
        match &self.details.last_attempt {
            _ if self.due_at.is_some() => "pending",
            Some(Attempt { error: None, .. }) => "delivered",
            _ => "failed",
        }
    }
}

/// The response of the receiver to one attempt.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Attempt {
    pub(crate) status_code: Option<u16>,
    /// Why it counts as a failure.
    pub(crate) error: Option<Box<str>>,
    /// The beginning of the response.
    pub(crate) response: Option<Box<str>>,
    pub(crate) duration_ms: u64,
}
