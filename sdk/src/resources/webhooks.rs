//! The account's webhooks: one method for each endpoint.

use http::Method;

use super::Webhooks;
use crate::call::Call;
use crate::macros::{body, call, optional};
use crate::model::WebhookEventType;
use crate::model::{
    Cursor, Deleted, Page, Webhook, WebhookAttempt, WebhookDelivery, WebhookDeliveryId, WebhookId,
};
use crate::path;
use crate::send::reply::Reply;
use crate::send::request::Request;

impl Webhooks {
    /// All webhooks of the account, newest first.
    pub fn list(&self) -> Call<Vec<Webhook>> {
        self.client.call(Request::new(Method::GET, path::WEBHOOKS, path::WEBHOOKS))
    }

    /// Creates a webhook. The response has its secret, which is not shown again.
    pub fn create(&self, url: impl Into<String>) -> SetWebhook {
        SetWebhook { context: self.client.context(), id: None, body: Fields::default() }.url(url)
    }

    /// Reads one webhook.
    pub fn get(&self, id: WebhookId) -> Call<Webhook> {
        self.client.call(Request::new(Method::GET, path::WEBHOOK, path::webhook(id)))
    }

    /// Changes the fields that are set, and no others.
    pub fn update(&self, id: WebhookId) -> SetWebhook {
        SetWebhook { context: self.client.context(), id: Some(id), body: Fields::default() }
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
        Call::new(self.client.context(), request.query("cursor", after), Reply::page)
    }

    /// Delivers an event once more, now.
    pub fn retry(&self, id: WebhookId, delivery: &WebhookDeliveryId) -> Call<WebhookDelivery> {
        let path = path::webhook_delivery_retry(id, delivery.as_str());
        self.client.call(Request::new(Method::POST, path::WEBHOOK_DELIVERY_RETRY, path))
    }
}

body! {
    Fields {
        url: String,
        description: Option<String>,
        events: Vec<WebhookEventType>,
        enabled: bool,
    }
}

/// Fields of the webhook.
impl SetWebhook {
    optional! {
        /// The URL.
        url, set_url => body.url: String;
        /// What it is for.
        description, set_description => body.description: String;
        /// The events that it gets; by default all.
        events, set_events => body.events: Vec<WebhookEventType>;
        /// Whether it gets events; not for a new one.
        enabled, set_enabled => body.enabled: bool;
    }
}

call! {
    /// Creates or changes a webhook: `POST /webhooks`, `PATCH /webhooks/{webhookId}`; returned by
    /// [`Webhooks::create`] and [`Webhooks::update`].
    SetWebhook { id: Option<WebhookId>, body: Fields } -> Webhook,
    |call| match call.id {
        None => Request::new(Method::POST, path::WEBHOOKS, path::WEBHOOKS),
        Some(id) => Request::new(Method::PATCH, path::WEBHOOK, path::webhook(id)),
    }.json(&call.body),
    Reply::data
}
