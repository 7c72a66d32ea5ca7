//! One answer that the document describes: headers and body as schemas, compiled once.

use std::collections::BTreeMap;

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

/// What an answer of one status has to look like.
pub(crate) struct Answer {
    headers: Vec<Header>,
    /// By content type; without a schema where the bytes are no JSON. Empty where
    /// there is no body.
    bodies: BTreeMap<String, Option<Validator>>,
}

struct Header {
    name: String,
    is_number: bool,
    validator: Validator,
}

/// A document that cannot be used.
pub(crate) type Unusable = Box<dyn std::error::Error>;

impl Answer {
    /// Reads a response object.
    pub(crate) fn of(document: &Value, response: &Value) -> Result<Self, Unusable> {
        let response = followed(document, response)?;
        let mut headers = Vec::new();
        for (name, header) in fields(&response["headers"]) {
            let header = followed(document, header)?;
            headers.push(Header {
                name: name.clone(),
                is_number: header["schema"]["type"] == "integer",
                validator: compiled(document, &header["schema"])?,
            });
        }
        let mut bodies = BTreeMap::new();
        for (kind, content) in fields(&response["content"]) {
            let is_json = kind == "application/json";
            let schema = &content["schema"];
            let validator = if is_json { Some(compiled(document, schema)?) } else { None };
            bodies.insert(kind.clone(), validator);
        }
        Ok(Self { headers, bodies })
    }

    /// All that is other than described.
    pub(crate) fn violations(&self, headers: &HeaderMap, body: Option<&[u8]>) -> Vec<String> {
        let mut violations = Vec::new();
        for header in &self.headers {
            violations.extend(header.violation(headers));
        }
        if let Some(body) = body {
            violations.extend(self.violations_of_body(headers, body));
        }
        violations
    }

    fn violations_of_body(&self, headers: &HeaderMap, body: &[u8]) -> Vec<String> {
        if self.bodies.is_empty() {
            let none = body.is_empty();
            return if none { Vec::new() } else { vec!["there is a body".to_owned()] };
        }
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let Some(validator) = kind.and_then(|kind| self.bodies.get(kind)) else {
            return vec![format!("the content type is {kind:?}")];
        };
        let Some(validator) = validator else { return Vec::new() };
        match serde_json::from_slice::<Value>(body) {
            Err(error) => vec![format!("the body is no JSON: {error}")],
            Ok(body) => {
                let at = |error: jsonschema::ValidationError<'_>| {
                    format!("the body at `{}`: {error}", error.instance_path())
                };
                validator.iter_errors(&body).map(at).collect()
            }
        }
    }
}

impl Header {
    fn violation(&self, headers: &HeaderMap) -> Option<String> {
        let Some(value) = headers.get(&self.name) else {
            return Some(format!("the header {} is missing", self.name));
        };
        let text = value.to_str().unwrap_or_default();
        let number = text.parse::<u64>().ok().filter(|_| self.is_number);
        let value = number.map_or_else(|| json!(text), |number| json!(number));
        let error = self.validator.validate(&value).err()?;
        Some(format!("the header {}: {error}", self.name))
    }
}

/// What a value refers to, or the value itself.
pub(crate) fn followed<'a>(document: &'a Value, value: &'a Value) -> Result<&'a Value, Unusable> {
    let Some(reference) = value["$ref"].as_str() else { return Ok(value) };
    let place = reference.strip_prefix('#').and_then(|place| document.pointer(place));
    place.ok_or_else(|| format!("{reference} leads nowhere").into())
}

/// The fields of an object; of anything else, none.
pub(crate) fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// The schema, closed: a field that it does not name is one too many.
fn compiled(document: &Value, schema: &Value) -> Result<Validator, Unusable> {
    let mut root = schema.clone();
    if let Some(root) = root.as_object_mut() {
        root.insert(
            "components".to_owned(),
            json!({ "schemas": document["components"]["schemas"] }),
        );
    }
    close(&mut root);
    let options = jsonschema::options().with_draft(Draft::Draft202012);
    Ok(options.should_validate_formats(true).build(&root)?)
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(all) => {
            let is_object = all.get("type").is_some_and(|kind| kind == "object");
            if is_object && all.contains_key("properties") {
                all.entry("additionalProperties").or_insert(json!(false));
            }
            all.values_mut().for_each(close);
        }
        Value::Array(all) => all.iter_mut().for_each(close),
        _ => {}
    }
}
