//! Events that the service sends to a URL, signed as Standard Webhooks 1.0 says, and the URLs
//! with their deliveries. Feature `webhook`.

use std::fmt;

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::Sha256;

use crate::model::declare::{model, open_enum, text};
use crate::model::lenient::{integer, list, timestamp};
use crate::model::{GenerationStatus, JobId, PromptImage, Timestamp, WebhookId};

const HEADERS: [&str; 3] = ["webhook-id", "webhook-timestamp", "webhook-signature"];
/// Most seconds between the time of a request and the clock of its receiver.
const TOLERANCE: i64 = 300;

/// The secret of a webhook, `whsec_…`, or several with spaces between them: then each of them is
/// accepted, and signs. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WebhookSecret(String);

/// Why a request is not an event, or a text not a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// The text is not a secret.
    #[error("the webhook secret is empty or not Base64: use the text that the service has shown")]
    Secret,
    /// A header is missing or unreadable.
    #[error("no valid header `{0}`: refuse the request, unless not all headers were passed on")]
    Header(&'static str),
    /// The request has another time than this machine.
    #[error("sent {0} seconds ago, 300 are allowed: refuse the request, and check the clock")]
    Time(i64),
    /// No signature is that of the secret.
    #[error(
        "no signature is valid: refuse the request; if all are refused, check that the secret is \
         that of this webhook, and that the body has exactly the bytes that arrived"
    )]
    Signature,
    /// The signature is valid, but the body has no event.
    #[error("the signed body is no event; a later version of this crate may know its form")]
    Payload(#[source] serde_json::Error),
}

open_enum! {
    /// What has happened.
    WebhookEventType {
        /// A generation has completed.
        GenerationCompleted = "generation.completed",
        /// A generation has failed.
        GenerationFailed = "generation.failed",
        /// A test of the webhook.
        Test = "webhook.test",
    }
}

/// A verified event. It can arrive more than once, and events arrive in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebhookEvent {
    /// The same each time that this event is sent: an id that was seen before is a repetition.
    pub id: String,
    /// What has happened.
    pub kind: WebhookEventType,
    /// When it happened.
    pub timestamp: Timestamp,
    /// The final status of the generation, if it is about one.
    pub generation: Option<GenerationStatus>,
    /// The images of the generation.
    pub images: Vec<PromptImage>,
    /// All that the service says.
    pub data: Value,
}

impl WebhookSecret {
    /// The secret of this text.
    pub fn new(text: impl Into<String>) -> Result<Self, WebhookError> {
        let secret = Self(text.into());
        secret.keys().map(|_| secret.clone())
    }

    /// The text.
    pub fn expose(&self) -> &str {
        &self.0
    }

    fn keys(&self) -> Result<Vec<Vec<u8>>, WebhookError> {
        let texts = self.0.split_whitespace();
        let texts = texts.map(|text| text.strip_prefix("whsec_").unwrap_or(text).as_bytes());
        let keys = texts.map(|text| BASE64.decode(text)).collect::<Result<Vec<_>, _>>();
        let valid = keys.ok().filter(|keys| !keys.is_empty() && !keys.iter().any(Vec::is_empty));
        valid.ok_or(WebhookError::Secret)
    }

    /// Verifies a request, and returns its event. `headers` are an `http::HeaderMap`, another map, or
    /// pairs; `body` is what arrived, byte for byte. Answer an error with 400, and an event with 200
    /// within 15 seconds, before the work on it.
    pub fn unwrap<N: AsRef<str>, V: AsRef<[u8]>>(
        &self,
        headers: impl IntoIterator<Item = (N, V)>,
        body: impl AsRef<[u8]>,
    ) -> Result<WebhookEvent, WebhookError> {
        self.unwrap_at(headers, body, Timestamp::now())
    }

    /// [`unwrap`](Self::unwrap) with another clock.
    pub fn unwrap_at<N: AsRef<str>, V: AsRef<[u8]>>(
        &self,
        headers: impl IntoIterator<Item = (N, V)>,
        body: impl AsRef<[u8]>,
        now: Timestamp,
    ) -> Result<WebhookEvent, WebhookError> {
        let headers: Vec<_> = headers.into_iter().collect();
        let [id, time, signatures] = HEADERS.map(|wanted| {
            let named = |(name, _): &&(N, V)| name.as_ref().eq_ignore_ascii_case(wanted);
            let value = headers.iter().find(named).map(|(_, value)| value.as_ref().to_vec());
            let value = value.filter(|value| value.is_ascii());
            value.and_then(|v| String::from_utf8(v).ok()).ok_or(WebhookError::Header(wanted))
        });
        let (id, time, signatures, body) = (id?, time?, signatures?, body.as_ref());
        let time: i64 = time.parse().map_err(|_| WebhookError::Header(HEADERS[1]))?;
        let age = now.as_second().saturating_sub(time);
        if !(-TOLERANCE..=TOLERANCE).contains(&age) {
            return Err(WebhookError::Time(age));
        }
        let keys = self.keys()?;
        let mut given = signatures.split(' ').filter_map(|text| text.strip_prefix("v1,"));
        let is_valid = given.any(|text| {
            let given = BASE64.decode(text.as_bytes()).unwrap_or_default();
            keys.iter().any(|key| mac(key, &id, time, body).verify_slice(&given).is_ok())
        });
        if !is_valid {
            return Err(WebhookError::Signature);
        }
        WebhookEvent::parse(id, body).map_err(WebhookError::Payload)
    }

    /// The headers of a request with this id and body, sent at this time.
    pub fn sign(&self, id: &str, at: Timestamp, body: &[u8]) -> [(&'static str, String); 3] {
        let (keys, time) = (self.keys().unwrap_or_default(), at.as_second());
        let signature = |key: &Vec<u8>| mac(key, id, time, body).finalize().into_bytes();
        let all = keys.iter().map(|key| format!("v1,{}", BASE64.encode(&signature(key))));
        let values = [id.to_owned(), time.to_string(), all.collect::<Vec<_>>().join(" ")];
        let [id, time, signatures] = values;
        [(HEADERS[0], id), (HEADERS[1], time), (HEADERS[2], signatures)]
    }
}

fn mac(key: &[u8], id: &str, time: i64, body: &[u8]) -> Hmac<Sha256> {
    #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("a key");
    mac.chain_update(format!("{id}.{time}.")).chain_update(body)
}

impl WebhookEvent {
    fn parse(id: String, body: &[u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Payload {
            r#type: WebhookEventType,
            #[serde(deserialize_with = "timestamp")]
            timestamp: Timestamp,
            data: Value,
        }
        let Payload { r#type: kind, timestamp, data } = serde_json::from_slice(body)?;
        let (mut generation, mut images) = (None, Vec::new());
        if kind.as_str().starts_with("generation.") {
            let mut status = data.clone();
            let found = status.as_object_mut().and_then(|members| members.remove("images"));
            images = found.map(serde_json::from_value).transpose()?.unwrap_or_default();
            generation = Some(serde_json::from_value(status)?);
        }
        Ok(Self { id, kind, timestamp, generation, images, data })
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

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
