//! A full sample of each model: every field survives, unknown ones too, and `null` is the same as an
//! absent field.

use std::fmt::Write as _;

use insta::assert_snapshot;
use promptarium::{
    AddedPrompts, Deleted, GenerationJob, GenerationStatus, MovedPrompt, Page, PinState, Prompt,
    PromptId, PromptImage, RemovedPrompt, UploadSlot, Vault, VaultPrompt,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json, to_value};

use super::source::of_models;
use super::{slot, vault};

struct Sample {
    name: &'static str,
    /// With a value other than `null` in every field of the model.
    wire: Value,
    /// Decodes the model and encodes it again.
    reread: fn(Value) -> Result<Value, serde_json::Error>,
}

fn sample<T: Serialize + DeserializeOwned>(name: &'static str, wire: Value) -> Sample {
    let reread = |wire| from_value::<T>(wire).map(|model| to_value(&model).unwrap());
    Sample { name, wire, reread }
}

fn prompt() -> Value {
    json!({
        "id": 7, "title": "Dusk", "prompt": "A harbour at dusk", "promptType": "image",
        "platform": "poster", "status": "active", "vaultIds": [3], "images": [image()],
        "createdAt": "2026-03-01T11:00:00Z", "updatedAt": "2026-03-01T11:30:00.5Z",
    })
}

fn image() -> Value {
    json!({
        "url": "https://cdn.example/a.png", "width": 1024, "height": 576,
        "createdAt": "2026-03-01T12:00:00Z",
    })
}

fn with(mut wire: Value, more: Value) -> Value {
    let Value::Object(more) = more else { unreachable!("more members") };
    wire.as_object_mut().unwrap().extend(more);
    wire
}

fn samples() -> Vec<Sample> {
    let member = json!({ "vaultPromptId": 21, "isPinned": true });
    let described = json!({ "description": "Boats", "accessType": "invitation" });
    vec![
        sample::<AddedPrompts>(
            "AddedPrompts",
            json!({ "added": 1, "vaultId": 3, "promptCount": 2 }),
        ),
        sample::<Deleted<PromptId>>("Deleted", json!({ "id": 7, "deleted": true })),
        sample::<GenerationJob>(
            "GenerationJob",
            json!({
                "clientJobId": "j", "providerRequestId": "r",
                "statusUrl": "https://prompts.example/api/v1/generations/j/status",
                "outputHint": {
                    "vaultId": 3, "prompt": "A harbour", "batchCount": 2,
                    "earliest": "2026-03-01T11:00:00Z",
                    "latest": "2026-03-01T11:00:01Z",
                },
            }),
        ),
        sample::<GenerationStatus>(
            "GenerationStatus",
            json!({
                "clientJobId": "j", "providerRequestId": "r", "status": "failed",
                "generationType": "video", "vaultId": 3, "promptId": 7, "promptIds": [7, 8], "error": "no paint",
                "message": "Rendered 3 of 10",
                "createdAt": "2026-03-01T11:00:00Z", "updatedAt": "2026-03-01T11:30:00.5Z",
            }),
        ),
        sample::<MovedPrompt>(
            "MovedPrompt",
            json!({ "promptId": 7, "sourceVaultId": 3, "targetVaultId": 4, "vaultPromptId": 22 }),
        ),
        sample::<Page<PromptId>>("Page", json!({ "items": [7], "nextCursor": "b3BhcXVl" })),
        sample::<PinState>("PinState", json!({ "vaultPromptId": 21, "isPinned": false })),
        sample::<Prompt>("Prompt", prompt()),
        sample::<PromptImage>("PromptImage", image()),
        sample::<RemovedPrompt>("RemovedPrompt", json!({ "vaultPromptId": 21, "removed": true })),
        sample::<UploadSlot>("UploadSlot", slot()),
        sample::<Vault>("Vault", with(vault(), described)),
        sample::<VaultPrompt>("VaultPrompt", with(prompt(), member)),
    ]
}

fn names(wire: &Value) -> Vec<String> {
    wire.as_object().unwrap().keys().cloned().collect()
}

/// A new model that is not in the list above fails here.
#[test]
fn every_model_is_in_the_list() {
    let mut found = Vec::new();
    for text in of_models() {
        let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix("pub struct "));
        let with_fields = lines.filter_map(|line| line.strip_suffix(" {"));
        // `OutputHint` is a part of `GenerationJob` and no public type; `$name` is the macro, and
        // `Variable` a part of a text.
        let models = with_fields.filter(|name| !name.starts_with('$') && *name != "Variable");
        found.extend(models.map(|name| name.split(['<', ' ']).next().unwrap().to_owned()));
    }
    found.sort();
    let listed: Vec<_> = samples().iter().map(|sample| sample.name).collect();
    assert_eq!(found, listed);
}

/// It also shows that each sample has all fields of its model: a missing one would be `null`.
#[test]
fn every_model_is_encoded_as_it_was_decoded() {
    for sample in samples() {
        assert!(sample.wire.as_object().unwrap().values().all(|value| !value.is_null()));
        let written = (sample.reread)(sample.wire.clone()).unwrap();
        assert_eq!(written, sample.wire, "{}", sample.name);
    }
}

#[test]
fn unknown_fields_are_kept() {
    for sample in samples().into_iter().filter(|sample| sample.name != "Page") {
        for later in [json!(null), json!("x"), json!([1, { "x": null }]), json!({ "x": [1.5] })] {
            let grown = with(sample.wire.clone(), json!({ "unknownField": later, "other": 1 }));
            assert_eq!((sample.reread)(grown.clone()).unwrap(), grown, "{}", sample.name);
        }
    }
}

#[test]
fn models_with_different_unknown_fields_are_not_equal() {
    let read = |color: &str| from_value::<PromptImage>(with(image(), json!({ "color": color })));
    assert_eq!(read("red").unwrap(), read("red").unwrap());
    assert_ne!(read("red").unwrap(), read("blue").unwrap());
}

#[test]
fn unknown_fields_of_a_prompt_in_a_vault_are_those_of_the_prompt() {
    let wire = json!({ "vaultPromptId": 21, "isPinned": true, "modelId": "m" });
    let member: VaultPrompt = from_value(with(prompt(), wire)).unwrap();
    assert_eq!(member.extra["modelId"], "m");
    assert_eq!(member.prompt, from_value(with(prompt(), json!({ "modelId": "m" }))).unwrap());
}

#[test]
fn known_fields_come_first() {
    let state = r#"{"a":[1],"isPinned":true,"vaultPromptId":21,"z":null}"#;
    let state: PinState = serde_json::from_str(state).unwrap();
    let written = serde_json::to_string(&state).unwrap();
    assert_snapshot!(written, @r#"{"vaultPromptId":21,"isPinned":true,"a":[1],"z":null}"#);
}

#[test]
fn a_field_given_twice_is_an_error() {
    let twice = r#"{"vaultPromptId":21,"isPinned":true,"isPinned":false}"#;
    let error = serde_json::from_str::<PinState>(twice).unwrap_err();
    assert_snapshot!(error, @"duplicate field `isPinned` at line 1 column 46");
}

#[test]
fn a_field_that_cannot_be_decoded_has_a_path() {
    let wrong = |more: Value| {
        let wire = json!([prompt(), with(prompt(), more)]);
        let error = serde_path_to_error::deserialize::<_, Vec<Prompt>>(wire).unwrap_err();
        error.to_string()
    };
    assert_snapshot!(wrong(json!({ "title": 1 })), @"[1].title: invalid type: integer `1`, expected a string");
    assert_snapshot!(wrong(json!({ "id": 1.5 })), @"[1].id: invalid value: 1.5, expected i64");
    assert_snapshot!(wrong(json!({ "images": [{ "url": "u" }] })), @"[1].images[0]: missing field `createdAt`");
}

/// For required fields too: both are errors. Only `null` in place of a word is an unknown word.
#[test]
fn null_and_absent_are_the_same() {
    let (mut optional, mut words) = (String::new(), Vec::new());
    for sample in samples() {
        let mut of_model = Vec::new();
        for field in names(&sample.wire) {
            let mut absent = sample.wire.clone();
            absent.as_object_mut().unwrap().remove(&field);
            let null = with(sample.wire.clone(), json!({ &field: null }));
            let [absent, null] = [absent, null].map(|wire| (sample.reread)(wire).ok());
            if null.as_ref().is_some_and(|read| read[&field] == "null") {
                words.push(format!("{field} of {}", sample.name));
                continue;
            }
            assert_eq!(absent, null, "{field} of {}", sample.name);
            if absent.is_some() {
                of_model.push(field);
            }
        }
        if !of_model.is_empty() {
            writeln!(optional, "{}: {}", sample.name, of_model.join(" ")).unwrap();
        }
    }
    assert_snapshot!(optional, @"
    GenerationJob: outputHint providerRequestId statusUrl
    GenerationStatus: clientJobId createdAt error generationType message promptId promptIds providerRequestId status updatedAt vaultId
    Page: nextCursor
    Prompt: images platform vaultIds
    PromptImage: height width
    Vault: accessType coverImageUrl description
    VaultPrompt: images platform vaultIds
    ");
    assert_snapshot!(words.join(", "), @"promptType of Prompt, status of Prompt, contentType of UploadSlot, visibility of Vault, promptType of VaultPrompt, status of VaultPrompt");
}
