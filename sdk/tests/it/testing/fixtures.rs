//! Fixtures: one for every model, as the service would send it.

use std::fmt::Debug;

use promptarium::testing::{ASSETS_URL, Answer, BASE_URL, Script, client, fixture};
use promptarium::{GenerationState, Page, PromptId, VaultId};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Parts of models, and types that callers make themselves.
const PARTS: [&str; 20] = [
    "WebhookId",
    "AssetUrl",
    "Cursor",
    "ExtraFields",
    "FieldErrors",
    "GenerationState",
    "GenerationType",
    "ImageContentType",
    "JobId",
    "PromptId",
    "PromptStatus",
    "PromptType",
    "Timestamp",
    "UnknownValue",
    "UploadToken",
    "UploadUrl",
    "Variable",
    "VaultId",
    "VaultPromptId",
    "Visibility",
];

const LIB: &str = include_str!("../../../src/lib.rs");
const MODEL: &str = include_str!("../../../src/model.rs");

/// The types that a source exports in the statements that start like this, but for webhooks.
fn public(source: &'static str, statement: &str) -> Vec<&'static str> {
    let statements = source.split(statement).skip(1).filter_map(|rest| rest.split(';').next());
    let paths =
        statements.filter(|it| !it.starts_with("webhook")).flat_map(|it| it.split(['{', '}', ',']));
    let names = paths.filter_map(|path| path.trim().rsplit("::").next());
    names.filter(|name| name.starts_with(char::is_uppercase)).collect()
}

/// Checks that the fixture survives encoding and decoding; returns the name of its type.
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> &'static str {
    let wire = serde_json::to_value(value).unwrap();
    assert_eq!(serde_json::from_value::<T>(wire).unwrap(), *value);
    let name = std::any::type_name::<T>().split('<').next().unwrap();
    name.rsplit("::").next().unwrap()
}

#[test]
fn every_model_has_a_fixture() {
    let mut models = vec![
        round_trip(&fixture::added_prompts()),
        round_trip(&fixture::deleted(PromptId::new(7))),
        round_trip(&fixture::generation_job()),
        round_trip(&fixture::generation_status(GenerationState::Completed)),
        round_trip(&fixture::moved_prompt()),
        round_trip(&fixture::page(vec![fixture::prompt()])),
        round_trip(&fixture::pin_state()),
        round_trip(&fixture::prompt()),
        round_trip(&fixture::prompt_image()),
        round_trip(&fixture::removed_prompt()),
        round_trip(&fixture::upload_slot()),
        round_trip(&fixture::vault()),
        round_trip(&fixture::vault_prompt()),
    ];
    models.extend(PARTS);
    let missing: Vec<_> =
        public(MODEL, "\npub use ").into_iter().filter(|name| !models.contains(name)).collect();
    assert!(missing.is_empty(), "without a fixture: {missing:?}");
}

#[test]
fn every_result_of_a_call_has_a_fixture() {
    let image = fixture::uploaded_image();
    assert_eq!(image.size, fixture::png().len() as u64);
    assert_eq!(fixture::asset().extension(), Some("png"));
    assert_eq!(fixture::finished_generation().images().count(), 1);
    // Not results, or results that only a client can make; then those with a fixture.
    let known = "AssetStream Client ClientBuilder DownloadProgress Error ErrorKind GenerationRef \
                 Items Outcome Pages Pressure RawResponse RetryBudget RetryPolicy UploadProgress \
                 UploadSource Watch WithMeta Asset FinishedGeneration UploadedImage";
    let known = |name: &&str| known.split(' ').any(|known| known == *name);
    let missing: Vec<_> =
        public(LIB, "pub use {\n    client").into_iter().filter(|name| !known(name)).collect();
    assert!(missing.is_empty(), "without a fixture: {missing:?}");
}

#[test]
fn fixtures_belong_together() {
    let (prompt, vault) = (fixture::prompt(), fixture::vault());
    assert_eq!(prompt.vault_ids, [vault.id]);
    assert_eq!(vault.prompt_count, 1);
    assert_eq!(fixture::vault_prompt().prompt, prompt);
    assert_eq!(fixture::finished_generation().prompts, [prompt]);
    let job = fixture::generation_job();
    assert!(job.status_url.unwrap().starts_with(BASE_URL));
    assert!(fixture::uploaded_image().url.as_str().starts_with(ASSETS_URL));
    for state in GenerationState::KNOWN {
        let status = fixture::generation_status(state.clone());
        assert_eq!(status.state, *state);
        assert_eq!(status.client_job_id.as_ref(), Some(&job.client_job_id));
        assert_eq!(status.prompt_id.is_some(), *state == GenerationState::Completed);
        assert_eq!(status.error.is_some(), *state == GenerationState::Failed);
    }
    let (slot, image) = (fixture::upload_slot(), fixture::uploaded_image());
    assert_eq!((slot.url, slot.path, slot.size), (image.url, image.path, image.size));
    assert_eq!(fixture::page(vec![1, 2]), Page::new(vec![1, 2], None));
}

#[tokio::test]
async fn a_client_decodes_a_fixture() {
    let script = Script::new();
    script.get("/vaults/{vaultId}/prompts").always(Answer::data(&vec![fixture::vault_prompt()]));
    let contents = client(&script).vault(VaultId::new(3)).list().await.unwrap();
    assert_eq!(contents, [fixture::vault_prompt()]);
}
