//! Receivers that are down for days, and servers that are killed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use promptarium::{Client, WebhookDelivery, WebhookId};
use promptarium_server::test_support::ScratchDatabase;
use promptarium_server::{Clock, ManualClock};
use tokio::time::sleep;

use super::{alice, backends, create, generate, settled};
use crate::support::program::Server;
use crate::support::receiver::{Answer, Receiver};
use crate::support::{TIMEOUT, wait_until};

/// The schedule that a program has if nothing else is set.
const SECONDS: [u64; 10] = [0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400];

#[tokio::test]
async fn a_receiver_that_was_down_for_three_days_gets_the_event_then() {
    for backend in backends().await {
        let down = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        let is_down = down.clone();
        let receiver =
            Receiver::start(move |_| match is_down.load(std::sync::atomic::Ordering::SeqCst) {
                true => Answer::Reset,
                false => Answer::Status(200),
            });
        let clock = ManualClock::new("2026-03-01T00:00:00Z".parse().unwrap());
        let builder = backend.builder().clock(Clock::Manual(clock.clone()));
        let server =
            builder.webhook_delays(SECONDS.map(Duration::from_secs)).start().await.unwrap();
        let client = alice(&server);
        let (id, _) = create(&client, receiver.url("/")).await;
        generate(&client, "local/fail", "job-1").await;
        // Each state of a job is later than the one before.
        let ended = client.generations().wait("job-1").await;
        assert!(ended.unwrap_err().is_job_failed());
        clock.advance(Duration::from_millis(1));
        let mut elapsed = Duration::ZERO;
        for (attempt, seconds) in SECONDS.into_iter().enumerate().skip(1) {
            receiver.wait_for(attempt).await;
            let deliveries = async || client.webhooks().deliveries(id, None).await.unwrap().items;
            let is_noted = async || deliveries().await[0].attempts == attempt as u64;
            wait_until(TIMEOUT, is_noted).await.expect("the attempt is recorded");
            // The jitter adds a fifth at most.
            let delay = Duration::from_secs(seconds);
            let next = deliveries().await[0].next_attempt_at.unwrap();
            let wait = next.duration_since(clock_now(&clock)).unsigned_abs();
            assert!((delay..=delay.mul_f64(1.2)).contains(&wait), "{attempt}: {wait:?}");
            clock.advance(wait);
            elapsed += wait;
            if elapsed > Duration::from_secs(3 * 24 * 3600) {
                down.store(false, std::sync::atomic::Ordering::SeqCst);
                receiver.wait_for(attempt + 1).await;
                break;
            }
        }
        let ended = settled(&client, id).await.remove(0);
        assert_eq!(ended.status, "delivered", "{} after {elapsed:?}", backend.name);
        println!("{}: delivered at attempt {} after {elapsed:?}", backend.name, ended.attempts);
    }
}

fn clock_now(clock: &ManualClock) -> promptarium::Timestamp {
    Clock::Manual(clock.clone()).now()
}

/// Two replicas, one of which is killed and started again while 200 jobs end, and a receiver that
/// fails 3 of 10 requests.
#[tokio::test]
async fn after_a_kill_and_a_rolling_restart_every_event_has_arrived_and_none_is_invented() {
    let receiver =
        Receiver::start(|number| Answer::Status(if number % 10 < 3 { 500 } else { 200 }));
    let database = ScratchDatabase::create().await.unwrap();
    let key = "promptarium_live_a1_s3cret";
    let flags = format!(
        "--database-url {} --blob-store=memory: --seed-key {key}=alice --drain-delay 0 \
         --allow-private-webhooks --webhook-delays 0,0.1,0.2,0.4,0.8,1,1,1,1,1",
        database.url()
    );
    let folder = tempfile::TempDir::new().unwrap();
    let one = Server::start(folder.path().join("one"), &flags).await;
    let mut two = Server::start(folder.path().join("two"), &flags).await;
    let at =
        |server: &Server| Client::new(format!("http://{}/api/v1", server.address), key).unwrap();
    let client = at(&one);
    let (id, secret) = create(&client, receiver.url("/")).await;
    generate_during_a_kill(&client, &mut two).await;
    // The rolling restart: the new one serves before the old one stops.
    let three = Server::start(folder.path().join("three"), &flags).await;
    let mut one = one;
    one.process.take().unwrap().stop().await;
    let client = at(&three);
    let ends = async || {
        let mut ended = 0;
        for job in 0..200 {
            let status = client.generations().status(format!("job-{job}")).await.unwrap();
            ended += usize::from(status.state.is_final());
        }
        ended == 200
    };
    wait_until(2 * TIMEOUT, ends).await.expect("all jobs end");
    let settled =
        async || all_deliveries(&client, id).await.iter().all(|one| one.status != "pending");
    wait_until(2 * TIMEOUT, settled).await.expect("all deliveries end");
    sleep(Duration::from_millis(500)).await;

    let deliveries = all_deliveries(&client, id).await;
    let known: BTreeMap<_, _> = deliveries.iter().map(|one| (one.id.as_str(), one)).collect();
    let all = receiver.all();
    let mut accepted = BTreeMap::<&str, usize>::new();
    for (number, request) in all.iter().enumerate() {
        assert!(request.is_signed_by(&secret) && known.contains_key(request.id()), "invented");
        if number % 10 >= 3 {
            *accepted.entry(request.id()).or_default() += 1;
        }
    }
    let jobs: BTreeSet<_> = deliveries.iter().map(|one| one.client_job_id.as_str()).collect();
    assert_eq!((deliveries.len(), jobs.len()), (200, 200));
    assert_eq!(accepted.len(), 200, "every event was received");
    let repeated = accepted.values().filter(|count| **count > 1).count();
    let failed = all.len() - accepted.values().sum::<usize>();
    println!(
        "200 jobs, {} events, {} requests, {failed} refused, {repeated} accepted more than once",
        accepted.len(),
        all.len()
    );
    // Only what the killed server was delivering: at most four at once.
    assert!(repeated <= 4, "{repeated}");
}

/// Queues 200 jobs; the other server is killed and started again meanwhile.
async fn generate_during_a_kill(client: &Client, other: &mut Server) {
    for job in 0..200 {
        let model = if job % 4 == 0 { "local/fail" } else { "local/plasma" };
        generate(client, model, &format!("job-{job}")).await;
        match job {
            60 => other.kill().await,
            90 => other.start_again().await,
            _ => {}
        }
    }
}

async fn all_deliveries(client: &Client, id: WebhookId) -> Vec<WebhookDelivery> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let page = client.webhooks().deliveries(id, cursor.as_ref()).await.unwrap();
        cursor = page.next_cursor.clone();
        all.extend(page.items);
        if cursor.is_none() {
            return all;
        }
    }
}
