//! Webhooks and the results of their deliveries.

use crate::model::extra::model;
use crate::model::id::text;
use crate::model::lenient::{integer, list};
use crate::model::webhook::{WebhookEventType, WebhookSecret};
use crate::model::{JobId, Timestamp, WebhookId};

text! {
    /// The id of a delivery, and of its event: the header `webhook-id`.
    #[derive(Debug)]
    WebhookDeliveryId
}

model! {
    /// A URL of the account that the service calls.
    pub struct Webhook {
        /// The id.
        pub id: WebhookId,
        /// The URL.
        pub url: String,
        /// What it is for.
        pub description: Option<String>,
        /// The events that it gets.
        #[serde(default, deserialize_with = "list")]
        pub events: Vec<WebhookEventType>,
        /// Whether it gets events. The service turns it off if it fails for days.
        pub enabled: bool,
        /// Its secret, if it was just created or changed.
        pub secret: Option<WebhookSecret>,
    }
}

model! {
    /// An attempt to deliver an event.
    pub struct WebhookAttempt {
        /// The status of the response.
        pub status_code: Option<u64>,
        /// Why there was no response, or why it counts as a failure.
        pub error: Option<String>,
        /// The beginning of the response.
        pub response: Option<String>,
        /// How long it took.
        #[serde(deserialize_with = "integer")]
        pub duration_ms: u64,
    }
}

model! {
    /// An event for a webhook.
    pub struct WebhookDelivery {
        /// The id.
        pub id: WebhookDeliveryId,
        /// What has happened.
        pub event: WebhookEventType,
        /// The generation.
        pub client_job_id: JobId,
        /// `pending`, `delivered` or `failed`.
        pub status: String,
        /// The number of attempts.
        #[serde(deserialize_with = "integer")]
        pub attempts: u64,
        /// The last of them.
        pub last_attempt: Option<WebhookAttempt>,
        /// When the next one is.
        pub next_attempt_at: Option<Timestamp>,
    }
}
