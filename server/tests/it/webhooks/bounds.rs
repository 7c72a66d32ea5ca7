//! Receivers that do what they should not, and addresses that must not be called.

use std::time::Duration;

use promptarium_server::{Clock, ManualClock};

use super::{Backend, SHORT, alice, backends, create, generate, settled};
use crate::support::program::Running;
use crate::support::receiver::{Answer, Receiver};
use crate::support::{TIMEOUT, wait_until};

const DAY: Duration = Duration::from_secs(24 * 3600);

#[tokio::test]
async fn status_410_disables_a_webhook() {
    for backend in backends().await {
        let receiver = Receiver::start(|_| Answer::Status(410));
        let server = backend.start(SHORT).await;
        let client = alice(&server);
        let (id, _) = create(&client, receiver.url("/")).await;
        generate(&client, "local/plasma", "job-1").await;
        receiver.wait_for(1).await;
        assert_eq!(settled(&client, id).await[0].status, "failed");
        let webhook = client.webhooks().get(id).await.unwrap();
        assert_eq!((webhook.enabled, receiver.all().len()), (false, 1), "{}", backend.name);
        assert_eq!(webhook.extra["disabledReason"], "the receiver answered 410");

        let enabled = client.webhooks().update(id).enabled(true).await.unwrap();
        assert!(enabled.enabled && enabled.extra["failingSince"].is_null());
    }
}

#[tokio::test]
async fn a_webhook_that_fails_for_five_days_is_disabled() {
    for backend in backends().await {
        let receiver = Receiver::start(|_| Answer::Status(500));
        let clock = ManualClock::new("2026-03-01T00:00:00Z".parse().unwrap());
        let builder = backend.builder().clock(Clock::Manual(clock.clone()));
        let server = builder.webhook_delays([Duration::ZERO]).start().await.unwrap();
        let client = alice(&server);
        let (id, _) = create(&client, receiver.url("/")).await;
        for (day, later, is_enabled) in [(0, 0, true), (1, 1, true), (4, 3, true), (5, 1, false)] {
            clock.advance(DAY * later);
            generate(&client, "local/plasma", &format!("job-{day}")).await;
            // Each state of a job is later than the one before.
            clock.advance(Duration::from_millis(1));
            let told = format!("job-{day}");
            let is_told = async || {
                settled(&client, id)
                    .await
                    .iter()
                    .any(|one| one.client_job_id.as_str() == told && one.status != "pending")
            };
            wait_until(TIMEOUT, is_told).await.expect("an attempt");
            let webhook = client.webhooks().get(id).await.unwrap();
            assert_eq!(
                webhook.enabled,
                is_enabled,
                "{} {day} {webhook:?} {:?}",
                backend.name,
                webhook.extra.get("failingSince")
            );
        }
    }
}

#[tokio::test]
async fn retry_after_is_respected_if_it_is_longer_than_the_schedule() {
    for backend in backends().await {
        let receiver = Receiver::start(|number| match number {
            0 => Answer::With(503, "retry-after", "2".to_owned()),
            _ => Answer::Status(200),
        });
        let server = backend.start(SHORT).await;
        let client = alice(&server);
        create(&client, receiver.url("/")).await;
        generate(&client, "local/plasma", "job-1").await;
        let all = receiver.wait_for(2).await;
        let waited = all[1].at - all[0].at;
        assert!((1900..10_000).contains(&waited.as_millis()), "{} {waited:?}", backend.name);
    }
}

#[tokio::test]
async fn a_response_without_an_end_counts_by_its_status_and_is_kept_in_part() {
    for backend in backends().await {
        let receiver = Receiver::start(|number| match number {
            0 => Answer::Endless,
            _ => Answer::Stalled,
        });
        let server = backend.start(SHORT).await;
        let client = alice(&server);
        let (id, _) = create(&client, receiver.url("/")).await;
        for (sent, job, kept) in [(1, "job-1", 1024), (2, "job-2", 2)] {
            generate(&client, "local/plasma", job).await;
            receiver.wait_for(sent).await;
            let delivery = settled(&client, id).await.remove(0);
            assert_eq!(
                (&*delivery.status, delivery.attempts),
                ("delivered", 1),
                "{}",
                backend.name
            );
            assert_eq!(delivery.last_attempt.unwrap().response.unwrap().len(), kept);
        }
    }
}

async fn assert_at_most_four_at_once(backend: &Backend, servers: usize) {
    let receiver = Receiver::start(|_| Answer::After(Duration::from_millis(50)));
    let mut all = Vec::new();
    for _ in 0..servers {
        all.push(backend.start(SHORT).await);
    }
    let client = alice(&all[0]);
    create(&client, receiver.url("/")).await;
    for job in 0..40 {
        generate(&client, "local/fail", &format!("job-{job}")).await;
    }
    receiver.wait_for(40).await;
    // A store that is slower than the receiver may have fewer.
    let most = receiver.most_at_once();
    assert!((2..=4).contains(&most), "{}: {most}", backend.name);
}

#[tokio::test]
async fn one_webhook_has_four_deliveries_at_once_of_all_servers_together() {
    for backend in backends().await {
        let servers = if backend.database.is_some() { 3 } else { 1 };
        assert_at_most_four_at_once(&backend, servers).await;
    }
}

/// With a program, as an embedded server allows private addresses.
#[tokio::test]
async fn private_addresses_are_called_only_if_they_are_allowed() {
    let receiver = Receiver::start(|_| Answer::Status(200));
    for (flags, allowed) in [("", false), ("--allow-private-webhooks", true)] {
        let database = promptarium_server::test_support::ScratchDatabase::create().await.unwrap();
        let server = Running::on(&database.url(), flags).await;
        let client = promptarium::Client::new(server.base_url(), server.api_key()).unwrap();
        for url in [
            receiver.url("/"),
            "https://127.0.0.1/".to_owned(),
            "https://[::1]/".to_owned(),
            "https://[::ffff:10.0.0.1]/".to_owned(),
            "https://169.254.169.254/".to_owned(),
            "https://[fd00::1]/".to_owned(),
        ] {
            let created = client.webhooks().create(&*url).await;
            assert_eq!(created.is_ok(), allowed, "{url} {created:?}");
        }
        for url in ["ftp://a.example/", "https://u:p@a.example/", "a.example", "https://"] {
            let error = client.webhooks().create(url).await.unwrap_err();
            assert!(error.field_error("url").is_some(), "{url}: {error}");
        }
        // A name is allowed, and its address is looked at when it is called.
        let (id, _) = create(&client, "https://localhost:1/".to_owned()).await;
        let error = client.webhooks().test(id).await.unwrap().error.unwrap();
        assert_eq!(error.contains("is not a public address"), !allowed, "{error}");
    }
}
