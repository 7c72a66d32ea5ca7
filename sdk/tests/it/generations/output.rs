//! The output of a completed job, on services that name its prompts and on those that do not.

use promptarium::testing::fixture;
use promptarium::{Timestamp, VaultId};

use super::*;

/// A service whose vault 3 holds these prompts, and whose status names none.
fn silent(prompts: Vec<Prompt>) -> Script {
    let script = Script::new();
    script
        .post(path::GENERATIONS)
        .always_with(|seen| Answer::data(&json!({ "clientJobId": seen.json()["clientJobId"] })));
    script.get(path::GENERATION_STATUS).always(Answer::data(&json!({ "status": "completed" })));
    let members: Vec<_> = prompts
        .into_iter()
        .map(|prompt| {
            let mut member = fixture::vault_prompt();
            member.prompt = prompt;
            member
        })
        .collect();
    script.get("/vaults/3/prompts").always(Answer::data(&members));
    let mut general = fixture::vault();
    (general.is_system, general.name) = (true, "General".to_owned());
    script.get(path::VAULTS).always(Answer::data(&[fixture::vault(), general]));
    script
}

fn image_prompt(id: i64, text: &str, images: usize) -> Prompt {
    let mut prompt = fixture::prompt();
    (prompt.id, prompt.text) = (PromptId::new(id), text.to_owned());
    prompt.images = vec![fixture::prompt_image(); images];
    (prompt.created_at, prompt.updated_at) = (Timestamp::now(), Timestamp::now());
    prompt
}

fn old(prompt: Prompt) -> Prompt {
    let created_at = fixture::prompt().created_at;
    let mut prompt = prompt;
    prompt.created_at = created_at;
    prompt
}

fn ids(prompts: &[Prompt]) -> Vec<i64> {
    prompts.iter().map(|prompt| prompt.id.get()).collect()
}

#[tokio::test(start_paused = true)]
async fn the_prompts_that_the_status_names_are_the_output() {
    let named = [
        json!({ "status": "completed", "promptId": 7 }),
        json!({ "status": "completed", "promptIds": [7, 8] }),
        json!({ "job": { "state": "COMPLETED" }, "output": { "promptId": 7 } }),
    ];
    for (status, prompts) in named.into_iter().zip([vec![7], vec![7, 8], vec![7]]) {
        let script = Script::new();
        script.get(path::GENERATION_STATUS).always(Answer::data(&status));
        script.get(path::PROMPT).always_with(|seen| {
            let id = seen.path.rsplit('/').next().unwrap().parse().unwrap();
            Answer::data(&image_prompt(id, "A harbour", 1))
        });
        let finished = client(&script).generations().wait("job-1").await.unwrap();
        assert_eq!(ids(&finished.prompts), prompts);
        assert_eq!(finished.images().count(), prompts.len());
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_saved_as_one_prompt_or_as_several_gives_the_same_images() {
    let one = vec![image_prompt(8, "A harbour", 3)];
    let several = vec![
        image_prompt(8, "A harbour", 1),
        image_prompt(9, "A harbour", 1),
        image_prompt(10, "A harbour", 1),
    ];
    for prompts in [one, several] {
        let others = vec![
            old(image_prompt(1, "A harbour", 1)),
            image_prompt(2, "A fox", 1),
            image_prompt(3, "A harbour", 0),
        ];
        let script = silent([prompts, others].concat());
        let create = client(&script).generations().create("local/plasma", "A harbour");
        let finished = create.vault(VaultId::new(3)).batch_count(3).and_wait().await.unwrap();
        assert_eq!(finished.images().count(), 3);
        assert!(finished.prompts.iter().all(|prompt| prompt.id.get() >= 8));
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_vault_the_output_is_looked_for_in_general() {
    let script = silent(vec![image_prompt(8, "A harbour", 1)]);
    let client = client(&script);
    let job = client.generations().create("local/plasma", "A harbour").await.unwrap();
    let finished = client.generations().wait(&job).await.unwrap();
    assert_eq!(ids(&finished.prompts), [8]);
    assert!(script.calls().contains(&"GET /vaults".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_job_known_by_its_id_only_is_found_by_vault_and_text() {
    let script = silent(vec![image_prompt(8, "A harbour", 1), image_prompt(9, "A fox", 1)]);
    let generations = client(&script).generations();
    let wait = generations.wait("job-1").vault(VaultId::new(3)).text("A fox");
    assert_eq!(ids(&wait.await.unwrap().prompts), [9]);
    // Without the text either of them may be the output.
    let error = generations.wait("job-1").vault(VaultId::new(3)).await.unwrap_err();
    assert!(error.is_output_not_found());
    insta::assert_snapshot!(error, @r#"the output of the generation "job-1" was not found: the status names no prompt, and vault 3 has 2 images of new prompts, of which 1 are the output; a vault of its own (`vault`) tells the output of a job apart"#);
}

#[tokio::test(start_paused = true)]
async fn output_that_is_not_there_is_an_error_and_never_an_empty_list() {
    let script =
        silent(vec![old(image_prompt(8, "A harbour", 1)), image_prompt(9, "A harbour", 0)]);
    let create = client(&script).generations().create("local/plasma", "A harbour");
    let error = create.client_job_id("job-1").vault(VaultId::new(3)).and_wait().await.unwrap_err();
    assert!(error.is_output_not_found(), "{error}");
    insta::assert_snapshot!(error, @r#"the output of the generation "job-1" was not found: the status names no prompt, and vault 3 has 0 of 1 images of new prompts with its text, and 1 of prompts that may be older than the job; a vault of its own (`vault`) tells the output of a job apart"#);
    // The generation is paid for, so nobody may send it again.
    assert_eq!(error.outcome(), promptarium::Outcome::Done);

    let script = Script::new();
    script.get(path::GENERATION_STATUS).always(state_answer("completed"));
    script.get(path::PROMPT).always(Answer::error(404, "no such prompt"));
    let error = client(&script).generations().wait("job-1").await.unwrap_err();
    insta::assert_snapshot!(error, @r#"the output of the generation "job-1" was not found: prompt 7 does not exist"#);
    assert_eq!(error.last_status().unwrap().state, GenerationState::Completed);
}

#[tokio::test(start_paused = true)]
async fn output_counts_as_new_from_the_start_of_the_request_not_from_its_response() {
    // The clocks may differ by 5 minutes; this prompt is 50 ms younger than that at the start.
    let skew = jiff::SignedDuration::from_mins(5) - jiff::SignedDuration::from_millis(50);
    let mut prompt = image_prompt(8, "A harbour", 1);
    prompt.created_at = Timestamp::now().checked_sub(skew).unwrap();
    let script = Script::new();
    script.post(path::GENERATIONS).always_with(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        Answer::data(&json!({}))
    });
    let mut member = fixture::vault_prompt();
    member.prompt = prompt;
    script.get(path::GENERATION_STATUS).always(Answer::data(&json!({ "status": "completed" })));
    script.get(path::VAULT_PROMPTS).always(Answer::data(&[member]));
    let create = client(&script).generations().create("local/plasma", "A harbour");
    let finished = create.vault(VaultId::new(3)).and_wait().await.unwrap();
    assert_eq!(ids(&finished.prompts), [8]);
}

#[tokio::test(start_paused = true)]
async fn output_that_the_service_shows_a_little_later_is_found() {
    let script = silent(Vec::new());
    let mut member = fixture::vault_prompt();
    member.prompt = image_prompt(8, "A harbour", 1);
    let late = Script::new();
    late.post(path::GENERATIONS).always(Answer::data(&json!({})));
    late.get(path::GENERATION_STATUS).always(Answer::data(&json!({ "status": "completed" })));
    late.get(path::VAULT_PROMPTS)
        .answer(Answer::data(&Vec::<Value>::new()))
        .answer(Answer::error(503, "busy"))
        .answer(Answer::data(&[member]));
    drop(script);
    let client = builder(&late).retry(promptarium::RetryPolicy::never()).build().unwrap();
    let create = client.generations().create("local/plasma", "A harbour").vault(VaultId::new(3));
    assert_eq!(ids(&create.and_wait().await.unwrap().prompts), [8]);
    late.verify().unwrap();
}
