//! Receivers that hang, and many deliveries of one account, do not delay those of another.

use std::time::{Duration, Instant};

use futures::future::join_all;
use promptarium::Client;

use super::{SHORT, alice, backends, client_of, create, generate};
use crate::support::receiver::{Answer, Receiver};

/// Queues a failing generation, which ends at once, and returns when its event has arrived.
async fn told(client: &Client, receiver: &Receiver, job: &str) -> Duration {
    let (began, before) = (Instant::now(), receiver.all().len());
    generate(client, "local/fail", job).await;
    receiver.wait_for(before + 1).await;
    began.elapsed()
}

async fn median(client: &Client, receiver: &Receiver, name: &str) -> Duration {
    let mut times = Vec::new();
    for job in 0..9 {
        times.push(told(client, receiver, &format!("{name}-{job}")).await);
    }
    times.sort();
    times[4]
}

#[tokio::test]
async fn hanging_receivers_delay_neither_jobs_nor_events_of_others() {
    for backend in backends().await {
        let (hanging, good) =
            (Receiver::start(|_| Answer::Never), Receiver::start(|_| Answer::Status(200)));
        let server = backend.start(SHORT).await;
        let (alice, bob) = (alice(&server), client_of(&server, "promptarium_live_b1_s3cret"));
        create(&bob, good.url("/")).await;
        let before = median(&bob, &good, "before").await;
        for hook in 0..10 {
            create(&alice, hanging.url(&format!("/{hook}"))).await;
        }
        let names: Vec<_> = (0..12).map(|job| format!("h-{job}")).collect();
        join_all(names.iter().map(|name| generate(&alice, "local/fail", name))).await;
        // Half of the workers: one account has no more.
        hanging.wait_for(32).await;
        let during = median(&bob, &good, "during").await;
        let began = Instant::now();
        let status = alice.generations().create("local/fail", "A harbour").client_job_id("own");
        status.await.unwrap();
        let ended = alice.generations().wait("own").await.unwrap_err();
        assert!(ended.is_job_failed());
        let own = began.elapsed();
        println!("{}: before {before:?}, during {during:?}, own job {own:?}", backend.name);
        assert!(during < Duration::from_secs(2) && own < Duration::from_secs(5));
        assert_eq!(hanging.most_at_once(), 32, "{}", backend.name);
    }
}

#[tokio::test]
async fn ten_thousand_deliveries_of_one_account_let_those_of_another_arrive_in_two_seconds() {
    for backend in backends().await {
        let (slow, good) = (
            Receiver::start(|_| Answer::After(Duration::from_millis(20))),
            Receiver::start(|_| Answer::Status(200)),
        );
        let server = backend.start(SHORT).await;
        let (alice, bob) = (alice(&server), client_of(&server, "promptarium_live_b1_s3cret"));
        create(&bob, good.url("/")).await;
        // Ten webhooks, so that a thousand jobs are ten thousand deliveries.
        for hook in 0..10 {
            create(&alice, slow.url(&format!("/{hook}"))).await;
        }
        for batch in 0..25 {
            let names: Vec<_> = (0..40).map(|job| format!("a-{batch}-{job}")).collect();
            join_all(names.iter().map(|name| generate(&alice, "local/fail", name))).await;
        }
        let arrived = slow.all().len();
        assert!(arrived < 9_000, "too few wait: {arrived} arrived");
        let mut worst = Duration::ZERO;
        for job in 0..5 {
            worst = worst.max(told(&bob, &good, &format!("b-{job}")).await);
        }
        println!("{}: {arrived} of 10000 had arrived, the worst of bob {worst:?}", backend.name);
        assert!(worst < Duration::from_secs(2), "{} {worst:?}", backend.name);
    }
}
