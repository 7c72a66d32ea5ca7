//! Calls outside of a Tokio runtime: an error that says so, and never a panic.

use futures::executor::block_on;
use promptarium::testing::{Script, client, fixture};
use promptarium::{Error, PromptId};

fn says_so(error: &Error) {
    assert!(error.is_config() && !error.is_outcome_unknown(), "{error}");
    assert_eq!(error.attempts(), 0);
    assert_eq!(
        error.to_string(),
        "no Tokio runtime is running; await the call inside one, or use the feature `blocking`"
    );
}

/// Checks that each of these futures fails as it should. `$future` is polled outside of a runtime.
macro_rules! fail {
    ($($future:expr),* $(,)?) => {
        $(says_so(&block_on($future).map(drop).unwrap_err());)*
    };
}

#[test]
fn every_call_fails_with_an_error_that_says_what_is_missing() {
    let script = Script::new();
    let client = client(&script);
    let (prompts, generations) = (client.prompts(), client.generations());
    let create = || generations.create("local/plasma", "A harbour");
    fail![
        prompts.get(PromptId::new(7)).into_future(),
        prompts.get(PromptId::new(7)).send(),
        prompts.get(PromptId::new(7)).send_with_meta(),
        prompts.create("t", "p").into_future(),
        prompts.list().page(),
        prompts.list().collect(),
        client.get("/usage").into_future(),
        create().into_future(),
        create().send_with_meta(),
        create().and_wait().into_future(),
        generations.wait("job-1").into_future(),
        generations.wait("job-1").send(),
        client.uploads().image(fixture::png()).into_future(),
        client.uploads().image("harbour.png").into_future(),
        client.assets().download("https://cdn.example/a.png").into_future(),
        client.assets().download("https://cdn.example/a.png").save("never.png").into_future(),
    ];
    assert!(script.calls().is_empty());
}

#[test]
fn every_stream_fails_with_an_error_that_says_what_is_missing() {
    let script = Script::new();
    let client = client(&script);
    for ahead in [false, true] {
        let list = client.prompts().list().prefetch(ahead);
        says_so(&block_on(list.clone().items().next()).unwrap().unwrap_err());
        says_so(&block_on(list.pages().next()).unwrap().unwrap_err());
    }
    let mut watch = client.generations().watch("job-1");
    says_so(&block_on(watch.next()).unwrap().unwrap_err());
    assert!(block_on(watch.next()).is_none());
    assert!(script.calls().is_empty());
}
