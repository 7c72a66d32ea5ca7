//! The account's webhooks: one method for each endpoint.

use http::Method;

use super::Webhooks;
use crate::call::{Call, Write};
use crate::macros::{body, optional};
use crate::model::WebhookEventType;
use crate::model::{
    Cursor, Deleted, Page, Webhook, WebhookAttempt, WebhookDelivery, WebhookDeliveryId, WebhookId,
};
use crate::path;
use crate::send::reply::RawResponse;
use crate::send::request::Request;

impl Webhooks {
    /// All webhooks of the account, newest first.
    pub fn list(&self) -> Call<Vec<Webhook>> {
        self.client.call(Request::new(Method::GET, path::WEBHOOKS, path::WEBHOOKS))
    }

    /// Creates a webhook. The response has its secret, which is not shown again.
    pub fn create(&self, url: impl Into<String>) -> SetWebhook {
        let request = Request::new(Method::POST, path::WEBHOOKS, path::WEBHOOKS);
        self.client.write(request, WebhookFields::default()).url(url)
    }

    /// Reads one webhook.
    pub fn get(&self, id: WebhookId) -> Call<Webhook> {
        self.client.call(Request::new(Method::GET, path::WEBHOOK, path::webhook(id)))
    }

    /// Changes the fields that are set, and no others.
    pub fn update(&self, id: WebhookId) -> SetWebhook {
        let request = Request::new(Method::PATCH, path::WEBHOOK, path::webhook(id));
        self.client.write(request, WebhookFields::default())
    }

    /// Deletes a webhook, with the deliveries that wait.
    pub fn delete(&self, id: WebhookId) -> Call<Deleted<WebhookId>> {
        self.client.call(Request::new(Method::DELETE, path::WEBHOOK, path::webhook(id)))
    }

    /// Makes a new secret, which is in the response. The one before signs too, for 24 hours.
    pub fn rotate_secret(&self, id: WebhookId) -> Call<Webhook> {
        let path = path::webhook_rotate_secret(id);
        self.client.call(Request::new(Method::POST, path::WEBHOOK_ROTATE_SECRET, path))
    }

    /// Sends `webhook.test` now, and returns the response of the receiver.
    pub fn test(&self, id: WebhookId) -> Call<WebhookAttempt> {
        let path = path::webhook_test(id);
        self.client.call(Request::new(Method::POST, path::WEBHOOK_TEST, path))
    }

    /// A page of the deliveries of the last days, newest first.
    pub fn deliveries(&self, id: WebhookId, after: Option<&Cursor>) -> Call<Page<WebhookDelivery>> {
        let path = path::webhook_deliveries(id);
        let request = Request::new(Method::GET, path::WEBHOOK_DELIVERIES, path);
        Call::new(self.client.context(), request.query("cursor", after), RawResponse::page)
    }

    /// Delivers an event once more, now.
    pub fn retry(&self, id: WebhookId, delivery: &WebhookDeliveryId) -> Call<WebhookDelivery> {
        let path = path::webhook_delivery_retry(id, delivery.as_str());
        self.client.call(Request::new(Method::POST, path::WEBHOOK_DELIVERY_RETRY, path))
    }
}

body! {
    /// Fields of a webhook.
    pub WebhookFields {
        url: String,
        description: Option<String>,
        events: Vec<WebhookEventType>,
        enabled: bool,
    }
}

/// Creates or changes a webhook: `POST /webhooks`, `PATCH /webhooks/{webhookId}`; returned by
/// [`Webhooks::create`] and [`Webhooks::update`].
pub type SetWebhook = Call<Webhook, Write<WebhookFields>>;

/// Fields of the webhook.
impl Call<Webhook, Write<WebhookFields>> {
    optional! {
        /// The URL.
        url, set_url => builder.fields.url: String;
        /// What it is for.
        description, set_description => builder.fields.description: String;
        /// The events that it gets; by default all.
        events, set_events => builder.fields.events: Vec<WebhookEventType>;
        /// Whether it gets events; not for a new one.
        enabled, set_enabled => builder.fields.enabled: bool;
    }
}
