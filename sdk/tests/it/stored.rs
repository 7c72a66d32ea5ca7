//! Results that programs store as JSON.

use std::fmt::Debug;

use promptarium::testing::{Answer, FakeService, Script, client, fixture};
use promptarium::{
    ErrorKind, FinishedGeneration, GenerationJob, GenerationState, Outcome, Timestamp, VaultId,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::errors::KINDS;

fn stored<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), *value, "{text}");
    text
}

#[test]
fn kinds_of_errors_are_stored_by_their_names() {
    for (kind, _) in KINDS {
        assert_eq!(stored(&kind), format!("\"{}\"", kind.as_str()));
    }
    assert!(serde_json::from_str::<ErrorKind>("\"unheard_of\"").is_err());
}

#[test]
fn outcomes_are_stored_by_their_names_and_ordered_by_what_was_done() {
    let all = [Outcome::NotDone, Outcome::Unknown, Outcome::Done];
    let names = all.map(|outcome| stored(&outcome));
    assert_eq!(names, ["\"not_done\"", "\"unknown\"", "\"done\""]);
    assert!(all.is_sorted());
    assert_eq!(Outcome::default(), Outcome::NotDone);
}

#[tokio::test(start_paused = true)]
async fn a_finished_generation_is_stored_with_its_prompts() {
    stored(&fixture::finished_generation());
    let client = FakeService::new().client();
    let finished = client.generations().create("local/plasma", "A harbour").and_wait().await;
    let finished: FinishedGeneration = finished.unwrap();
    let text = stored(&finished);
    let again: FinishedGeneration = serde_json::from_str(&text).unwrap();
    assert_eq!(again.status.state, GenerationState::Completed);
    assert_eq!(again.images().count(), finished.images().count());
}

/// A service whose vault 77 holds the output of every job, and whose statuses name no prompt.
fn service() -> Script {
    let script = Script::new();
    script.post("/generations").always(Answer::data(&json!({ "providerRequestId": "r" })));
    let completed = Answer::data(&json!({ "status": "completed" }));
    script.get("/generations/{clientJobId}/status").always(completed);
    let mut member = fixture::vault_prompt();
    member.prompt.text = "A harbour".to_owned();
    (member.prompt.created_at, member.prompt.updated_at) = (Timestamp::now(), Timestamp::now());
    script.get("/vaults/77/prompts").always(Answer::data(&[member]));
    script
}

#[tokio::test(start_paused = true)]
async fn a_stored_job_finds_the_same_output_as_the_job() {
    let script = service();
    let generations = client(&script).generations();
    let create = generations.create("local/plasma", "A harbour").vault(VaultId::new(77));
    let job = create.await.unwrap();
    let text = stored(&job);
    let again: GenerationJob = serde_json::from_str(&text).unwrap();
    let found = generations.wait(&job).await.unwrap();
    assert_eq!(generations.wait(again).await.unwrap(), found);
    assert!(!script.calls().contains(&"GET /vaults".to_owned()), "{:?}", script.calls());
}

#[tokio::test(start_paused = true)]
async fn jobs_with_outputs_at_different_places_differ() {
    let script = service();
    let generations = client(&script).generations();
    let job = async |vault: i64| {
        let create = generations.create("local/plasma", "A harbour").client_job_id("job-1");
        create.vault(VaultId::new(vault)).await.unwrap()
    };
    assert_ne!(job(77).await, job(78).await);
}
