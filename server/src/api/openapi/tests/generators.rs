//! What client generators and linters need of the document. `script/clients` runs generators;
//! these rules keep it from failing.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{each, entries, original};

/// Whether a text names a rule, such as PR-19 or S-57.
fn names_rule(text: &str) -> bool {
    let is_area = |area: &str| area.bytes().all(|byte| byte.is_ascii_uppercase());
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.any(|word| match word.split_once('-') {
        Some((area, number)) => {
            matches!(area.len(), 1 | 2) && is_area(area) && number.parse::<u32>().is_ok()
        }
        None => false,
    })
}

#[test]
fn every_value_follows_the_rules_of_generators() {
    assert!(names_rule("as said (PR-19)") && !names_rule("UTF-8 and A–Z or 0-9, S-, x-1"));
    each(&original(), "", &mut |place, value| {
        let parent = place.rsplit('/').nth(1);
        let schema = value["schema"]["$ref"].as_str().unwrap_or_default();
        let is_null = *value == json!({ "type": "null" });
        for (rule, holds) in [
            // Descriptions are shown in the editors of users, who do not have the list of rules.
            ("texts name no rules", !value.as_str().is_some_and(names_rule)),
            // Generators number anonymous schemas: `InlineObject12`.
            (
                "JSON bodies are named schemas",
                !place.ends_with("/application~1json")
                    || schema.starts_with("#/components/schemas/"),
            ),
            // In Go `NewPrompt` is the constructor of `Prompt`.
            (
                "no schema has the name of a constructor",
                !place.starts_with("/components/schemas/New"),
            ),
            // Generators make a class of it that does not exist. Within `anyOf` they know it.
            (
                "null alone is no type",
                value["type"] != "null" || is_null && place.contains("/anyOf/"),
            ),
            // The Python client of openapi-generator compares it with the text `true`.
            ("no boolean is constant", value["type"] != "boolean" || value.get("const").is_none()),
            // In TypeScript such a field is required in requests, too.
            (
                "no field has a default",
                parent != Some("properties") || value.get("default").is_none(),
            ),
        ] {
            assert!(holds, "{rule}: {place}");
        }
    });
}

/// Constants of Go are global: equal values of two enumerations need names.
#[test]
fn enumerations_share_no_constant() {
    let document = original();
    let mut constants = BTreeMap::new();
    for (name, schema) in entries(&document["components"]["schemas"]) {
        let values = schema.get("x-enum-varnames").unwrap_or(&schema["enum"]);
        for value in values.as_array().into_iter().flatten().filter_map(Value::as_str) {
            let other = constants.insert(value.to_uppercase(), name);
            assert_eq!(other, None, "{value} of {name}");
        }
    }
}

/// Linters accept scopes for OAuth only, and ask for a contact.
#[test]
fn scopes_are_extensions_and_there_is_a_contact() {
    let document = original();
    assert!(document["info"]["contact"]["name"].is_string());
    each(&document["paths"], "", &mut |place, value| {
        for (name, scopes) in value["security"].as_array().into_iter().flatten().flat_map(entries) {
            assert_eq!(*scopes, json!([]), "{name} at {place}");
        }
    });
}
