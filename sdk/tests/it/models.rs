//! Models: lenient decoding, exact encoding.

mod enums;
mod lenient;
mod paths;
mod source;
mod status;
mod wire;

use insta::assert_snapshot;
use promptarium::{
    AssetUrl, Cursor, GenerationJob, GenerationState, GenerationStatus, GenerationType,
    ImageContentType, JobId, Page, Prompt, PromptId, PromptStatus, PromptType, UploadSlot, Vault,
    VaultId, VaultPrompt, VaultPromptId, Visibility,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json};

use crate::stub::prompt;

fn vault() -> Value {
    json!({
        "id": 3, "name": "Harbours", "description": null, "slug": "harbours",
        "visibility": "unlisted", "accessType": null, "isLocked": false,
        "coverImageUrl": "https://cdn.example/c.png", "isSystem": false, "promptCount": 2,
        "createdAt": "2026-03-01T11:00:00Z", "updatedAt": "2026-03-01T11:30:00.5Z",
    })
}

fn slot() -> Value {
    json!({
        "uploadUrl": "https://storage.example/put/a?signature=s3cret",
        "token": "s3cret", "url": "https://cdn.example/a.png", "path": "a1/a.png",
        "contentType": "image/png", "size": 1024, "expiresIn": 7200,
    })
}

fn read<T: DeserializeOwned>(wire: &Value) -> T {
    from_value(wire.clone()).unwrap()
}

#[test]
fn every_field_has_the_value_of_its_name() {
    let mut wire = prompt(7);
    let prompt: Prompt = read(&wire);
    assert_eq!((prompt.id, prompt.text.as_str()), (PromptId::new(7), "A harbour at dusk"));
    assert_eq!((prompt.prompt_type, prompt.status), (PromptType::Image, PromptStatus::Active));
    assert_eq!((prompt.images[0].width, prompt.images[0].height), (Some(1024), Some(576)));
    assert_eq!(prompt.vault_ids, [VaultId::new(3)]);

    wire["vaultPromptId"] = json!(21);
    wire["isPinned"] = json!(true);
    let member: VaultPrompt = read(&wire);
    assert_eq!((member.vault_prompt_id, member.is_pinned), (VaultPromptId::new(21), true));
    assert_eq!(member.title, "Prompt 7");

    let vault: Vault = read(&vault());
    assert_eq!((vault.visibility, vault.prompt_count), (Visibility::Unlisted, 2));
    let slot: UploadSlot = read(&slot());
    assert_eq!((slot.size, slot.expires_in_seconds), (1024, 7200));
    assert_eq!(slot.content_type, ImageContentType::Png);
    let job: GenerationJob = read(&json!({
        "success": true, "clientJobId": "j", "providerRequestId": "r",
        "statusUrl": "https://prompts.example/api/v1/generations/j/status",
    }));
    assert_eq!(job.client_job_id, JobId::from("j"));

    let status: GenerationStatus = read(&json!({
        "status": "completed", "generationType": "video", "vaultId": 3, "promptId": 7,
        "createdAt": "2026-03-01T11:00:00Z", "updatedAt": "2026-03-01T11:30:00.5Z",
    }));
    assert_eq!(
        (status.vault_id, status.prompt_id),
        (Some(VaultId::new(3)), Some(PromptId::new(7)))
    );
    assert_eq!(status.generation_type, Some(GenerationType::Video));
    assert!(status.updated_at > status.created_at);
}

#[test]
fn only_completed_and_failed_are_final_and_only_completed_is_success() {
    let of = |pick: fn(&GenerationState) -> bool| {
        let all = GenerationState::KNOWN.iter().cloned().chain(["cancelled".into()]);
        all.filter(pick).map(|state| state.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of(GenerationState::is_final), ["completed", "failed"]);
    assert_eq!(of(GenerationState::is_success), ["completed"]);
}

#[test]
fn pages_and_cursors_can_be_stored_as_text() {
    let page = Page::new(vec![PromptId::new(7)], Some(Cursor::from("b+/=")));
    let stored = serde_json::to_string(&page).unwrap();
    assert_snapshot!(stored, @r#"{"items":[7],"nextCursor":"b+/="}"#);
    assert_eq!(serde_json::from_str::<Page<PromptId>>(&stored).unwrap(), page);
    assert_eq!(Cursor::from("b+/=").to_string(), "b+/=");
}

#[test]
fn ids_show_their_kind() {
    assert_snapshot!(format!("{:?}", VaultId::new(3)), @"VaultId(3)");
    assert_snapshot!("x".parse::<PromptId>().unwrap_err(), @"invalid digit found in string");
    assert_eq!("-9223372036854775808".parse::<PromptId>().unwrap().get(), i64::MIN);
    assert_eq!(i64::from(VaultPromptId::new(21)), 21);
}

#[test]
fn the_debug_output_of_an_upload_slot_has_no_secrets() {
    let mut wire = slot();
    wire["fields"] = json!({ "policy": "s3cret" });
    let read: UploadSlot = from_value(wire).unwrap();
    assert_snapshot!(format!("{read:?}"), @r#"UploadSlot { upload_url: UploadUrl(https://storage.example/put/a?…), token: UploadToken(…), url: AssetUrl("https://cdn.example/a.png"), path: "a1/a.png", content_type: Png, size: 1024, expires_in_seconds: 7200, extra: {"fields"} }"#);
    assert_snapshot!(read.upload_url, @"https://storage.example/put/a?…");
    assert_eq!(read.upload_url.expose().query(), Some("signature=s3cret"));
    assert_eq!(read.token.expose(), "s3cret");
    assert_eq!(read.url, AssetUrl::from("https://cdn.example/a.png"));

    let mut wrong = slot();
    wrong["uploadUrl"] = json!("/put/a?signature=s3cret");
    assert_snapshot!(from_value::<UploadSlot>(wrong).unwrap_err(), @"not an absolute URL");
}
