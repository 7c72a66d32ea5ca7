//! An order as it is posted: where to, and in which words.

use bytes::Bytes;
use promptarium::limits::GENERATION_MODEL_ID_CHARS;
use serde_json::{Map, Value, json};
use url::Url;

use crate::domain::{GenerationRequest, OutputKind};

/// The address of the model that an order comes to: the editing one if there is
/// something to edit.
///
/// # Errors
/// If there cannot be such a model; for a person.
pub(super) fn address(provider: &Url, order: &GenerationRequest) -> Result<Url, String> {
    let model = match (&order.image_edit_endpoint_id, &order.image_input) {
        (Some(endpoint), Some(_)) => endpoint,
        _ => &order.model_id,
    };
    // The id is the caller's. It must lead to a model and to nothing else that the
    // key opens there.
    let names_a_model = GENERATION_MODEL_ID_CHARS.contains(&model.chars().count())
        && model.split('/').all(|part| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
            !part.is_empty()
                && part.chars().all(plain)
                && !part.bytes().all(|byte| byte == b'.')
                && part != "requests"
        });
    if !names_a_model {
        return Err("there can be no model of this id".into());
    }
    let mut url = provider.clone();
    let path = format!("{}/{model}", provider.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

/// The body: the model's own parameters, and over them what the service has checked.
///
/// # Errors
/// If the protocol cannot say it; for a person.
pub(super) fn body(order: &GenerationRequest) -> Result<Bytes, String> {
    let mut fields: Map<String, Value> = order.parameters.clone().unwrap_or_default();
    fields.insert("prompt".into(), json!(order.prompt));
    fields.insert("aspect_ratio".into(), json!(order.aspect_ratio));
    match order.kind {
        OutputKind::Image => {
            fields.insert("num_images".into(), json!(order.batch_count));
        }
        OutputKind::Video if order.batch_count > 1 => {
            return Err("it makes one video at a time; batchCount must be 1".into());
        }
        OutputKind::Video => {}
    }
    if let Some(negative) = &order.negative_prompt {
        fields.insert("negative_prompt".into(), json!(negative));
    }
    if let Some(image) = &order.image_input {
        fields.insert("image_url".into(), json!(image));
    }
    if !order.image_inputs.is_empty() {
        fields.insert("image_urls".into(), json!(order.image_inputs));
    }
    if !order.reference_image_urls.is_empty() {
        fields.insert("reference_image_urls".into(), json!(order.reference_image_urls));
    }
    Ok(Value::Object(fields).to_string().into())
}
