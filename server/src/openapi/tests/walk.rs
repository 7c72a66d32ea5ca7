//! Ways through a document.

use serde_json::Value;

/// One operation.
pub(super) struct Operation<'a> {
    pub(super) path: &'a str,
    pub(super) method: &'a str,
    pub(super) value: &'a Value,
}

impl Operation<'_> {
    pub(super) fn id(&self) -> &str {
        self.value["operationId"].as_str().unwrap_or("(none)")
    }

    /// Its parameters, references followed.
    pub(super) fn parameters<'a>(&'a self, document: &'a Value) -> Vec<&'a Value> {
        let parameters = self.value["parameters"].as_array().unwrap();
        parameters.iter().map(|parameter| followed(document, parameter)).collect()
    }
}

/// Every operation.
pub(super) fn operations(document: &Value) -> Vec<Operation<'_>> {
    let paths = document["paths"].as_object().unwrap();
    let mut all = Vec::new();
    for (path, item) in paths {
        for (method, value) in item.as_object().unwrap() {
            all.push(Operation { path, method, value });
        }
    }
    all
}

/// The operation of this name.
pub(super) fn operation<'a>(document: &'a Value, id: &str) -> Operation<'a> {
    operations(document).into_iter().find(|operation| operation.id() == id).unwrap()
}

/// What a value refers to, or the value itself.
pub(super) fn followed<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => document.pointer(reference.strip_prefix('#').unwrap()).unwrap(),
        None => value,
    }
}

/// Every value in a value, the value itself first, with its place as a JSON pointer.
pub(super) fn each<'a>(value: &'a Value, see: &mut impl FnMut(&str, &'a Value)) {
    below("", value, see);
}

fn below<'a>(place: &str, value: &'a Value, see: &mut impl FnMut(&str, &'a Value)) {
    see(place, value);
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                below(&format!("{place}/{name}"), value, see);
            }
        }
        Value::Array(values) => {
            for (at, value) in values.iter().enumerate() {
                below(&format!("{place}/{at}"), value, see);
            }
        }
        _ => {}
    }
}
