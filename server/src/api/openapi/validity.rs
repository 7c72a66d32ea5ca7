//! The document is valid by itself. `script/schemathesis` checks it against OpenAPI 3.1 too.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::document;
use super::tests::{entries, keys, operations, original, resolved};
use crate::domain::{ModelNamespace, PublicUrl};

/// Calls `check` with every value below this one and its JSON pointer.
fn each<'a>(value: &'a Value, place: &str, check: &mut impl FnMut(&str, &'a Value)) {
    check(place, value);
    for (name, value) in entries(value) {
        let name = name.replace('~', "~0").replace('/', "~1");
        each(value, &format!("{place}/{name}"), check);
    }
    for (at, value) in value.as_array().into_iter().flatten().enumerate() {
        each(value, &format!("{place}/{at}"), check);
    }
}

/// Whether a value matches a schema of the document.
fn is_valid(document: &Value, schema: &Value, value: &Value) -> bool {
    let mut root = close(schema);
    root["components"] = close(&document["components"]);
    let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012);
    options.should_validate_formats(true).build(&root).unwrap().is_valid(value)
}

/// Forbids fields that a schema does not name, so that a misspelt field is found.
fn close(schema: &Value) -> Value {
    let mut closed = match schema {
        Value::Object(_) => entries(schema).map(|(name, one)| (name, close(one))).collect(),
        Value::Array(entries) => entries.iter().map(close).collect(),
        _ => schema.clone(),
    };
    if closed["type"] == "object" && closed.get("properties").is_some() {
        let fields = closed.as_object_mut().unwrap();
        fields.entry("additionalProperties").or_insert(json!(false));
    }
    closed
}

/// JSON Schema allows unknown keywords, so that a misspelt one would be ignored.
const KEYWORDS: &str = "$ref type format pattern const enum not minLength maxLength minimum maximum \
    items minItems maxItems properties required additionalProperties propertyNames maxProperties \
    anyOf if then default examples description";

#[test]
fn schemas_examples_and_defaults_are_valid() {
    let (document, mut schemas, mut examples) = (original(), 0, 0);
    each(&document, "", &mut |place, value| {
        let parts: Vec<_> = place.rsplit('/').take(2).collect();
        if matches!(parts[..], [_, "properties" | "schemas"] | ["schema" | "items", _]) {
            schemas += 1;
            let error = jsonschema::draft202012::meta::validate(value).err();
            assert!(error.is_none(), "{place}: {error:?}");
            for key in keys(value) {
                assert!(KEYWORDS.split(' ').any(|keyword| keyword == key), "{place}: {key}");
            }
        }
        if place.ends_with("/application~1json") {
            examples += 1;
            assert!(is_valid(&document, &value["schema"], &value["example"]), "{place}");
        }
        let listed = value["examples"].as_array().into_iter().flatten();
        for example in listed.chain(value.get("default")) {
            examples += 1;
            assert!(is_valid(&document, value, example), "{place}: {example}");
        }
    });
    assert!(schemas > 150 && examples > 50, "{schemas} {examples}");
}

#[test]
fn responses_require_all_their_fields() {
    let document = resolved();
    for (id, (.., one)) in operations(&document) {
        each(&one["responses"], "", &mut |place, value| {
            let Some(fields) = value.get("properties") else { return };
            let required = value["required"].as_array().into_iter().flatten();
            let required: BTreeSet<_> = required.filter_map(Value::as_str).collect();
            assert_eq!(required, keys(fields), "{id}: {place}");
        });
    }
}

#[test]
fn components_and_tags_are_used() {
    let document = original();
    let (mut used, mut tags) = (BTreeSet::new(), BTreeSet::new());
    each(&document, "", &mut |_, value| {
        used.extend(value.get("$ref").and_then(Value::as_str).map(str::to_owned));
    });
    for (.., one) in operations(&document).into_values() {
        let schemes = one["security"].as_array().unwrap().iter().flat_map(keys);
        used.extend(schemes.map(|name| format!("#/components/securitySchemes/{name}")));
        tags.insert(one["tags"].to_string());
    }
    let all = entries(&document["components"]).flat_map(|(kind, all)| {
        entries(all).map(move |(name, _)| format!("#/components/{kind}/{name}"))
    });
    assert_eq!(used, all.collect());
    let declared = document["tags"].as_array().unwrap().iter().map(|tag| json!([tag["name"]]));
    assert_eq!(tags, declared.map(|tag| tag.to_string()).collect());
}

#[test]
fn links_set_parameters_of_their_operations() {
    let (document, mut links) = (resolved(), 0);
    let operations = operations(&document);
    for (id, (.., one)) in &operations {
        each(&one["responses"], "", &mut |place, link| {
            let Some(target) = link["operationId"].as_str() else { return };
            let parameters = operations[target].2["parameters"].as_array().unwrap();
            for name in keys(&link["parameters"]) {
                links += 1;
                assert!(parameters.iter().any(|one| one["name"] == name), "{id}: {place}");
            }
        });
    }
    assert!(links > 50, "{links}");
}

#[test]
fn cited_rules_are_in_the_docs() {
    let api = include_str!("../../../../docs/api.md");
    let choices = include_str!("../../../../docs/silent-points.md");
    let document = original().to_string();
    let words = document.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let is_rule = |word: &&str| {
        let (chapter, number) = word.split_once('-').unwrap_or_default();
        let is_number = number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit());
        let is_chapter = chapter.bytes().all(|byte| byte.is_ascii_uppercase());
        is_number && is_chapter && (1..=2).contains(&chapter.len())
    };
    let cited: BTreeSet<_> = words.filter(is_rule).collect();
    assert!(cited.len() > 150, "{}", cited.len());
    for rule in cited {
        let is_rule = api.contains(&format!("**{rule}**"));
        assert!(is_rule || choices.contains(&format!("## {rule} ")), "{rule}");
    }
}

#[test]
fn the_url_and_the_prefix_of_models_are_replaced() {
    let public = PublicUrl::parse("https://prompts.example/behind/").unwrap();
    let document = document(Some(&public), &ModelNamespace::new("a.b").unwrap());
    assert_eq!(document["servers"], json!([{ "url": "https://prompts.example/behind" }]));
    assert_eq!(original()["servers"], json!([{ "url": "/" }]));
    let schema = &document["components"]["schemas"]["NewPrompt"];
    for (more, valid) in [
        (json!({}), true),
        (json!({ "promptType": "text" }), true),
        (json!({ "promptType": "image" }), false),
        (json!({ "promptType": "video" }), false),
        (json!({ "promptType": "image", "modelId": "a.b/c" }), true),
        (json!({ "modelId": "a.b/c/d\n" }), true),
        (json!({ "modelId": "a.b/" }), false),
        (json!({ "modelId": "axb/c" }), false),
        (json!({ "modelId": "a.b" }), false),
        (json!({ "modelId": "xa.b/c" }), false),
        (json!({ "modelId": "a.b/\nc" }), false),
        (json!({ "modelId": "a.b/c\0" }), false),
    ] {
        let mut body = json!({ "title": "t", "prompt": "p" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(is_valid(&document, schema, &body), valid, "{body}");
    }
}
