//! The schema in `docs/` and the JSON of reports say the same.

use serde_json::{Map, Value, json as value};

use super::kinds;
use crate::prelude::*;

fn schema() -> Value {
    let file =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/conformance-report.schema.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// A reader lets fields pass that it does not know; here each must be written down.
fn nothing_else(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.contains_key("properties") {
                fields.insert("additionalProperties".into(), false.into());
            }
            fields.values_mut().for_each(nothing_else);
        }
        Value::Array(values) => values.iter_mut().for_each(nothing_else),
        _ => {}
    }
}

async fn reports() -> Vec<Value> {
    let mut reports = vec![kinds::report().await];
    reports.extend(kinds::others().await);
    reports
        .iter()
        .map(|report| serde_json::from_str(&Format::Json.render(report)).unwrap())
        .collect()
}

fn faults(schema: &Value, report: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).unwrap();
    let faults = validator.iter_errors(report);
    faults.map(|fault| format!("{}: {fault}", fault.instance_path())).collect()
}

#[tokio::test]
async fn every_report_is_as_the_schema_says() {
    let mut schema = schema();
    assert!(jsonschema::meta::is_valid(&schema));
    nothing_else(&mut schema);
    for report in reports().await {
        assert_eq!(faults(&schema, &report), [""; 0], "{}", report["verdict"]);
        let mut wrong = report.clone();
        wrong["more"] = value!(1);
        assert!(!faults(&schema, &wrong).is_empty(), "a field that is not written down passes");
    }
}

/// Every property of the schema, with what it leads to in a report.
fn unseen(root: &Value, schema: &Value, found: &[&Value], path: &str, missing: &mut Vec<String>) {
    let schema = match schema["$ref"].as_str() {
        Some(place) => root.pointer(place.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    let empty = Map::new();
    for (name, inner) in schema["properties"].as_object().unwrap_or(&empty) {
        let below: Vec<&Value> = found
            .iter()
            .filter_map(|value| value.get(name))
            .filter(|value| !value.is_null())
            .collect();
        let path = format!("{path}/{name}");
        if below.is_empty() {
            missing.push(path.clone());
        }
        unseen(root, inner, &below, &path, missing);
    }
    for inner in schema["anyOf"].as_array().into_iter().flatten() {
        unseen(root, inner, found, path, missing);
    }
    if schema["items"].is_object() {
        let below: Vec<&Value> =
            found.iter().filter_map(|value| value.as_array()).flatten().collect();
        unseen(root, &schema["items"], &below, &format!("{path}/*"), missing);
    }
}

#[tokio::test]
async fn every_field_of_the_schema_is_in_some_report() {
    let (schema, reports) = (schema(), reports().await);
    let mut missing = Vec::new();
    unseen(&schema, &schema, &reports.iter().collect::<Vec<_>>(), "", &mut missing);
    assert_eq!(missing, [""; 0]);
}

#[tokio::test]
async fn every_word_of_the_schema_is_in_some_report() {
    let (schema, reports) = (schema(), reports().await);
    let words = |place: &str| schema.pointer(place).unwrap().as_array().unwrap().clone();
    for verdict in words("/$defs/verdict/enum") {
        assert!(reports.iter().any(|report| report["verdict"] == verdict), "{verdict}");
    }
    let records = || reports.iter().flat_map(|report| report["records"].as_array().unwrap());
    for outcome in words("/$defs/record/properties/outcome/enum") {
        assert!(records().any(|record| record["outcome"] == outcome), "{outcome}");
    }
}
