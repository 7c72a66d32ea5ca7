//! The form in which orders are kept.

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

/// Other servers, older and newer, read what this one wrote: an addition to this
/// text is safe, any other change is not.
#[test]
fn the_kept_form_of_an_order_stays_as_it_is() {
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
fn a_kept_order_reads_back_as_it_was() {
    for order in [
        full(),
        GenerationRequest::default(),
        GenerationRequest { parameters: Some(Map::new()), ..full() },
    ] {
        let kept = serde_json::to_string(&order).unwrap();
        assert_eq!(serde_json::from_str::<GenerationRequest>(&kept).unwrap(), order, "{kept}");
    }
}

#[test]
fn an_order_of_another_version_is_read_as_far_as_it_is_known() {
    let kept = r#"{"modelId":"local/plasma","prompt":"A harbour","fromLater":{"a":1}}"#;
    let expected = GenerationRequest {
        model_id: "local/plasma".into(),
        prompt: "A harbour".into(),
        ..GenerationRequest::default()
    };
    assert_eq!(serde_json::from_str::<GenerationRequest>(kept).unwrap(), expected);
}
