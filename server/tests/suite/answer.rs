//! One answer that the document describes: headers and body as one schema, compiled once.

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};

const JSON: &str = "application/json";

/// What an answer of one status has to look like.
pub(crate) struct Answer {
    /// Of an object with `headers`, and `body` if there is one to be looked at.
    validator: Validator,
}

pub(crate) type Unusable = Box<dyn std::error::Error>;

impl Answer {
    pub(crate) fn of(document: &Value, response: &Value) -> Result<Self, Unusable> {
        let response = followed(document, response)?;
        let mut headers = Map::new();
        for (name, header) in fields(&response["headers"]) {
            headers.insert(name.to_lowercase(), followed(document, header)?["schema"].clone());
        }
        let mut body = json!({ "const": "" });
        let kinds: Vec<_> = fields(&response["content"]).map(|(kind, _)| kind.as_str()).collect();
        if !kinds.is_empty() {
            headers.insert(CONTENT_TYPE.to_string(), json!({ "enum": kinds }));
            let schema = &response["content"][JSON]["schema"];
            body = if schema.is_null() { json!(true) } else { schema.clone() };
        }
        close(&mut body);
        let mut schemas = document["components"]["schemas"].clone();
        close(&mut schemas);
        let names: Vec<_> = headers.keys().cloned().collect();
        let schema = json!({
            "properties": { "headers": { "required": names, "properties": headers }, "body": body },
            "components": { "schemas": schemas },
        });
        let options = jsonschema::options().with_draft(Draft::Draft202012);
        Ok(Self { validator: options.should_validate_formats(true).build(&schema)? })
    }

    /// All that is other than described.
    pub(crate) fn violations(&self, headers: &HeaderMap, body: Option<&[u8]>) -> Vec<String> {
        let mut answer = json!({ "headers": {} });
        for (name, value) in headers {
            let text = value.to_str().unwrap_or_default();
            let number = text.parse::<u64>().ok().map(Value::from);
            answer["headers"][name.as_str()] = number.unwrap_or_else(|| text.into());
        }
        if let Some(body) = body {
            let is_json = headers.get(CONTENT_TYPE).is_some_and(|kind| kind == JSON);
            let text = || String::from_utf8_lossy(body).into();
            let parsed = serde_json::from_slice(body).ok().filter(|_| is_json);
            answer["body"] = parsed.unwrap_or_else(text);
        }
        let told = |error: jsonschema::ValidationError<'_>| {
            format!("`{}`: {error}", error.instance_path())
        };
        self.validator.iter_errors(&answer).map(told).collect()
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

/// Closes a schema: a field that it does not name is one too many.
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
