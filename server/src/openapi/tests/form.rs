//! The document is OpenAPI, and nothing in it is wrong by itself.

use std::collections::BTreeSet;

use jsonschema::Draft;
use serde_json::{Value, json};

use super::super::{Described, document, schema};
use super::described;
use super::walk::{each, followed, operations};
use crate::domain::{ModelNamespace, PublicUrl};

/// Says whether values have the form of schemas in a document.
fn errors(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let root = schema::with(schema.clone(), json!({ "components": document["components"] }));
    let validator = jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .build(&closed(root))
        .unwrap();
    validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

/// The schema with every object closed, so that a misspelt field is one too many.
fn closed(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(fields) => {
            let is_object = fields.get("type").is_some_and(|kind| kind == "object");
            if is_object && fields.contains_key("properties") {
                fields.entry("additionalProperties").or_insert(json!(false));
            }
            for value in fields.values_mut() {
                *value = closed(value.take());
            }
        }
        Value::Array(values) => {
            for value in values {
                *value = closed(value.take());
            }
        }
        _ => {}
    }
    schema
}

/// Every media type in the document, with its place.
fn contents(document: &Value) -> Vec<(String, &Value)> {
    let mut all = Vec::new();
    each(document, &mut |place, value| {
        if place.ends_with("/application~1json") {
            all.push((place.to_owned(), value));
        }
    });
    all
}

#[test]
fn every_schema_is_one_of_json_schema_2020_12() {
    let document = described();
    let mut schemas = 0;
    each(&document, &mut |place, value| {
        let of_component =
            place.starts_with("/components/schemas/") && place.matches('/').count() == 3;
        if of_component || place.ends_with("/schema") {
            schemas += 1;
            let error =
                jsonschema::draft202012::meta::validate(value).err().map(|error| error.to_string());
            assert_eq!(error, None, "{place}");
        }
    });
    assert!(schemas > 80, "{schemas}");
}

#[test]
fn every_json_has_an_example_of_its_form() {
    let document = described();
    let contents = contents(&document);
    assert!(contents.len() > 40, "{}", contents.len());
    for (place, content) in contents {
        let example = content.get("example").unwrap_or_else(|| panic!("{place} has no example"));
        assert_eq!(errors(&document, &content["schema"], example), [""; 0], "{place}");
    }
}

#[test]
fn examples_in_schemas_have_their_form() {
    let document = described();
    let mut examples = 0;
    each(&document, &mut |place, value| {
        for example in value["examples"].as_array().into_iter().flatten() {
            examples += 1;
            assert_eq!(errors(&document, value, example), [""; 0], "{place}");
        }
        if let Some(default) = value.get("default") {
            examples += 1;
            assert_eq!(errors(&document, value, default), [""; 0], "{place}");
        }
    });
    assert!(examples > 8, "{examples}");
}

#[test]
fn a_slip_in_an_answer_is_seen() {
    let document = described();
    let prompt = &document["paths"]["/api/v1/prompts/{promptId}"]["get"]["responses"]["200"];
    let content = &prompt["content"]["application/json"];
    let (schema, example) = (&content["schema"], &content["example"]);
    let slips: [fn(&mut Value); 7] = [
        |answer| answer["data"]["vaultIDs"] = answer["data"]["vaultIds"].take(),
        |answer| answer["data"]["more"] = json!(1),
        |answer| answer["data"]["images"][0]["more"] = json!(1),
        |answer| answer["data"]["id"] = json!("17"),
        |answer| answer["data"]["createdAt"] = json!("2025-03-01 09:30:00"),
        |answer| answer["details"] = json!({}),
        |answer| drop(answer["data"].as_object_mut().unwrap().remove("platform")),
    ];
    assert_eq!(errors(&document, schema, example), [""; 0]);
    for slip in slips {
        let mut answer = example.clone();
        slip(&mut answer);
        assert_ne!(errors(&document, schema, &answer), [""; 0], "{answer}");
    }
}

#[test]
fn every_reference_leads_somewhere_and_nothing_is_left_over() {
    let document = described();
    let mut used = BTreeSet::new();
    each(&document, &mut |place, value| {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            let found = document.pointer(reference.strip_prefix('#').unwrap());
            assert!(found.is_some(), "{place}: {reference}");
            used.insert(reference.to_owned());
        }
    });
    for one in operations(&document) {
        let schemes = one.value["security"].as_array().unwrap().iter().filter_map(Value::as_object);
        used.extend(
            schemes.flatten().map(|(name, _)| format!("#/components/securitySchemes/{name}")),
        );
    }
    let mut shared = BTreeSet::new();
    for (kind, all) in document["components"].as_object().unwrap() {
        let names = all.as_object().unwrap().keys();
        shared.extend(names.map(|name| format!("#/components/{kind}/{name}")));
    }
    assert_eq!(used, shared);
    let tags: BTreeSet<_> =
        operations(&document).iter().map(|one| one.value["tags"][0].clone().to_string()).collect();
    let described = document["tags"].as_array().unwrap();
    assert_eq!(described.iter().map(|tag| tag["name"].to_string()).collect::<BTreeSet<_>>(), tags);
}

#[test]
fn every_answer_says_its_request_id() {
    let document = described();
    for one in operations(&document) {
        for (status, response) in one.value["responses"].as_object().unwrap() {
            let headers = &followed(&document, response)["headers"];
            assert!(headers.get("x-request-id").is_some(), "{} {status}", one.id());
        }
    }
}

/// Names such as `PR-19` in a text.
fn cited(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let is_rule = |word: &&str| {
        let (chapter, number) = word.split_once('-').unwrap_or_default();
        (1..=2).contains(&chapter.len())
            && chapter.bytes().all(|byte| byte.is_ascii_uppercase())
            && number.len() == 2
            && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    words.filter(is_rule).collect()
}

#[test]
fn every_rule_that_is_cited_stands_in_the_docs() {
    let docs = [
        include_str!("../../../../docs/api.md"),
        include_str!("../../../../docs/silent-points.md"),
    ];
    let document = described().to_string();
    let cited = cited(&document);
    assert!(cited.len() > 150, "{}", cited.len());
    for id in cited {
        let stated = docs
            .iter()
            .any(|text| text.contains(&format!("**{id}**")) || text.contains(&format!("## {id} ")));
        assert!(stated, "{id}");
    }
}

#[test]
fn it_says_where_it_is_served_and_whose_models_are_taken() {
    let public = PublicUrl::parse("https://prompts.example/behind/").unwrap();
    let model_namespace = &ModelNamespace::new("a.b").unwrap();
    let document = document(Described { public: Some(&public), model_namespace });
    assert_eq!(document["servers"], json!([{ "url": "https://prompts.example/behind" }]));
    assert_eq!(described()["servers"], json!([{ "url": "/" }]));

    let model = &document["components"]["schemas"]["NewPrompt"]["properties"]["modelId"];
    for (id, good) in [
        ("a.b/c", true),
        ("a.b/c/d\n", true),
        ("a.b/", false),
        ("axb/c", false),
        ("a.b", false),
        ("xa.b/c", false),
        ("a.b/\nc", false),
        ("a.b/c\0", false),
    ] {
        assert_eq!(errors(&document, model, &json!(id)).is_empty(), good, "{id:?}");
    }
}

#[test]
fn a_picture_needs_a_model_and_a_text_none() {
    let document = described();
    let schema = &document["components"]["schemas"]["NewPrompt"];
    let good = |more: Value| {
        let body = schema::with(json!({ "title": "t", "prompt": "p" }), more);
        errors(&document, schema, &body).is_empty()
    };
    assert!(good(json!({})));
    assert!(good(json!({ "promptType": "text" })));
    assert!(good(json!({ "promptType": "image", "modelId": "local/a" })));
    assert!(!good(json!({ "promptType": "image" })));
    assert!(!good(json!({ "promptType": "video" })));
}
