//! `/webhooks`: where an account wants its events sent (S-42).

pub(crate) mod deliver;

use std::sync::Arc;

use data_encoding::BASE64;
use http::{Method, StatusCode};
use promptarium::{WebhookId, WebhookSecret, limits, path};
use serde::Serialize;
use serde_json::{Value, json};
use url::Url;

use self::deliver::{Deliverer, message};
use super::import::boolean;
use super::view::Time;
use super::{Api, Handler, HandlerResult, Request, Route};
use crate::clock::after;
use crate::domain::webhook::{Attempt, Delivery, Webhook, WebhookPatch, Webhooks};
use crate::domain::{AccountId, BASE_PATH, Caller};
use crate::http::auth::Access;
use crate::http::error::ApiError;
use crate::http::response::{self, Response};
use crate::http::validate::{
    Field, FieldError, FieldErrors, Form, absolute_url, integer, list as list_of, one_of,
    query_fields, text,
};
use crate::limits::product::WEBHOOK_ROTATION;
use crate::store::StoreError;
use crate::store::webhooks::change_webhooks;

pub(crate) const FIELDS: &[&str] = &["url", "description", "events", "enabled"];
const TOO_MANY: &str = "is one too many: an account has at most 10 webhooks; delete one first";
/// Greater than every id of a delivery.
const AFTER_ALL: &str = "~";
pub(crate) const QUERY: &[&str] = &["limit", "cursor"];
/// The events that a webhook can subscribe to.
pub(crate) const EVENTS: &[(&str, usize)] =
    &[("generation.completed", 0), ("generation.failed", 1)];

/// The routes of webhooks. The secret is in the responses to a creation and a rotation only.
#[rustfmt::skip]
pub fn table() -> Vec<Route> {
    macro_rules! row {
        ($name:literal, $method:ident, $path:ident, |$own:ident, $request:pat_param| $response:expr) => {
            Route {
                name: $name, method: Method::$method, path: path::$path, base: BASE_PATH, access: Access::WriteOrSession,
                handler: Handler::Authed(|api, caller, $request| Box::pin(async move {
                    let $own = api.own_webhooks(caller).await?;
                    Ok($response)
                })),
            }
        };
    }
    vec![
        row!("listWebhooks", GET, WEBHOOKS, |own, _| ok(&own.all().await?.iter().map(view).collect::<Vec<_>>())),
        row!("createWebhook", POST, WEBHOOKS, |own, mut request| {
            let new = request.json(&FIELDS[..3], |form| new_webhook(form, own.deliverer)).await?;
            response::data(StatusCode::CREATED, &with_secret(&own.create(&new).await?))
        }),
        row!("getWebhook", GET, WEBHOOK, |own, request| ok(&view(&own.get(request.id(0)?).await?))),
        row!("updateWebhook", PATCH, WEBHOOK, |own, mut request| {
            let patch = request.json(FIELDS, |form| Some(patch(form, own.deliverer))).await?;
            ok(&view(&own.change(request.id(0)?, |webhook| patch.apply(webhook)).await?))
        }),
        row!("deleteWebhook", DELETE, WEBHOOK, |own, request| {
            own.delete(request.id(0)?).await?;
            ok(&json!({ "id": request.id::<WebhookId>(0)?, "deleted": true }))
        }),
        row!("rotateWebhookSecret", POST, WEBHOOK_ROTATE_SECRET, |own, request| ok(&with_secret(&own.rotate(request.id(0)?).await?))),
        row!("testWebhook", POST, WEBHOOK_TEST, |own, request| ok(&own.test(&own.get(request.id(0)?).await?).await)),
        row!("listWebhookDeliveries", GET, WEBHOOK_DELIVERIES, |own, request| deliveries(&own, &request).await?),
        row!("retryWebhookDelivery", POST, WEBHOOK_DELIVERY_RETRY, |own, request| ok(&delivery_view(&own.retry(&request).await?))),
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

    pub(crate) async fn create(&self, new: &WebhookPatch) -> Result<Webhook, ApiError> {
        let secret = new_secret()?;
        let create = |webhooks: &mut Webhooks| {
            let webhook = webhooks.add(&secret, self.deliverer.clock.now());
            let webhook = webhook.ok_or_else(|| FieldErrors::of("url", TOO_MANY))?;
            new.apply(webhook);
            Ok(webhook.clone())
        };
        change_webhooks(&*self.deliverer.store, self.account, create).await
    }

    pub(crate) async fn change(
        &self,
        id: WebhookId,
        change: impl Fn(&mut Webhook),
    ) -> Result<Webhook, ApiError> {
        change_webhooks(&*self.deliverer.store, self.account, |webhooks| {
            let webhook = webhooks.get_mut(id).ok_or(ApiError::NotFound)?;
            change(webhook);
            Ok(webhook.clone())
        })
        .await
    }

    /// Makes a new secret. The present one signs too for a day.
    pub(crate) async fn rotate(&self, id: WebhookId) -> Result<Webhook, ApiError> {
        let (secret, now) = (new_secret()?, self.deliverer.clock.now());
        self.change(id, |webhook| {
            let before = std::mem::replace(&mut webhook.secret, secret.clone());
            webhook.previous = Some((before, after(now, WEBHOOK_ROTATION)));
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

    /// Newest first, from this id on.
    pub(crate) async fn deliveries(
        &self,
        id: WebhookId,
        first: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Delivery>, ApiError> {
        self.get(id).await?;
        let first = first.unwrap_or(AFTER_ALL);
        Ok(self.deliverer.store.deliveries(self.account, id, first, limit).await?)
    }

    /// Delivers an event again. One that a worker has is being delivered.
    pub(crate) async fn retry(&self, request: &Request<'_>) -> Result<Delivery, ApiError> {
        let wanted = request.params.text(1).filter(|id| Delivery::is_id(id));
        let mut found = self.deliveries(request.id(0)?, wanted.as_deref(), 1).await?;
        let found = found.pop().filter(|one| wanted.as_deref() == Some(&*one.id));
        let (mut delivery, now) = (found.ok_or(ApiError::NotFound)?, self.deliverer.clock.now());
        if !(delivery.is_claimed && delivery.due_at > Some(now)) {
            delivery.due_at = Some(now);
            match self.deliverer.store.put_delivery(&delivery).await {
                Ok(()) | Err(StoreError::LeaseLost) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(delivery)
    }

    /// Sends `webhook.test`, even if the webhook is disabled.
    pub(crate) async fn test(&self, webhook: &Webhook) -> Attempt {
        let now = self.deliverer.clock.now();
        let body = message("webhook.test", now, &json!({ "webhookId": webhook.id }));
        self.deliverer.send(webhook, &Delivery::new_id(now), &body).await.0
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

fn with_secret(webhook: &Webhook) -> Value {
    let mut view = view(webhook);
    view["secret"] = webhook.secret.expose().into();
    view
}

fn delivery_view(delivery: &Delivery) -> Value {
    json!({
        "id": &*delivery.id,
        "event": delivery.details.event,
        "clientJobId": &*delivery.details.client_job_id,
        "status": delivery.status(),
        "attempts": delivery.details.attempts,
        "lastAttempt": delivery.details.last_attempt,
        "nextAttemptAt": delivery.due_at.map(Time),
        "createdAt": Time(delivery.created_at),
    })
}

fn ok(data: &impl Serialize) -> Response {
    response::data(StatusCode::OK, data)
}

async fn deliveries(own: &AccountWebhooks<'_>, request: &Request<'_>) -> HandlerResult {
    let mut form = query_fields(request.parts.uri.query(), QUERY);
    let limit = form.optional("limit", integer(limits::PAGE_SIZE));
    let first = form.optional("cursor", |field: &Field<'_>| {
        let id = text(0..=64)(field)?;
        Delivery::is_id(&id).then_some(id).ok_or("must be the nextCursor of a page".to_owned())
    });
    form.finish()?;
    let limit = limit.unwrap_or(limits::PAGE_SIZE_DEFAULT) as usize;
    let found = own.deliveries(request.id(0)?, first.as_deref(), limit + 1).await?;
    let views: Vec<_> = found.iter().take(limit).map(delivery_view).collect();
    Ok(response::page(&views, found.get(limit).map(|next| &*next.id)))
}

fn new_secret() -> Result<WebhookSecret, StoreError> {
    let text = format!("whsec_{}", BASE64.encode(&rand::random::<[u8; 32]>()));
    WebhookSecret::new(text).map_err(|error| StoreError::Internal(error.into()))
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
