//! Models: lenient decoding, exact encoding.

mod enums;
mod paths;
mod source;
mod wire;

use insta::assert_snapshot;
use promptarium::{
    AssetUrl, Cursor, GenerationJob, GenerationState, GenerationStatus, GenerationType,
    ImageContentType, JobId, Page, Prompt, PromptId, PromptStatus, PromptType, Timestamp,
    UploadSlot, Vault, VaultId, VaultPrompt, VaultPromptId, Visibility,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json, to_value};

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
    assert_eq!((prompt.images[0].width, prompt.images[0].height), (1024, 576));
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
fn a_status_is_found_at_any_depth_and_under_several_names() {
    let read = |wire: Value| from_value::<GenerationStatus>(wire);
    let state = |wire: Value| read(wire).unwrap().state.to_string();
    for (wire, expected) in [
        (json!({ "status": "queued" }), "queued"),
        (json!({ "job": { "state": "In-Progress" } }), "in_progress"),
        (json!({ "data": [{ "progress": { "status": "COMPLETED" } }] }), "completed"),
        (json!({ "status": "RUNNING" }), "RUNNING"),
        (json!({ "status": 3, "state": "failed" }), "failed"),
        (json!({ "clientJobId": "j", "about": "x", "phase": "completed" }), "completed"),
        (json!("completed"), "completed"),
        // Unrelated text and free text are not a state.
        (
            json!({ "clientJobId": "completed", "prompt": "failed", "phase": "drying" }),
            "unreadable",
        ),
        (json!({ "status": "working", "lastEvent": "queued" }), "working"),
        (json!({ "user": { "status": "active" }, "phase": "completed" }), "completed"),
        (json!({ "done": true }), "unreadable"),
        (json!([]), "unreadable"),
    ] {
        assert_eq!(state(wire.clone()), expected, "{wire}");
    }
    let nested =
        json!({ "job": { "clientJobId": "j", "vaultId": 3 }, "output": { "promptIds": [7, 8] } });
    let nested = read(nested).unwrap();
    assert_eq!((nested.client_job_id, nested.vault_id), (Some("j".into()), Some(VaultId::new(3))));
    assert_eq!(nested.prompt_ids, [PromptId::new(7), PromptId::new(8)]);

    let odd = read(json!({
        "status": "failed", "clientJobId": 7, "promptId": "7", "vaultId": 1.5, "error": false,
        "createdAt": "yesterday", "updatedAt": null, "generationType": "sculpture",
    }));
    let odd = odd.unwrap();
    assert_eq!((odd.client_job_id, odd.prompt_id, odd.vault_id), (None, None, None));
    assert_eq!((odd.error, odd.created_at, odd.updated_at), (None, None, None));
    assert_eq!(odd.generation_type, Some("sculpture".into()));

    let reason = |error: Value| read(json!({ "status": "failed", "error": error })).unwrap().error;
    assert_eq!(reason(json!("no paint")).unwrap(), "no paint");
    assert_eq!(reason(json!({ "message": "no paint", "code": 3 })).unwrap(), "no paint");
    assert_eq!(reason(json!({ "code": 3 })).unwrap(), r#"{"code":3}"#);
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
fn timestamps_are_decoded_leniently_and_encoded_in_utc() {
    let read = |text: &str| {
        let mut wire = vault();
        wire["createdAt"] = json!(text);
        from_value::<Vault>(wire)
    };
    let noon: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    for text in [
        "2026-03-01T12:00:00Z",
        "2026-03-01t12:00:00z",
        "2026-03-01T12:00:00.000000000Z",
        "2026-03-01T13:30:00+01:30",
        "2026-03-01T07:00:00-05:00",
        "2026-03-01T12:00:00",
        "2026-03-01 12:00:00",
        "2026-03-01T12:00",
        "20260301T120000Z",
    ] {
        assert_eq!(read(text).expect(text).created_at, noon, "{text}");
    }
    let fine = read("2026-03-01T13:00:00.123456789+01:00").unwrap();
    assert_eq!(to_value(&fine).unwrap()["createdAt"], "2026-03-01T12:00:00.123456789Z");
    for text in ["", "yesterday", "12:00:00Z", "2026-13-01T12:00:00Z", "1772366400"] {
        assert!(read(text).is_err(), "{text}");
    }
    let error = read("yesterday").unwrap_err().to_string();
    assert!(error.starts_with("not an ISO 8601 timestamp: "), "{error}");
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
    for wrong in
        [json!("7"), json!(7.0), json!(true), json!(null), json!(9_223_372_036_854_775_808_u64)]
    {
        assert!(from_value::<PromptId>(wrong).is_err());
    }
}

#[test]
fn the_debug_output_of_an_upload_slot_has_no_secrets() {
    let read: UploadSlot = from_value(slot()).unwrap();
    assert_snapshot!(format!("{read:?}"), @r#"UploadSlot { upload_url: UploadUrl(https://storage.example/put/a?…), token: UploadToken(…), url: AssetUrl("https://cdn.example/a.png"), path: "a1/a.png", content_type: Png, size: 1024, expires_in_seconds: 7200 }"#);
    assert_snapshot!(read.upload_url, @"https://storage.example/put/a?…");
    assert_eq!(read.upload_url.expose().query(), Some("signature=s3cret"));
    assert_eq!(read.token.expose(), "s3cret");
    assert_eq!(read.url, AssetUrl::from("https://cdn.example/a.png"));

    let mut wrong = slot();
    wrong["uploadUrl"] = json!("/put/a?signature=s3cret");
    assert_snapshot!(from_value::<UploadSlot>(wrong).unwrap_err(), @"not an absolute URL");
}
