//! The stored form of requests, and their digest.

use serde_json::{Map, json};

use super::*;
use crate::domain::OutputKind;

fn full() -> GenerationRequest {
    GenerationRequest {
        model_id: "local/plasma".into(),
        prompt: "A harbour".into(),
        kind: OutputKind::Video,
        negative_prompt: Some("".into()),
        image_input: Some("http://localhost/a.png".into()),
        image_inputs: vec!["http://localhost/b.png".into(), "http://localhost/c.png".into()],
        aspect_ratio: "16:9".into(),
        batch_count: 4,
        parameters: json!({"seed": 7, "style": {"weights": [0.5, 1e16, null]}})
            .as_object()
            .cloned(),
        reference_image_urls: vec!["http://localhost/d.png".into()],
        image_edit_endpoint_id: Some("local/edit".into()),
    }
}

/// Servers of other versions read this text: adding to it is safe, any other change is not.
#[test]
fn the_stored_form_of_a_request_is_stable() {
    insta::assert_json_snapshot!(full(), @r#"
    {
      "modelId": "local/plasma",
      "prompt": "A harbour",
      "kind": "video",
      "negativePrompt": "",
      "imageInput": "http://localhost/a.png",
      "imageInputs": [
        "http://localhost/b.png",
        "http://localhost/c.png"
      ],
      "aspectRatio": "16:9",
      "batchCount": 4,
      "parameters": {
        "seed": 7,
        "style": {
          "weights": [
            0.5,
            10000000000000000.0,
            null
          ]
        }
      },
      "referenceImageUrls": [
        "http://localhost/d.png"
      ],
      "imageEditEndpointId": "local/edit"
    }
    "#);
    insta::assert_json_snapshot!(GenerationRequest::default(), @r#"
    {
      "modelId": "",
      "prompt": "",
      "kind": "image",
      "negativePrompt": null,
      "imageInput": null,
      "imageInputs": [],
      "aspectRatio": "",
      "batchCount": 0,
      "parameters": null,
      "referenceImageUrls": [],
      "imageEditEndpointId": null
    }
    "#);
}

#[test]
fn a_stored_request_reads_back_unchanged() {
    for request in [
        full(),
        GenerationRequest::default(),
        GenerationRequest { parameters: Some(Map::new()), ..full() },
    ] {
        let stored = serde_json::to_string(&request).unwrap();
        assert_eq!(
            serde_json::from_str::<GenerationRequest>(&stored).unwrap(),
            request,
            "{stored}"
        );
    }
}

#[test]
fn unknown_and_missing_fields_of_other_versions_are_accepted() {
    let stored = r#"{"modelId":"local/plasma","prompt":"A harbour","fromLater":{"a":1}}"#;
    let expected = GenerationRequest {
        model_id: "local/plasma".into(),
        prompt: "A harbour".into(),
        ..GenerationRequest::default()
    };
    assert_eq!(serde_json::from_str::<GenerationRequest>(stored).unwrap(), expected);
}

#[test]
fn equal_requests_have_equal_digests_however_their_json_is_written() {
    let parse =
        |text| GenerationRequest { parameters: serde_json::from_str(text).unwrap(), ..full() };
    let one = parse(r#"{"seed":1,"style":{"a":[1,2],"b":null}}"#);
    let two = parse(r#"{ "style": {"b": null, "a": [1, 2]}, "seed": 1 }"#);
    assert_eq!(request_digest(&one, None), request_digest(&two, None));
}

#[test]
fn every_field_changes_the_digest() {
    let plain = full;
    let parameters = |value: serde_json::Value| value.as_object().cloned();
    let all = [
        (plain(), None),
        (plain(), Some(VaultId::new(1))),
        (plain(), Some(VaultId::new(2))),
        (GenerationRequest { model_id: "local/other".into(), ..plain() }, None),
        (GenerationRequest { prompt: "A harbou".into(), ..plain() }, None),
        (GenerationRequest { kind: OutputKind::Image, ..plain() }, None),
        (GenerationRequest { negative_prompt: None, ..plain() }, None),
        (GenerationRequest { image_input: Some("a:b".into()), ..plain() }, None),
        (GenerationRequest { image_inputs: vec!["a:b".into()], ..plain() }, None),
        (GenerationRequest { image_inputs: vec!["a:".into(), "b".into()], ..plain() }, None),
        (GenerationRequest { aspect_ratio: "1:1".into(), ..plain() }, None),
        (GenerationRequest { batch_count: 2, ..plain() }, None),
        (GenerationRequest { reference_image_urls: vec!["a:b".into()], ..plain() }, None),
        (GenerationRequest { image_edit_endpoint_id: Some("a:b".into()), ..plain() }, None),
        (GenerationRequest { parameters: None, ..plain() }, None),
        (GenerationRequest { parameters: parameters(json!({})), ..plain() }, None),
        (GenerationRequest { parameters: parameters(json!({"seed": "7"})), ..plain() }, None),
        (GenerationRequest { parameters: parameters(json!({"seed": [7]})), ..plain() }, None),
    ];
    let digests = all.iter().map(|(request, vault)| request_digest(request, *vault));
    let distinct = digests.collect::<std::collections::BTreeSet<_>>();
    assert_eq!(distinct.len(), all.len());
}
