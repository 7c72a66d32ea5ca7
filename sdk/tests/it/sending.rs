//! What every awaitable offers: `send` for tasks and joins, and options for all of its requests.

use std::future::Future;
use std::time::Duration;

use futures::future::{join_all, try_join_all};
use promptarium::testing::{Answer, FakeService, Script, client, fixture};
use promptarium::{
    Client, Error, PromptId, PromptType, RetryPolicy, VaultId, VaultPromptId, Visibility,
};
use serde_json::json;
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);
const PROMPT: PromptId = PromptId::new(7);

/// Runs this in a task, which needs a future that owns all it uses.
fn spawned<T: Send + 'static>(
    future: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> tokio::task::JoinHandle<bool> {
    tokio::spawn(async move { future.await.is_err() })
}

#[tokio::test(start_paused = true)]
async fn every_awaitable_can_be_sent_in_a_task() {
    let script = Script::new();
    script.any().always(Answer::error(400, "no"));
    let client = client(&script);
    let (prompts, vaults, contents) =
        (client.prompts(), client.vaults(), client.vault(VaultId::new(3)));
    let (generations, uploads, assets) = (client.generations(), client.uploads(), client.assets());
    let membership = VaultPromptId::new(21);
    let tasks = vec![
        spawned(prompts.get(PROMPT).send()),
        spawned(prompts.get_opt(PROMPT).send()),
        spawned(prompts.list().send()),
        spawned(prompts.list().prompt_type(PromptType::Image).collect()),
        spawned(prompts.create("t", "p").send()),
        spawned(prompts.update(PROMPT).title("t").send()),
        spawned(prompts.delete(PROMPT).send()),
        spawned(prompts.save(PROMPT, VaultId::new(3)).send()),
        spawned(vaults.list().send()),
        spawned(vaults.create("n").visibility(Visibility::Public).send()),
        spawned(vaults.update(VaultId::new(3)).name("n").send()),
        spawned(vaults.fork(VaultId::new(3)).send()),
        spawned(contents.list().send()),
        spawned(contents.find(PROMPT).send()),
        spawned(contents.add([PROMPT]).send()),
        spawned(contents.pin(membership).send()),
        spawned(generations.create("m", "p").send()),
        spawned(generations.create("m", "p").and_wait().send()),
        spawned(generations.status("job-1").send()),
        spawned(generations.wait("job-1").send()),
        spawned(uploads.image(fixture::png()).send()),
        spawned(uploads.slot(promptarium::ImageContentType::Png, 9).send()),
        spawned(assets.download("https://cdn.example/a.png").send()),
        spawned(assets.download("https://cdn.example/a.png").save("/nowhere/a.png").send()),
        spawned(client.get("/usage").send()),
        spawned(client.post("/usage").json(&7).send()),
    ];
    for (number, task) in tasks.into_iter().enumerate() {
        assert!(task.await.unwrap(), "{number}");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_uploads_and_waits_can_be_joined() {
    let service = FakeService::new();
    let client = service.client();
    let created = (0..5).map(|number| client.prompts().create(format!("{number}"), "p").send());
    let ids: Vec<_> = try_join_all(created).await.unwrap().iter().map(|prompt| prompt.id).collect();
    let read = ids.iter().map(|id| client.prompts().get(*id).send());
    assert!(join_all(read).await.iter().all(Result::is_ok));
    let uploads = (0..3).map(|_| client.uploads().image(fixture::png()).send());
    assert_eq!(try_join_all(uploads).await.unwrap().len(), 3);
    let generate = || client.generations().create("local/plasma", "A harbour").and_wait().send();
    let (one, two) = tokio::join!(generate(), generate());
    assert_eq!((one.unwrap().images().count(), two.unwrap().images().count()), (1, 1));
    // A wait that borrows is joined too, within its function.
    let mut states = 0;
    let create = client.generations().create("local/plasma", "A harbour");
    let wait = create.and_wait().on_change(|_| states += 1).send();
    tokio::try_join!(wait, client.vaults().list().send()).unwrap();
    assert!(states >= 2);
}

/// A service that completes a job at its second poll and finds its output in the vault.
fn generating() -> Script {
    let script = Script::new();
    script.post("/generations").always(Answer::data(&json!({})).status(202));
    let status = script.get("/generations/{clientJobId}/status");
    let status = status.answer(Answer::data(&json!({ "status": "queued" })));
    status.always(Answer::data(&json!({ "status": "completed", "promptId": 7 })));
    script.get("/prompts/7").always(Answer::data(&fixture::prompt()));
    script
}

fn all_have(script: &Script, name: &str, value: &str) {
    let requests = script.requests();
    assert!(requests.len() >= 2);
    for request in requests {
        assert_eq!(request.header(name), Some(value), "{request}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_header_of_a_wait_is_sent_with_all_of_its_requests() {
    let script = generating();
    let generations = client(&script).generations();
    generations.wait("job-1").header("traceparent", "00-a-b-01").await.unwrap();
    all_have(&script, "traceparent", "00-a-b-01");

    let script = generating();
    let mut watch = client(&script).generations().watch("job-1").header("x-a", "b");
    while watch.try_next().await.unwrap().is_some() {}
    all_have(&script, "x-a", "b");

    // That of the call is that of the whole of `and_wait`.
    let script = generating();
    let create = client(&script).generations().create("local/plasma", "A harbour");
    create.header("x-a", "b").and_wait().await.unwrap();
    all_have(&script, "x-a", "b");
    assert_eq!(script.calls()[0], "POST /generations");
}

#[tokio::test(start_paused = true)]
async fn an_invalid_header_of_a_wait_is_an_error_before_anything_is_sent() {
    for (name, value) in [("authorization", "Bearer x"), ("a b", "c"), ("x-a", "s3cret\n")] {
        let script = generating();
        let wait = client(&script).generations().wait("job-1").header(name, value);
        let error = wait.await.unwrap_err();
        assert!(error.is_input() && !error.to_string().contains("s3cret"), "{error}");
        assert!(script.calls().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn the_timeouts_of_a_wait_are_those_of_its_polls() {
    let script = Script::new();
    let status = script.get("/generations/{clientJobId}/status");
    let status = status.answer(Answer::never());
    status.always(Answer::data(&json!({ "status": "completed", "promptId": 7 })));
    script.get("/prompts/7").always(Answer::data(&fixture::prompt()));
    let generations = client(&script).generations();
    let start = Instant::now();
    generations.wait("job-1").request_timeout(2 * SECOND).await.unwrap();
    assert!(start.elapsed() >= 2 * SECOND && start.elapsed() < 3 * SECOND, "{start:?}");
}

#[tokio::test(start_paused = true)]
async fn the_retries_of_a_wait_are_those_of_its_search_for_the_output() {
    let attempts = async |policy: RetryPolicy| {
        let script = Script::new();
        let completed = Answer::data(&json!({ "status": "completed", "promptId": 7 }));
        script.get("/generations/{clientJobId}/status").always(completed);
        script.get("/prompts/7").always(Answer::error(503, "busy"));
        let wait = client(&script).generations().wait("job-1").retry(policy);
        let error = wait.timeout(SECOND / 20).await.unwrap_err();
        assert!(error.is_output_not_found(), "{error}");
        script.calls().len() - 1
    };
    let quick = RetryPolicy::new().initial_backoff(SECOND / 1000).max_backoff(SECOND / 1000);
    assert_eq!(attempts(RetryPolicy::never()).await, 1);
    assert_eq!(attempts(quick.max_attempts(5)).await, 5);
}

#[test]
fn a_client_is_enough_for_a_function_that_returns_a_future() {
    fn all(client: &Client) -> impl Future<Output = Result<u32, Error>> + Send + 'static {
        let list = client.vaults().list().send();
        async move { Ok(list.await?.len() as u32) }
    }
    let script = Script::new();
    script.get("/vaults").always(Answer::data(&[fixture::vault()]));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert_eq!(runtime.block_on(all(&client(&script))).unwrap(), 1);
}
