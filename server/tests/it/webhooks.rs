//! Webhooks: events are delivered, signed, retried and bounded. Each test runs with each store.

mod bounds;
mod crowd;
mod outage;
mod pages;

use std::time::Duration;

use promptarium::{Client, Timestamp, Webhook, WebhookEventType, WebhookId};
use promptarium_server::test_support::ScratchDatabase;
use promptarium_server::{Clock, EmbeddedServer, EmbeddedServerBuilder, ManualClock};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::receiver::{Answer, Receiver};
use crate::support::{TIMEOUT, wait_until};

const SHORT: [Duration; 4] = [Duration::from_millis(20); 4];

struct Backend {
    name: &'static str,
    database: Option<ScratchDatabase>,
    folder: Option<TempDir>,
}

async fn backends() -> Vec<Backend> {
    let (database, folder) = (ScratchDatabase::create().await.unwrap(), TempDir::new().unwrap());
    vec![
        Backend { name: "postgres", database: Some(database), folder: None },
        Backend { name: "memory", database: None, folder: None },
        Backend { name: "folder", database: None, folder: Some(folder) },
    ]
}

impl Backend {
    fn builder(&self) -> EmbeddedServerBuilder {
        let builder = EmbeddedServer::builder()
            .seed_key("promptarium_live_a1_s3cret=alice")
            .seed_key("promptarium_live_b1_s3cret=bob");
        match (&self.database, &self.folder) {
            (Some(database), _) => builder.database_url(database.url()),
            (None, Some(folder)) => builder.data(folder.path().join("data")),
            (None, None) => builder,
        }
    }

    async fn start(&self, delays: impl IntoIterator<Item = Duration>) -> EmbeddedServer {
        self.builder().webhook_delays(delays).start().await.unwrap()
    }
}

fn client_of(server: &EmbeddedServer, key: &str) -> Client {
    Client::new(server.base_url(), key).unwrap()
}

fn alice(server: &EmbeddedServer) -> Client {
    client_of(server, "promptarium_live_a1_s3cret")
}

async fn generate(client: &Client, model: &str, job: &str) {
    client.generations().create(model, "A harbour").client_job_id(job).await.unwrap();
}

async fn create(client: &Client, url: String) -> (WebhookId, String) {
    let created = client.webhooks().create(url).await.unwrap();
    (created.id, created.secret.unwrap().expose().to_owned())
}

/// The deliveries of a webhook, when none of them waits any more.
async fn settled(client: &Client, id: WebhookId) -> Vec<promptarium::WebhookDelivery> {
    let all = async || client.webhooks().deliveries(id, None).await.unwrap().items;
    let is_settled = async || all().await.iter().all(|delivery| delivery.status != "pending");
    wait_until(TIMEOUT, is_settled).await.expect("all deliveries have ended");
    all().await
}

#[tokio::test]
async fn an_ended_generation_is_told_with_its_status_and_images() {
    let receiver = Receiver::start(|_| Answer::Status(200));
    for backend in backends().await {
        let (server, before) = (backend.start(SHORT).await, receiver.all().len());
        let client = alice(&server);
        let (id, secret) = create(&client, receiver.url("/hook")).await;
        generate(&client, "local/plasma", "job 1/é").await;
        let told = receiver.wait_for(before + 1).await[before].clone();
        assert_eq!((&*told.path, told.is_signed_by(&secret)), ("/hook", true), "{}", backend.name);
        assert_eq!(told.headers["content-type"], "application/json");
        assert!(told.headers.get("authorization").is_none());
        let event = told.json();
        assert_eq!(event["type"], "generation.completed");
        let status = client.raw_status("job 1/é").await;
        let prompt =
            client.prompts().get(promptarium::PromptId::new(status["promptId"].as_i64().unwrap()));
        let prompt = prompt.await.unwrap();
        let images = event["data"]["images"].as_array().unwrap();
        assert_eq!(images[0]["url"], prompt.images[0].url.as_str());
        assert_eq!(images[0].as_object().unwrap().len(), 4);
        let mut data = event["data"].clone();
        data.as_object_mut().unwrap().remove("images");
        assert_eq!(data, status);
        assert!(told.body.len() < 64 << 10);

        generate(&client, "local/fail", "job-2").await;
        let failed = receiver.wait_for(before + 2).await[before + 1].json();
        assert_eq!(
            (&failed["type"], &failed["data"]["images"]),
            (&json!("generation.failed"), &json!([]))
        );
        assert!(failed["data"]["error"].as_str().is_some_and(|text| !text.is_empty()));
        let deliveries = settled(&client, id).await;
        let states: Vec<_> = deliveries.iter().map(|one| (&*one.status, one.attempts)).collect();
        assert_eq!(states, [("delivered", 1), ("delivered", 1)], "{}", backend.name);
        assert_eq!(deliveries[1].id.as_str(), told.id());
    }
}

trait RawStatus {
    async fn raw_status(&self, job: &str) -> Value;
}

impl RawStatus for Client {
    async fn raw_status(&self, job: &str) -> Value {
        self.generations().status(job).send_with_meta().await.unwrap().meta.data().unwrap()
    }
}

#[tokio::test]
async fn failed_attempts_are_repeated_with_the_same_id_until_one_succeeds() {
    for backend in backends().await {
        let receiver = Receiver::start(|number| match number {
            0 => Answer::Status(500),
            1 => Answer::Reset,
            2 => Answer::With(302, "location", "/elsewhere".to_owned()),
            _ => Answer::Status(204),
        });
        let server = backend.start(SHORT).await;
        let client = alice(&server);
        let (id, secret) = create(&client, receiver.url("/")).await;
        generate(&client, "local/plasma", "job-1").await;
        let all = receiver.wait_for(4).await;
        assert!(all.iter().all(|one| one.is_signed_by(&secret) && one.id() == all[0].id()));
        assert!(all.iter().all(|one| one.path == "/" && one.body == all[0].body));
        let deliveries = settled(&client, id).await;
        assert_eq!((&*deliveries[0].status, deliveries[0].attempts), ("delivered", 4));
        assert_eq!(client.webhooks().get(id).await.unwrap().extra["failingSince"], Value::Null);
    }
}

#[tokio::test]
async fn after_the_last_attempt_a_delivery_has_failed_and_can_be_sent_again() {
    for backend in backends().await {
        let receiver = Receiver::start(|number| Answer::Status(if number < 4 { 503 } else { 200 }));
        let server = backend.start(SHORT).await;
        let client = alice(&server);
        let (id, _) = create(&client, receiver.url("/")).await;
        generate(&client, "local/plasma", "job-1").await;
        receiver.wait_for(4).await;
        let failed = settled(&client, id).await.remove(0);
        assert_eq!((&*failed.status, failed.attempts), ("failed", 4), "{}", backend.name);
        let last = failed.last_attempt.unwrap();
        assert_eq!((last.status_code, last.response.as_deref()), (Some(503), Some("ok")));
        assert!(client.webhooks().get(id).await.unwrap().extra["failingSince"].is_string());

        client.webhooks().retry(id, &failed.id).await.unwrap();
        let all = receiver.wait_for(5).await;
        assert_eq!(all[4].id(), all[0].id());
        assert_eq!(settled(&client, id).await[0].status, "delivered");
    }
}

#[tokio::test]
async fn after_a_rotation_both_secrets_sign_for_a_day() {
    for backend in backends().await {
        let receiver = Receiver::start(|_| Answer::Status(200));
        let clock = ManualClock::new("2026-03-01T00:00:00Z".parse().unwrap());
        let builder = backend.builder().clock(Clock::Manual(clock.clone())).webhook_delays(SHORT);
        let server = builder.start().await.unwrap();
        let client = alice(&server);
        let (id, before) = create(&client, receiver.url("/")).await;
        let rotated = client.webhooks().rotate_secret(id).await.unwrap();
        let after = rotated.secret.unwrap().expose().to_owned();
        let signed_by = async |count: usize| {
            client.webhooks().test(id).await.unwrap();
            let all = receiver.wait_for(count).await;
            let signed = all[count - 1].headers["webhook-signature"].to_str().unwrap().to_owned();
            let body = &all[count - 1].body;
            let at = Timestamp::from_second(
                all[count - 1].headers["webhook-timestamp"].to_str().unwrap().parse().unwrap(),
            );
            let by = |secret: &str| {
                let theirs = standardwebhooks::Webhook::new(secret).unwrap();
                theirs.sign(all[count - 1].id(), at.as_ref().unwrap().as_second(), body).unwrap()
            };
            (signed.clone(), by(&before), by(&after))
        };
        let (signed, old, new) = signed_by(1).await;
        assert_eq!(signed, format!("{new} {old}"), "{}", backend.name);
        clock.advance(Duration::from_secs(24 * 3600 + 1));
        let (signed, _, new) = signed_by(2).await;
        assert_eq!(signed, new, "{}", backend.name);
    }
}

#[tokio::test]
async fn only_webhooks_of_the_account_that_want_the_event_and_exist_are_told() {
    for backend in backends().await {
        let receiver = Receiver::start(|_| Answer::Status(200));
        let server = backend.start(SHORT).await;
        let (alice, bob) = (alice(&server), client_of(&server, "promptarium_live_b1_s3cret"));
        create(&bob, receiver.url("/bob")).await;
        let (deleted, _) = create(&alice, receiver.url("/deleted")).await;
        let failures = alice.webhooks().create(receiver.url("/failures"));
        failures.events(vec![WebhookEventType::GenerationFailed]).await.unwrap();
        create(&alice, receiver.url("/all")).await;
        let (off, _) = create(&alice, receiver.url("/off")).await;
        alice.webhooks().update(off).enabled(false).await.unwrap();
        alice.webhooks().delete(deleted).await.unwrap();
        generate(&alice, "local/plasma", "job-1").await;
        receiver.wait_for(1).await;
        generate(&alice, "local/fail", "job-2").await;
        receiver.wait_for(3).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        let mut paths: Vec<_> = receiver.all().iter().map(|one| one.path.clone()).collect();
        paths.sort();
        assert_eq!(paths, ["/all", "/all", "/failures"], "{}", backend.name);
        assert!(alice.webhooks().get(deleted).await.unwrap_err().is_not_found());
        assert!(bob.webhooks().get(off).await.unwrap_err().is_not_found());
    }
}

#[tokio::test]
async fn deletion_stops_deliveries_that_wait() {
    for backend in backends().await {
        let receiver = Receiver::start(|_| Answer::Status(500));
        let server = backend.start([Duration::ZERO, Duration::from_millis(700)]).await;
        let client = alice(&server);
        let (id, _) = create(&client, receiver.url("/")).await;
        generate(&client, "local/plasma", "job-1").await;
        receiver.wait_for(1).await;
        client.webhooks().delete(id).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(receiver.all().len(), 1, "{}", backend.name);
    }
}

#[tokio::test]
async fn a_test_says_what_the_receiver_said() {
    for backend in backends().await {
        let receiver = Receiver::start(|_| Answer::Status(418));
        let server = backend.start(SHORT).await;
        let client = alice(&server);
        let (id, secret) = create(&client, receiver.url("/")).await;
        let attempt = client.webhooks().test(id).await.unwrap();
        assert_eq!(attempt.status_code, Some(418));
        assert_eq!(attempt.error.as_deref(), Some("the receiver answered 418"));
        assert_eq!(attempt.response.as_deref(), Some("ok"));
        let told = receiver.all().remove(0);
        assert!(told.is_signed_by(&secret));
        assert_eq!(told.json()["type"], "webhook.test");
    }
}

#[tokio::test]
async fn the_secret_is_in_no_later_response_and_not_in_the_export() {
    for backend in backends().await {
        let server = backend.start(SHORT).await;
        let client = alice(&server);
        let (id, secret) = create(&client, "https://receiver.example/hook".to_owned()).await;
        let own = client.webhooks();
        let shown = format!("{:?} {:?}", own.list().await.unwrap(), own.get(id).await.unwrap());
        assert!(!shown.contains(&secret[6..]), "{}", backend.name);
        let Webhook { secret: none, .. } = own.update(id).description("d").await.unwrap();
        assert_eq!(none, None);
    }
}
