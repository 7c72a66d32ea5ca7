//! The retry budget that all calls of a client share.

use std::time::Duration;

use promptarium::transport::Failure;
use promptarium::{Client, ClientBuilder, PromptId, RetryBudget};

use crate::stub::{Raw, Scripted, envelope, every, prompt, response};

fn dead() -> Scripted {
    Scripted::new(|_| Err(Failure::connecting("nobody there")))
}

fn builder(script: &Scripted) -> ClientBuilder {
    let builder = Client::builder().base_url("http://h/api/v1").api_key("k");
    builder.transport(script.clone())
}

async fn thousand_calls(client: &Client) {
    for _ in 0..1000 {
        client.clone().prompts().get(PromptId::new(7)).await.unwrap_err();
    }
}

#[tokio::test(start_paused = true)]
async fn a_thousand_calls_to_a_dead_server_are_at_most_1200_requests() {
    let script = dead();
    thousand_calls(&builder(&script).build().unwrap()).await;
    let sent = script.times().len();
    assert!((1100..=1200).contains(&sent), "{sent}");
}

#[tokio::test]
async fn a_thousand_calls_at_once_to_one_that_hangs_up_are_at_most_1200_requests() {
    let server = every(Raw::new("")).await;
    let client = Client::builder().base_url(format!("http://{}", server.address)).api_key("k");
    let (short, long) = (Duration::from_millis(1), Duration::from_millis(5));
    let policy = promptarium::RetryPolicy::new().initial_backoff(short).max_backoff(long);
    let client = client.retry(policy).build().unwrap();
    let calls = (0..1000).map(|_| client.prompts().get(PromptId::new(7)).into_future());
    let outcomes = futures::future::join_all(calls).await;
    assert!(outcomes.iter().all(Result::is_err));
    let sent = server.count();
    assert!((1000..=1200).contains(&sent), "{sent}");
}

#[tokio::test(start_paused = true)]
async fn a_budget_may_be_shared_by_clients_and_be_without_limit() {
    let (script, budget) = (dead(), RetryBudget::new().reserve(10).percent(0));
    for _ in 0..2 {
        thousand_calls(&builder(&script).retry_budget(budget.clone()).build().unwrap()).await;
    }
    assert_eq!(script.times().len(), 2010);

    let script = dead();
    let unlimited = builder(&script).retry_budget(RetryBudget::unlimited());
    thousand_calls(&unlimited.build().unwrap()).await;
    assert_eq!(script.times().len(), 3000);
}

/// The number of attempts of a call that fails.
async fn attempts(client: &Client) -> u32 {
    client.prompts().get(PromptId::new(7)).await.unwrap_err().attempts()
}

#[tokio::test(start_paused = true)]
async fn a_reserve_is_spent_once_and_earned_again_by_calls() {
    let budget = RetryBudget::new().reserve(2).percent(10);
    let client = builder(&dead()).retry_budget(budget).build().unwrap();
    let mut counts = Vec::new();
    for _ in 0..21 {
        counts.push(attempts(&client).await);
    }
    assert_eq!(counts, [3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn no_more_than_the_reserve_is_saved() {
    let mut requests = 0;
    let script = Scripted::new(move |_| {
        requests += 1;
        match requests {
            1..=10 => Ok(response(200, envelope(&prompt(7)).to_string())),
            _ => Err(Failure::connecting("nobody there")),
        }
    });
    let budget = RetryBudget::new().reserve(1).percent(100);
    let client = builder(&script).retry_budget(budget).build().unwrap();
    for _ in 0..10 {
        client.prompts().get(PromptId::new(7)).await.unwrap();
    }
    assert_eq!(attempts(&client).await, 2);
}
