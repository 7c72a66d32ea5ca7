//! The webhooks of the account: the list, one webhook with its last deliveries, its secret, tests.

use promptarium::WebhookId;

use super::prelude::*;
use crate::api::webhooks::{EVENTS, new_webhook};
use crate::domain::webhook::{Attempt, Delivery, WEBHOOKS_MAX, Webhook, WebhookPatch};

/// Deliveries that the page of a webhook shows.
const SHOWN: usize = 20;

pub(crate) async fn list(visit: Visit<'_>) -> HandlerResult {
    page(&visit, Entered::default()).await
}

async fn page(visit: &Visit<'_>, entered: Entered) -> HandlerResult {
    let webhooks = visit.api.own_webhooks(&visit.caller).await?.all().await?;
    let help = format!("The server calls it. An account has at most {WEBHOOKS_MAX} webhooks.");
    let events = [(String::new(), "All of them".to_owned())].into_iter();
    let events = events.chain(EVENTS.iter().map(|(name, _)| ((*name).into(), (*name).into())));
    let fields = vec![
        Field::new("url", "URL", Input::Line).required().help(help),
        Field::new("description", "What it is for", Input::Line),
        Field::new("events", "Events", Input::Select(events.collect())),
    ];
    let content = html! {
        p { "A webhook is told when a generation ends, by a signed request to its URL." }
        (list_of(&webhooks, |webhook| html! {
            li {
                strong { a href=(visit.at(&address_of(webhook.id, ""))) { (typed(&webhook.url, 100)) } }
                (about(visit, webhook))
            }
        }))
        h2 #new { "New webhook" }
        (entered.form(&visit.api.site, &Form::new("Create webhook", fields)))
    };
    Ok(visit.page("webhooks", "Webhooks").response(entered.status(), &content))
}

fn about(visit: &Visit<'_>, webhook: &Webhook) -> Markup {
    let events: Vec<_> = webhook.events.iter().map(ToString::to_string).collect();
    html! {
        p .soft {
            @if let Some(text) = &webhook.description { (typed(text, 200)) " · " }
            (events.join(", ")) " · created " (visit.ago(webhook.created_at))
            @if let Some(reason) = &webhook.disabled { " · " span .bad { "Disabled: " (reason) } }
            @else if let Some(since) = webhook.failing_since {
                " · " span .bad { "Failing" } " since " (visit.ago(since))
            }
        }
    }
}

fn address_of(id: WebhookId, action: &str) -> String {
    format!("webhooks/{id}{action}")
}

/// `POST /webhooks`, with the secret as a new key is shown; see [`super::keys::create`].
pub(crate) async fn create(visit: Visit<'_>) -> HandlerResult {
    let own = visit.api.own_webhooks(&visit.caller).await?;
    let mut created = None;
    let outcome = visit.once(async {
        let mut form = form_fields(&visit.sent, &["url", "description"]);
        let new = new_webhook(&mut form, own.deliverer);
        let mut new = form.finish_with(new)?;
        let wanted = visit.entered.value("events");
        if EVENTS.iter().any(|(name, _)| *name == wanted) {
            new.events = Some(vec![wanted.into()]);
        }
        created = Some(own.create(&new).await?);
        Ok(done_address("webhooks", "created"))
    });
    let outcome = ready(outcome.await);
    match created {
        Some(webhook) => secret(&visit, &webhook),
        None => visit.form(Entered::default(), outcome, |entered| page(&visit, entered)).await,
    }
}

fn secret(visit: &Visit<'_>, webhook: &Webhook) -> HandlerResult {
    let content = html! {
        p { "This secret signs the requests to " strong { (typed(&webhook.url, 100)) } "." }
        div .card {
            p { strong { "Copy it now." } " It is shown this once." }
            pre data-copy="Copy the secret" tabindex="0" role="region" aria-label="Secret" {
                (webhook.secret.expose())
            }
        }
        p { (visit.link(&address_of(webhook.id, ""), "I have copied it; show the webhook")) }
    };
    visit.page("webhooks", "Secret of the webhook").show(&content)
}

pub(crate) async fn show(visit: Visit<'_>) -> HandlerResult {
    let webhook = visit.api.own_webhooks(&visit.caller).await?.get(visit.request.id(0)?).await?;
    shown(&visit, &webhook, None).await
}

async fn shown(visit: &Visit<'_>, webhook: &Webhook, test: Option<&Attempt>) -> HandlerResult {
    let own = visit.api.own_webhooks(&visit.caller).await?;
    let deliveries = own.deliveries(webhook.id, None, SHOWN).await?;
    let at = |action: &str| address_of(webhook.id, action);
    let button = |action: &str, text: &str| visit.post(&at(action), &html! { button { (text) } });
    let content = html! {
        p { strong { (typed(&webhook.url, 200)) } }
        (about(visit, webhook))
        @if let Some(test) = test { div .card role="status" { p { "The test: " (outcome(test)) } } }
        div .buttons {
            (button("/test", "Send a test"))
            @if webhook.disabled.is_some() { (button("/enable", "Enable")) }
            @else { (button("/disable", "Disable")) }
            (visit.ask("New secret", "The present one signs too for 24 hours.", &at("/secret"),
                &html! { button { "Make a new secret" } }))
            (visit.ask("Delete", "Its deliveries are deleted too.", &at("/delete"),
                &html! { button .danger { "Delete the webhook" } }))
        }
        h2 { "Last deliveries" }
        @if deliveries.is_empty() { p .empty { "No generation has ended since it was created." } }
        (list_of(&deliveries, |delivery| entry(visit, delivery)))
    };
    visit.page("webhooks", "Webhook").show(&content)
}

fn outcome(attempt: &Attempt) -> Markup {
    html! {
        @match (&attempt.error, attempt.status_code) {
            (Some(error), _) => span .bad { (error) },
            (None, status) => span .good { "received, status " (status.unwrap_or_default()) },
        }
        " in " (attempt.duration_ms) " ms"
        @if let Some(text) = attempt.response.as_deref().filter(|text| !text.is_empty()) {
            details { summary { "Response" } pre { (text) } }
        }
    }
}

fn entry(visit: &Visit<'_>, delivery: &Delivery) -> Markup {
    let details = &delivery.details;
    let again = address_of(delivery.webhook, &format!("/deliveries/{}/retry", delivery.id));
    html! {
        li {
            strong { (details.event.as_str()) } " of "
            (visit.link(&job_page(&details.client_job_id), &shortened(&details.client_job_id, 40)))
            p .soft {
                (delivery.status()) " · " (visit.ago(delivery.created_at)) " · "
                (counted(details.attempts, "attempt"))
                @if let Some(at) = delivery.due_at { " · next " (visit.ago(at)) }
            }
            @if let Some(attempt) = &details.last_attempt { div .soft { (outcome(attempt)) } }
            (visit.post(&again, &html! { button { "Send again" } }))
        }
    }
}

/// What the buttons of a page do.
pub(crate) async fn act(visit: Visit<'_>) -> HandlerResult {
    let own = visit.api.own_webhooks(&visit.caller).await?;
    let id = visit.request.id(0)?;
    match visit.request.params.text(1).as_deref() {
        Some("test") => {
            let webhook = own.get(id).await?;
            let attempt = own.test(&webhook).await;
            shown(&visit, &webhook, Some(&attempt)).await
        }
        Some("secret") => secret(&visit, &own.rotate(id).await?),
        Some(action @ ("enable" | "disable")) => {
            let patch =
                WebhookPatch { enabled: Some(action == "enable"), ..WebhookPatch::default() };
            own.change(id, |webhook| patch.apply(webhook)).await?;
            visit.done(&address_of(id, ""), "changed")
        }
        Some("delete") => {
            own.delete(id).await?;
            visit.done("webhooks", "webhook-deleted")
        }
        _ => Err(ApiError::NotFound),
    }
}

pub(crate) async fn retry(visit: Visit<'_>) -> HandlerResult {
    visit.api.own_webhooks(&visit.caller).await?.retry(&visit.request).await?;
    visit.done(&address_of(visit.request.id(0)?, ""), "sent-again")
}
