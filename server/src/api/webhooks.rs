//! `/webhooks`: where an account wants its events sent (S-42).

pub(crate) mod deliver;

use std::sync::Arc;

use data_encoding::{BASE64, HEXLOWER};
use http::{Method, StatusCode};
use promptarium::{WebhookId, WebhookSecret, limits, path};
use serde_json::{Value, json};
use url::Url;

use self::deliver::{Deliverer, delivery_id, message};
use super::import::boolean;
use super::route::{Handler, Route};
use super::view::Time;
use super::{Api, HandlerResult, Request};
use crate::domain::webhook::{Attempt, Delivery, DeliveryId, Webhook, WebhookPatch};
use crate::domain::{AccountId, BASE_PATH, Caller};
use crate::http::auth::Access;
use crate::http::error::ApiError;
use crate::http::response;
use crate::http::validate::{
    Field, FieldError, FieldErrors, Form, absolute_url, integer, list as list_of, one_of,
    query_fields, text,
};
use crate::limits::product::WEBHOOK_ROTATION;
use crate::store::StoreError;
use crate::store::webhooks::change_webhooks;

pub(crate) const FIELDS: &[&str] = &["url", "description", "events", "enabled"];
const TOO_MANY: &str = "is one too many: an account has at most 10 webhooks; delete one first";
pub(crate) const QUERY: &[&str] = &["limit", "cursor"];
/// The events that a webhook can subscribe to.
pub(crate) const EVENTS: &[(&str, usize)] =
    &[("generation.completed", 0), ("generation.failed", 1)];

/// The routes of webhooks.
#[rustfmt::skip]
pub fn table() -> Vec<Route> {
    macro_rules! row {
        ($name:literal, $method:ident, $path:ident, $handler:path) => {
            Route {
                name: $name, method: Method::$method, path: path::$path, base: BASE_PATH, access: Access::WriteOrSession,
                handler: Handler::Authed(|api, caller, request| Box::pin($handler(api, caller, request))),
            }
        };
    }
    vec![
        row!("listWebhooks", GET, WEBHOOKS, list),
        row!("createWebhook", POST, WEBHOOKS, create),
        row!("getWebhook", GET, WEBHOOK, get),
        row!("updateWebhook", PATCH, WEBHOOK, update),
        row!("deleteWebhook", DELETE, WEBHOOK, delete),
        row!("rotateWebhookSecret", POST, WEBHOOK_ROTATE_SECRET, rotate_secret),
        row!("testWebhook", POST, WEBHOOK_TEST, test),
        row!("listWebhookDeliveries", GET, WEBHOOK_DELIVERIES, deliveries),
        row!("retryWebhookDelivery", POST, WEBHOOK_DELIVERY_RETRY, retry),
    ]
}

/// The webhooks of an account whose key was checked; the methods of the store do not check it.
pub(crate) struct AccountWebhooks<'a> {
    pub(crate) deliverer: &'a Deliverer,
    account: AccountId,
}

impl Api {
    pub(crate) async fn own_webhooks(
        &self,
        caller: &Caller,
    ) -> Result<AccountWebhooks<'_>, ApiError> {
        self.store.confirm_key(caller).await?;
        let deliverer = self.extensions.get().ok_or(ApiError::NotFound)?;
        Ok(AccountWebhooks { deliverer, account: caller.account })
    }
}

impl AccountWebhooks<'_> {
    /// Newest first.
    pub(crate) async fn all(&self) -> Result<Vec<Webhook>, ApiError> {
        let (_, mut webhooks) = self.deliverer.store.webhooks(self.account).await?;
        webhooks.all.reverse();
        Ok(webhooks.all)
    }

    pub(crate) async fn get(&self, id: WebhookId) -> Result<Webhook, ApiError> {
        self.all().await?.into_iter().find(|one| one.id == id).ok_or(ApiError::NotFound)
    }

    /// Creates a webhook, or changes the one of this id.
    pub(crate) async fn set(
        &self,
        id: Option<WebhookId>,
        patch: &WebhookPatch,
    ) -> Result<Webhook, ApiError> {
        let now = self.deliverer.clock.now();
        let text = format!("whsec_{}", BASE64.encode(&rand::random::<[u8; 32]>()));
        let secret =
            WebhookSecret::new(text).map_err(|error| StoreError::Internal(error.into()))?;
        change_webhooks(&*self.deliverer.store, self.account, |webhooks| {
            let webhook = match id {
                Some(id) => webhooks.get_mut(id).ok_or(ApiError::NotFound)?,
                None => {
                    webhooks.add(&secret, now).ok_or_else(|| FieldErrors::of("url", TOO_MANY))?
                }
            };
            patch.apply(webhook);
            if patch.new_secret {
                let until = now.checked_add(WEBHOOK_ROTATION).unwrap_or(now);
                let before = std::mem::replace(&mut webhook.secret, secret.clone());
                webhook.previous = Some((before, until));
            }
            Ok(webhook.clone())
        })
        .await
    }

    pub(crate) async fn delete(&self, id: WebhookId) -> Result<(), ApiError> {
        change_webhooks(&*self.deliverer.store, self.account, |webhooks| {
            webhooks.get_mut(id).ok_or(ApiError::NotFound)?;
            webhooks.all.retain(|webhook| webhook.id != id);
            Ok(())
        })
        .await
    }

    pub(crate) async fn deliveries(
        &self,
        id: WebhookId,
        before: Option<DeliveryId>,
        limit: usize,
    ) -> Result<Vec<Delivery>, ApiError> {
        self.get(id).await?;
        Ok(self.deliverer.store.deliveries(self.account, id, before, limit).await?)
    }

    /// Delivers an event again.
    pub(crate) async fn retry(&self, request: &Request<'_>) -> Result<Delivery, ApiError> {
        let delivery = request.params.text(1).and_then(|text| delivery_of(&text));
        let (id, delivery) = (request.id(0)?, delivery.ok_or(ApiError::NotFound)?);
        self.get(id).await?;
        Ok(self.deliverer.store.retry_delivery(self.account, id, delivery).await?)
    }

    /// Sends `webhook.test`, even if the webhook is disabled.
    pub(crate) async fn test(&self, webhook: &Webhook) -> Attempt {
        let id = delivery_id(rand::random());
        let data = json!({ "webhookId": webhook.id });
        let body = message("webhook.test", self.deliverer.clock.now(), &data);
        self.deliverer.send(webhook, &id, &body).await.0
    }
}

fn view(webhook: &Webhook) -> Value {
    json!({
        "id": webhook.id,
        "url": &*webhook.url,
        "description": webhook.description.as_deref(),
        "events": &webhook.events,
        "enabled": webhook.disabled.is_none(),
        "disabledReason": webhook.disabled.as_deref(),
        "failingSince": webhook.failing_since.map(Time),
        "createdAt": Time(webhook.created_at),
    })
}

fn with_secret(status: StatusCode, webhook: &Webhook) -> HandlerResult {
    let mut view = view(webhook);
    view["secret"] = webhook.secret.expose().into();
    Ok(response::data(status, &view))
}

fn delivery_view(delivery: &Delivery) -> Value {
    json!({
        "id": delivery_id(delivery.id),
        "event": delivery.details.event,
        "clientJobId": &*delivery.details.client_job_id,
        "status": delivery.status(),
        "attempts": delivery.details.attempts,
        "lastAttempt": delivery.details.last_attempt,
        "nextAttemptAt": delivery.due_at.map(Time),
        "createdAt": Time(delivery.created_at),
    })
}

async fn list(api: &Api, caller: &Caller, _: Request<'_>) -> HandlerResult {
    let webhooks = api.own_webhooks(caller).await?.all().await?;
    Ok(response::data(StatusCode::OK, &webhooks.iter().map(view).collect::<Vec<_>>()))
}

/// The response is the only one with the secret, except for a rotation.
async fn create(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let own = api.own_webhooks(caller).await?;
    let new = request.json(&FIELDS[..3], |form| new_webhook(form, own.deliverer)).await?;
    with_secret(StatusCode::CREATED, &own.set(None, &new).await?)
}

async fn get(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let webhook = api.own_webhooks(caller).await?.get(request.id(0)?).await?;
    Ok(response::data(StatusCode::OK, &view(&webhook)))
}

async fn update(api: &Api, caller: &Caller, mut request: Request<'_>) -> HandlerResult {
    let own = api.own_webhooks(caller).await?;
    let patch = request.json(FIELDS, |form| Some(patch(form, own.deliverer))).await?;
    let webhook = own.set(Some(request.id(0)?), &patch).await?;
    Ok(response::data(StatusCode::OK, &view(&webhook)))
}

async fn delete(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let id: WebhookId = request.id(0)?;
    api.own_webhooks(caller).await?.delete(id).await?;
    Ok(response::data(StatusCode::OK, &json!({ "id": id, "deleted": true })))
}

async fn rotate_secret(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let patch = WebhookPatch { new_secret: true, ..WebhookPatch::default() };
    let own = api.own_webhooks(caller).await?;
    with_secret(StatusCode::OK, &own.set(Some(request.id(0)?), &patch).await?)
}

async fn test(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let own = api.own_webhooks(caller).await?;
    let webhook = own.get(request.id(0)?).await?;
    Ok(response::data(StatusCode::OK, &own.test(&webhook).await))
}

async fn deliveries(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let mut form = query_fields(request.parts.uri.query(), QUERY);
    let limit = form.optional("limit", integer(limits::PAGE_SIZE));
    let before = form.optional("cursor", |field: &Field<'_>| {
        let text = text(0..=64)(field)?;
        delivery_of(&text).ok_or("must be the nextCursor of an earlier page".to_owned())
    });
    form.finish()?;
    let limit = limit.unwrap_or(limits::PAGE_SIZE_DEFAULT) as usize;
    let own = api.own_webhooks(caller).await?;
    let mut found = own.deliveries(request.id(0)?, before, limit + 1).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|last| delivery_id(last.id));
    let views: Vec<_> = found.iter().map(delivery_view).collect();
    Ok(response::page(&views, next.as_deref()))
}

async fn retry(api: &Api, caller: &Caller, request: Request<'_>) -> HandlerResult {
    let delivery = api.own_webhooks(caller).await?.retry(&request).await?;
    Ok(response::data(StatusCode::OK, &delivery_view(&delivery)))
}

pub(crate) fn delivery_of(id: &str) -> Option<DeliveryId> {
    HEXLOWER.decode(id.strip_prefix("msg_")?.as_bytes()).ok()?.try_into().ok()
}

pub(crate) fn new_webhook(form: &mut Form<'_>, deliverer: &Deliverer) -> Option<WebhookPatch> {
    form.require("url");
    let new = patch(form, deliverer);
    new.url.is_some().then_some(new)
}

fn patch(form: &mut Form<'_>, deliverer: &Deliverer) -> WebhookPatch {
    let events = form.optional("events", list_of(1..=EVENTS.len(), one_of(EVENTS)));
    WebhookPatch {
        url: form.optional("url", |field| webhook_url(field, deliverer)),
        description: form.nullable("description", text(0..=limits::WEBHOOK_DESCRIPTION_CHARS_MAX)),
        // Each once, in one order.
        events: events.map(|given| {
            let names = EVENTS.iter().filter(|(_, at)| given.contains(at));
            names.map(|(name, _)| (*name).into()).collect()
        }),
        enabled: form.optional("enabled", boolean),
        new_secret: false,
    }
}

fn webhook_url(field: &Field<'_>, deliverer: &Deliverer) -> Result<Arc<str>, FieldError> {
    let text = absolute_url(field)?;
    let url = Url::parse(&text).map_err(|error| error.to_string())?;
    match url.scheme() {
        "https" => {}
        "http" if deliverer.settings.allow_private => {}
        _ => return Err("must be a URL of https".to_owned()),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain a user name or a password".to_owned());
    }
    // A name is resolved at each attempt.
    deliverer.outbound.check(&url).map_err(|error| format!("cannot be used: {error}"))?;
    Ok(text)
}
