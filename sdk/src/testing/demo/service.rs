//! What the service of the examples says: something plausible to whatever they ask.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::testing::{ASSETS_URL, Answer, Script, SeenRequest, fixture};
use crate::{
    GenerationState, JobId, Prompt, PromptId, PromptType, Vault, VaultId, VaultPromptId, path,
};

/// How many entries a page has. Lists have two pages.
const PAGE_SIZE: usize = 2;

/// What becomes of a job that takes its time.
pub(super) const STATES: [GenerationState; 3] =
    [GenerationState::Queued, GenerationState::InProgress, GenerationState::Completed];

/// Has the script answer all that examples ask. What it was told before goes first.
///
/// A job has the next of these states each time it is asked for, and keeps the last.
pub(super) fn play(script: &Script, states: &'static [GenerationState]) {
    prompts(script);
    vaults(script);
    contents(script);
    generations(script, states);
    script.get(format!("{ASSETS_URL}/{{name}}")).always_with(|_| Answer::asset(&fixture::asset()));
    script.storage();
    script.put("/usage/limit").always(Answer::data(&json!({ "prompts": 100 })));
    script.delete("/usage/limit").always(Answer::data(&json!({})));
    script.get("/usage").always(Answer::data(&json!({ "prompts": 12 })).request_id("request-2"));
}

fn prompts(script: &Script) {
    script.get(path::PROMPTS).list(vec![fixture::prompt(); 2 * PAGE_SIZE - 1], PAGE_SIZE);
    script.post(path::PROMPTS).always_with(written_prompt);
    script.get(path::PROMPT).always_with(|asked| Answer::data(&prompt(asked)));
    script.patch(path::PROMPT).always_with(written_prompt);
    script
        .delete(path::PROMPT)
        .always_with(|asked| Answer::data(&fixture::deleted(prompt(asked).id)));
    script.post(path::PROMPT_SAVE).always_with(|asked| {
        let mut prompt = prompt(asked);
        prompt.vault_ids = asked.json()["vaultId"].as_i64().map(VaultId::new).into_iter().collect();
        Answer::data(&prompt)
    });
}

fn written_prompt(asked: &SeenRequest) -> Answer {
    let (said, mut prompt) = (asked.json(), prompt(asked));
    if said["title"] == "" {
        return Answer::refusal(400, "the prompt cannot be stored")
            .field("title", "must not be empty");
    }
    if let Some(title) = said["title"].as_str() {
        title.clone_into(&mut prompt.title);
    }
    if let Some(text) = said["prompt"].as_str() {
        text.clone_into(&mut prompt.text);
    }
    prompt.prompt_type = said["type"].as_str().map_or(PromptType::Text, PromptType::from);
    prompt.platform = said["platform"].as_str().map(str::to_owned);
    Answer::data(&prompt)
}

fn vaults(script: &Script) {
    script.get(path::VAULTS).always(Answer::data(&[fixture::vault()]));
    script.post(path::VAULTS).always_with(written_vault);
    script.get(path::VAULT).always_with(|asked| Answer::data(&vault(asked)));
    script.patch(path::VAULT).always_with(written_vault);
    script
        .delete(path::VAULT)
        .always_with(|asked| Answer::data(&fixture::deleted(vault(asked).id)));
    script
        .post(path::VAULT_FORK)
        .always(Answer::data(&Vault { id: VaultId::new(4), ..fixture::vault() }));
}

fn written_vault(asked: &SeenRequest) -> Answer {
    let (said, mut vault) = (asked.json(), vault(asked));
    if let Some(name) = said["name"].as_str() {
        name.clone_into(&mut vault.name);
    }
    vault.description = said["description"].as_str().map(str::to_owned);
    Answer::data(&vault)
}

fn contents(script: &Script) {
    script.get(path::VAULT_PROMPTS).always(Answer::data(&[fixture::vault_prompt()]));
    script.post(path::VAULT_PROMPTS).always_with(|asked| {
        let count = asked.json()["promptIds"].as_array().map_or(0, Vec::len) as u64;
        let mut added = fixture::added_prompts();
        (added.added, added.prompt_count) = (count, count);
        added.vault_id = vault(asked).id;
        Answer::data(&added)
    });
    script.delete(path::VAULT_PROMPT).always(Answer::data(&fixture::removed_prompt()));
    script.post(path::VAULT_PROMPT_MOVE).always(Answer::data(&fixture::moved_prompt()));
    script.post(path::VAULT_PROMPT_PIN).always_with(|asked| pinned(asked, true));
    script.delete(path::VAULT_PROMPT_PIN).always_with(|asked| pinned(asked, false));
}

fn pinned(asked: &SeenRequest, is_pinned: bool) -> Answer {
    let mut state = fixture::pin_state();
    state.vault_prompt_id = number(asked, 4).map_or(state.vault_prompt_id, VaultPromptId::new);
    state.is_pinned = is_pinned;
    Answer::data(&state)
}

fn generations(script: &Script, states: &'static [GenerationState]) {
    script.post(path::GENERATIONS).always_with(|asked| {
        let mut job = fixture::generation_job();
        job.client_job_id = JobId::from(asked.json()["clientJobId"].as_str().unwrap_or("job-1"));
        Answer::data(&job)
    });
    let questions = AtomicUsize::new(0);
    script.get(path::GENERATION_STATUS).always_with(move |asked| {
        let at = questions.fetch_add(1, Ordering::Relaxed).min(states.len() - 1);
        let mut status = fixture::generation_status(states[at].clone());
        status.client_job_id = part(asked, 2).map(JobId::from);
        Answer::data(&status)
    });
}

/// The prompt that a path names, else prompt 7.
fn prompt(asked: &SeenRequest) -> Prompt {
    let mut prompt = fixture::prompt();
    prompt.id = number(asked, 2).map_or(prompt.id, PromptId::new);
    prompt
}

/// The vault that a path names, else vault 3.
fn vault(asked: &SeenRequest) -> Vault {
    let mut vault = fixture::vault();
    vault.id = number(asked, 2).map_or(vault.id, VaultId::new);
    vault
}

fn number(asked: &SeenRequest, at: usize) -> Option<i64> {
    part(asked, at)?.parse().ok()
}

/// What stands after so many slashes of the path.
fn part(asked: &SeenRequest, slashes: usize) -> Option<&str> {
    asked.path.split('/').nth(slashes)
}
