//! The status of a generation: nothing is guessed, and it survives encoding and decoding.

use promptarium::{GenerationState, GenerationStatus, PromptId, VaultId};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::to_value;

use super::*;

fn status(wire: &Value) -> GenerationStatus {
    let status: GenerationStatus = from_value(wire.clone()).unwrap();
    let written = to_value(&status).unwrap();
    assert_eq!(from_value::<GenerationStatus>(written).unwrap(), status, "{wire}");
    status
}

#[test]
fn the_outermost_status_decides() {
    for (wire, expected) in [
        (json!({ "status": "queued" }), "queued"),
        (json!("completed"), "completed"),
        (json!({ "job": { "state": "In-Progress" } }), "in_progress"),
        (json!({ "data": [{ "progress": { "status": "COMPLETED" } }] }), "completed"),
        (json!({ "status": "RUNNING" }), "RUNNING"),
        (json!({ "status": "processing", "outputs": [{ "status": "completed" }] }), "processing"),
        (json!({ "status": "running", "steps": [{ "status": "completed" }] }), "running"),
        (json!({ "status": "retrying", "attempts": [{ "state": "failed" }] }), "retrying"),
        (json!({ "status": "RUNNING", "webhook": { "status": "failed" } }), "RUNNING"),
        (json!({ "job": { "status": "running" }, "steps": [{ "status": "failed" }] }), "running"),
        // Neither a number nor blank text nor an object is a state.
        (json!({ "status": 3, "state": "failed" }), "failed"),
        (json!({ "status": " ", "state": "failed" }), "failed"),
        (json!({ "status": { "state": "completed" } }), "completed"),
        // `status` comes before `state`.
        (json!({ "status": "working", "state": "completed" }), "working"),
        (json!({ "status": "completed", "state": "archived" }), "completed"),
    ] {
        assert_eq!(status(&wire).state, expected, "{wire}");
    }
}

#[test]
fn a_contradiction_is_an_unknown_state() {
    for (wire, expected) in [
        (json!({ "status": "queued", "state": "failed" }), "queued / failed"),
        (json!({ "a": { "status": "queued" }, "b": { "state": "failed" } }), "queued / failed"),
        (json!({ "a": { "status": "running" }, "b": { "state": "failed" } }), "running / failed"),
        (json!([{ "status": "completed" }, { "status": "queued" }]), "completed / queued"),
        // They agree.
        (json!([{ "status": "completed" }, { "state": "COMPLETED" }]), "completed"),
        (json!({ "status": "completed", "state": "Completed" }), "completed"),
    ] {
        let state = status(&wire).state;
        assert_eq!(state, expected, "{wire}");
        assert_eq!(state.is_final(), expected == "completed");
    }
}

#[test]
fn members_of_other_names_count_only_alone_and_without_contradiction() {
    let wire = json!({ "clientJobId": "failed", "about": "x", "phase": "Completed" });
    assert_eq!(status(&wire).state, GenerationState::Completed);
    for wire in [
        json!({ "clientJobId": "completed", "prompt": "failed", "phase": "drying" }),
        json!({ "events": ["queued", "completed"] }),
        json!({ "lastEvent": "queued", "phase": "completed" }),
        json!({ "job": { "phase": "completed" } }),
        json!({ "done": true }),
        json!(["completed"]),
        json!([]),
        json!(null),
    ] {
        assert_eq!(status(&wire).state, "unreadable", "{wire}");
    }
    let wire = json!({
        "job": { "status": "running" }, "events": ["queued", "completed"], "lastEvent": "completed",
    });
    assert_eq!(status(&wire).state, "running");
}

#[test]
fn a_known_state_has_any_case_and_separators() {
    for text in
        ["in_progress", "IN_PROGRESS", "in-progress", "In Progress", "inProgress", " in_progress "]
    {
        let read = status(&json!({ "status": text }));
        assert_eq!(read.state, GenerationState::InProgress, "{text}");
    }
}

#[test]
fn only_members_for_output_name_prompts() {
    for (more, expected) in [
        (json!({ "promptId": 5 }), vec![5]),
        (json!({ "promptId": 5.0 }), vec![5]),
        (json!({ "promptIds": [7, 8] }), vec![7, 8]),
        (json!({ "promptId": 8, "promptIds": [7, 8] }), vec![7, 8]),
        (json!({ "output": { "promptId": 9 } }), vec![9]),
        (json!({ "outputs": [{ "image": { "promptId": 9 } }] }), vec![9]),
        (json!({ "result": { "promptIds": [9] } }), vec![9]),
        (json!({ "data": { "results": { "promptId": 9 } } }), vec![9]),
        (json!({ "promptId": 9, "output": { "promptId": 9 } }), vec![9]),
        (
            json!({ "promptIds": [7, 8], "outputs": [{ "promptId": 7 }, { "promptId": 8 }] }),
            vec![7, 8],
        ),
        (json!({ "promptId": null, "promptIds": [], "output": { "promptId": 9 } }), vec![9]),
        (json!({ "input": { "promptId": 5 }, "output": { "promptId": 9 } }), vec![9]),
        (json!({ "output": { "promptId": 9, "source": { "promptId": 5 } } }), vec![9]),
        // None of these.
        (json!({ "input": { "promptId": 5 } }), vec![]),
        (
            json!({ "source": { "promptIds": [5] }, "request": { "output": { "promptId": 5 } } }),
            vec![],
        ),
        (json!({ "promptId": "5" }), vec![]),
        // Contradictions.
        (json!({ "promptId": 5, "output": { "promptId": 9 } }), vec![]),
        (json!({ "outputs": [{ "promptId": 7 }, { "promptId": 8 }] }), vec![]),
        (json!({ "promptId": 5, "promptIds": [7, 8] }), vec![]),
        (json!({ "promptIds": [7], "output": { "promptIds": [7, 8] } }), vec![]),
    ] {
        let mut wire = json!({ "status": "completed" });
        wire.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let read = status(&wire);
        let mut ids = read.prompt_ids;
        ids.extend(read.prompt_id.filter(|id| !ids.contains(id)));
        assert_eq!(ids.iter().map(|id| id.get()).collect::<Vec<_>>(), expected, "{wire}");
    }
}

#[test]
fn prompts_are_named_beside_a_nested_state_too() {
    let named = |wire: Value| status(&wire).prompt_id.map(PromptId::get);
    assert_eq!(named(json!({ "job": { "state": "completed", "promptId": 5 } })), Some(5));
    let beside = json!({ "job": { "state": "completed" }, "output": { "promptId": 9 } });
    assert_eq!(named(beside), Some(9));
    let both =
        json!({ "job": { "state": "completed", "promptId": 5 }, "output": { "promptId": 9 } });
    assert_eq!(named(both), None);
}

#[test]
fn the_other_fields_are_those_of_the_object_with_the_state_or_of_the_outermost() {
    let read = status(&json!({
        "job": { "status": "queued", "clientJobId": "j", "vaultId": 3, "about": { "vaultId": 9 } },
        "vaultId": 4, "providerRequestId": "r", "request": { "generationType": "video" },
        "createdAt": "2026-03-01T11:00:00Z",
    }));
    assert_eq!((read.client_job_id, read.vault_id), (Some("j".into()), Some(VaultId::new(3))));
    assert_eq!(read.provider_request_id.as_deref(), Some("r"));
    assert!(read.created_at.is_some());
    assert_eq!((read.generation_type, read.updated_at), (None, None));
}

#[test]
fn values_that_cannot_be_read_are_absent_and_kept_as_extra_fields() {
    let read = status(&json!({
        "status": "failed", "clientJobId": 7, "promptId": "7", "vaultId": 1.5, "error": false,
        "createdAt": "yesterday", "updatedAt": null, "generationType": "sculpture", "step": 3,
    }));
    assert_eq!((read.client_job_id, read.prompt_id, read.vault_id), (None, None, None));
    assert_eq!((read.error, read.created_at, read.updated_at), (None, None, None));
    assert_eq!(read.generation_type, Some("sculpture".into()));
    let names: Vec<_> = read.extra.keys().collect();
    assert_eq!(names, ["clientJobId", "createdAt", "error", "promptId", "step", "vaultId"]);
}

#[test]
fn members_that_were_not_read_are_encoded_after_the_fields() {
    let read = status(&json!({
        "job": { "status": "COMPLETED", "progress": 1 }, "vaultId": 3, "promptId": 5,
        "output": { "promptId": 9 },
    }));
    assert_snapshot!(serde_json::to_string(&read).unwrap(), @r#"{"status":"completed","vaultId":3,"job":{"progress":1,"status":"COMPLETED"},"output":{"promptId":9},"promptId":5}"#);
}

#[test]
fn only_a_failed_job_has_an_error() {
    let read = |more: Value| {
        let read = status(&more);
        (read.error, read.message)
    };
    let texts = |error: Option<&str>, message: Option<&str>| {
        (error.map(str::to_owned), message.map(str::to_owned))
    };
    for (wire, expected) in [
        (json!({ "status": "in_progress", "message": "3 of 10" }), texts(None, Some("3 of 10"))),
        (json!({ "status": "completed", "error": "1 of 4 is blurred" }), texts(None, None)),
        (json!({ "status": "cancelled", "message": "by you" }), texts(None, Some("by you"))),
        (json!({ "status": "failed", "error": "no paint" }), texts(Some("no paint"), None)),
        (json!({ "status": "failed", "message": "no paint" }), texts(Some("no paint"), None)),
        (json!({ "status": "failed", "reason": "no paint" }), texts(Some("no paint"), None)),
        (json!({ "status": "failed", "error": "a", "message": "b" }), texts(Some("a"), Some("b"))),
        (
            json!({ "status": "failed", "error": { "message": "a", "code": 3 } }),
            texts(Some("a"), None),
        ),
        (json!({ "status": "failed", "error": { "code": 3 } }), texts(Some(r#"{"code":3}"#), None)),
        (
            json!({ "job": { "status": "failed", "error": "a" }, "message": "b" }),
            texts(Some("a"), Some("b")),
        ),
    ] {
        assert_eq!(read(wire.clone()), expected, "{wire}");
    }
}

/// Any JSON of the names and values that a status is read from.
fn answer() -> impl Strategy<Value = Value> {
    let names = [
        "status",
        "state",
        "promptId",
        "promptIds",
        "output",
        "results",
        "data",
        "input",
        "job",
        "error",
        "message",
        "reason",
        "vaultId",
        "clientJobId",
        "createdAt",
        "other",
    ];
    let leaves = [
        json!("completed"),
        json!("Failed"),
        json!("running"),
        json!(" "),
        json!(5),
        json!(9),
        json!(1.5),
        json!([5]),
        json!([5, 9]),
        json!([]),
        json!(null),
        json!("2026-03-01T11:00:00Z"),
    ];
    select(leaves.to_vec()).prop_recursive(4, 24, 5, move |inner| {
        let members = proptest::collection::btree_map(select(names.to_vec()), inner.clone(), 0..6);
        prop_oneof![
            4 => members.prop_map(|members| json!(members)),
            1 => proptest::collection::vec(inner, 0..3).prop_map(Value::Array),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 5000, ..Default::default() })]

    #[test]
    fn a_status_comes_back_equal(wire in answer()) {
        status(&wire);
    }
}
