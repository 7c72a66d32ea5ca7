//! What makes two requests for a generation the same (S-36): the checked values,
//! however they were written.

use std::collections::BTreeMap;

use promptarium::VaultId;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::domain::GenerationRequest;

/// SHA-256 of what is asked for. It is kept with jobs, so what goes into it for a
/// given request must stay as it is.
pub fn digest(order: &GenerationRequest, vault: Option<VaultId>) -> [u8; 32] {
    let GenerationRequest {
        model_id,
        prompt,
        kind,
        negative_prompt,
        image_input,
        image_inputs,
        aspect_ratio,
        batch_count,
        parameters,
        reference_image_urls,
        image_edit_endpoint_id,
    } = order;
    let mut meaning = Meaning(Sha256::new());
    meaning.text("promptarium generation 1");
    meaning.text(model_id);
    meaning.text(prompt);
    meaning.text(kind.as_str());
    meaning.optional(negative_prompt.as_deref());
    meaning.optional(image_input.as_deref());
    meaning.list(image_inputs);
    meaning.text(aspect_ratio);
    meaning.count(*batch_count as usize);
    meaning.0.update([u8::from(parameters.is_some())]);
    if let Some(parameters) = parameters {
        meaning.object(parameters.iter());
    }
    meaning.list(reference_image_urls);
    meaning.optional(image_edit_endpoint_id.as_deref());
    meaning.optional(vault.map(|vault| vault.to_string()).as_deref());
    meaning.0.finalize().into()
}

/// Everything goes in with its length or count before it, so that no two
/// different sequences of values ever look alike.
struct Meaning(Sha256);

impl Meaning {
    fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text);
    }

    fn optional(&mut self, text: Option<&str>) {
        self.0.update([u8::from(text.is_some())]);
        if let Some(text) = text {
            self.text(text);
        }
    }

    fn list(&mut self, texts: &[Box<str>]) {
        self.count(texts.len());
        texts.iter().for_each(|text| self.text(text));
    }

    /// The order of keys means nothing.
    fn object<'a>(&mut self, fields: impl Iterator<Item = (&'a String, &'a Value)>) {
        let fields = fields.collect::<BTreeMap<_, _>>();
        self.count(fields.len());
        for (name, value) in fields {
            self.text(name);
            self.value(value);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.0.update(b"z"),
            Value::Bool(truth) => self.0.update(if *truth { b"t" } else { b"f" }),
            Value::Number(number) => {
                self.0.update(b"n");
                self.text(&number.to_string());
            }
            Value::String(text) => {
                self.0.update(b"s");
                self.text(text);
            }
            Value::Array(values) => {
                self.0.update(b"a");
                self.count(values.len());
                values.iter().for_each(|value| self.value(value));
            }
            Value::Object(fields) => {
                self.0.update(b"o");
                self.object(fields.iter());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::OutputKind;

    fn order(parameters: &Value) -> GenerationRequest {
        GenerationRequest {
            model_id: "local/plasma".into(),
            prompt: "A harbour".into(),
            parameters: parameters.as_object().cloned(),
            ..GenerationRequest::default()
        }
    }

    #[test]
    fn the_order_of_keys_and_the_space_between_them_mean_nothing() {
        let parse = |text| serde_json::from_str::<Value>(text).unwrap();
        let one = parse(r#"{"seed":1,"style":{"a":[1,2],"b":null}}"#);
        let two = parse(r#"{ "style": {"b": null, "a": [1, 2]}, "seed": 1 }"#);
        assert_eq!(digest(&order(&one), None), digest(&order(&two), None));
    }

    #[test]
    fn every_field_counts() {
        let plain = || order(&json!({"seed": 1}));
        let all = [
            (plain(), None),
            (plain(), Some(VaultId::new(1))),
            (plain(), Some(VaultId::new(2))),
            (GenerationRequest { model_id: "local/other".into(), ..plain() }, None),
            (GenerationRequest { prompt: "A harbou".into(), ..plain() }, None),
            (GenerationRequest { kind: OutputKind::Video, ..plain() }, None),
            (GenerationRequest { negative_prompt: Some("".into()), ..plain() }, None),
            (GenerationRequest { image_input: Some("a:b".into()), ..plain() }, None),
            (GenerationRequest { image_inputs: vec!["a:b".into()], ..plain() }, None),
            (GenerationRequest { image_inputs: vec!["a:".into(), "b".into()], ..plain() }, None),
            (GenerationRequest { aspect_ratio: "1:1".into(), ..plain() }, None),
            (GenerationRequest { batch_count: 2, ..plain() }, None),
            (GenerationRequest { reference_image_urls: vec!["a:b".into()], ..plain() }, None),
            (GenerationRequest { image_edit_endpoint_id: Some("a:b".into()), ..plain() }, None),
            (GenerationRequest { parameters: None, ..plain() }, None),
            (order(&json!({})), None),
            (order(&json!({"seed": "1"})), None),
            (order(&json!({"seed": [1]})), None),
            (order(&json!({"seed": null})), None),
            (order(&json!({"seed": true})), None),
            (order(&json!({"seed": 1, "more": {}})), None),
            (order(&json!({"seed": 1, "more": []})), None),
        ];
        let digests = all.iter().map(|(order, vault)| digest(order, *vault)).collect::<Vec<_>>();
        let distinct = digests.iter().collect::<std::collections::BTreeSet<_>>();
        assert_eq!(distinct.len(), digests.len());
    }
}
