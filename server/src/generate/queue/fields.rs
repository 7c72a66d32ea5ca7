//! Which field of the provider each field of a generation becomes.
//!
//! Most are the same for all models. Aspect ratio and input image depend on the family of the
//! model. docs/reference/provider.md has these tables for people.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::domain::{GenerationRequest, OutputKind};
use crate::generate::{model, ratio};

/// A field that a family of models takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelField {
    AspectRatio,
    ImageSize,
    ImageUrl,
    ImageUrls,
}

use ModelField::{AspectRatio, ImageSize, ImageUrl, ImageUrls};

/// Their names at the provider.
pub(crate) const MODEL_FIELDS: [(&str, ModelField); 4] = [
    ("aspect_ratio", AspectRatio),
    ("image_size", ImageSize),
    ("image_url", ImageUrl),
    ("image_urls", ImageUrls),
];

/// The beginnings of models' ids, and what these models take. Other models take [`AspectRatio`] and
/// [`ImageUrl`].
const FAMILIES: [(&str, ModelField); 3] = [
    (
        "fal-ai/bytedance/seedream fal-ai/fast- fal-ai/flux fal-ai/hidream fal-ai/ideogram/v3 \
         fal-ai/qwen-image fal-ai/recraft fal-ai/sana fal-ai/stable-diffusion fal-ai/z-image",
        ImageSize,
    ),
    ("fal-ai/flux-kontext fal-ai/flux-pro/kontext fal-ai/flux-pro/v1.1-ultra", AspectRatio),
    (
        "fal-ai/bytedance/seedream/v4 fal-ai/flux-2 fal-ai/flux-pro/kontext/multi fal-ai/gemini- \
         fal-ai/gpt-image- fal-ai/nano-banana",
        ImageUrls,
    ),
];

/// The ratios that `image_size` has names for. Others are sent as width and height.
const SIZES: [(&str, &str); 5] = [
    ("1:1", "square_hd"),
    ("3:4", "portrait_4_3"),
    ("4:3", "landscape_4_3"),
    ("9:16", "portrait_16_9"),
    ("16:9", "landscape_16_9"),
];
/// Pixels of a picture with another ratio, the unit of its sides, and their maximum in units.
const PIXELS: f64 = 1024.0 * 1024.0;
const SIDE_UNIT: f64 = 16.0;
const SIDE_UNITS_MAX: f64 = 256.0;

/// What the operator says of families of models. It precedes [`FAMILIES`].
pub(crate) type ModelFields = Vec<(String, ModelField)>;

/// Whether a model takes `field` in place of `usual`. The longest prefix decides.
fn takes(fields: &ModelFields, model: &str, field: ModelField, usual: ModelField) -> bool {
    let own = fields.iter().map(|(prefix, field)| (1, &**prefix, *field));
    let built_in = FAMILIES.iter().flat_map(|(prefixes, field)| {
        prefixes.split_whitespace().map(|prefix| (0, prefix, *field))
    });
    let fitting = own
        .chain(built_in)
        .filter(|(_, prefix, of)| [field, usual].contains(of) && model.starts_with(prefix));
    fitting.max_by_key(|(rank, prefix, _)| (*rank, prefix.len())).is_some_and(|row| row.2 == field)
}

/// The body of a submission: the model's own parameters, overwritten by the checked fields. Or for
/// the caller why the protocol cannot express the request.
pub(super) fn submit_body(
    request: &GenerationRequest,
    fields: &ModelFields,
) -> Result<Bytes, String> {
    if request.kind == OutputKind::Video && request.batch_count > 1 {
        return Err("it makes one video at a time; batchCount must be 1".into());
    }
    let model = model(request);
    let mut body: Map<String, Value> = request.parameters.clone().unwrap_or_default();
    let size = if takes(fields, model, ImageSize, AspectRatio) {
        // A size of the caller's own is more exact.
        ("image_size", body.remove("image_size").unwrap_or_else(|| size(&request.aspect_ratio)))
    } else {
        ("aspect_ratio", json!(request.aspect_ratio))
    };
    let (one, many) = match (&request.image_input, &request.image_inputs) {
        (Some(one), many) if takes(fields, model, ImageUrls, ImageUrl) => {
            (Value::Null, json!([std::slice::from_ref(one), many].concat()))
        }
        (one, many) => (json!(one), json!(many)),
    };
    let fields = [
        size,
        ("prompt", json!(request.prompt)),
        ("num_images", json!((request.kind == OutputKind::Image).then_some(request.batch_count))),
        ("negative_prompt", json!(request.negative_prompt)),
        ("image_url", one),
        ("image_urls", many),
        ("reference_image_urls", json!(request.reference_image_urls)),
    ];
    let given =
        fields.into_iter().filter(|(_, value)| *value != Value::Null && *value != json!([]));
    body.extend(given.map(|(name, value)| (name.to_owned(), value)));
    Ok(Value::Object(body).to_string().into())
}

/// The value of `image_size` for a ratio. What is no ratio may be a name that the model knows.
fn size(aspect_ratio: &str) -> Value {
    let named = SIZES.iter().find(|(known, _)| *known == aspect_ratio);
    let side = |square: f64| {
        let units = ((PIXELS * square).sqrt() / SIDE_UNIT).round().clamp(1.0, SIDE_UNITS_MAX);
        (units * SIDE_UNIT) as u32
    };
    match (named, ratio(aspect_ratio)) {
        (Some((_, name)), _) => json!(name),
        (None, Some(ratio)) => json!({"width": side(ratio), "height": side(1.0 / ratio)}),
        (None, None) => json!(aspect_ratio),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(request: &GenerationRequest, fields: &ModelFields) -> Value {
        serde_json::from_slice(&submit_body(request, fields).unwrap()).unwrap()
    }

    fn body(model: &str, ratio: &str, fields: &ModelFields) -> Value {
        let request = GenerationRequest {
            model_id: model.into(),
            aspect_ratio: ratio.into(),
            batch_count: 1,
            image_input: Some("https://a.example/1.png".into()),
            image_inputs: vec!["https://a.example/2.png".into()],
            ..GenerationRequest::default()
        };
        sent(&request, fields)
    }

    #[test]
    fn all_fields_are_sent_and_precede_the_parameters() {
        let parameters = json!({"steps": 20, "prompt": "another", "num_images": 9});
        let request = GenerationRequest {
            prompt: "a lighthouse".into(),
            aspect_ratio: "16:9".into(),
            batch_count: 2,
            negative_prompt: Some("people".into()),
            image_input: Some("https://a.example/a.png".into()),
            image_inputs: vec!["https://a.example/b.png".into()],
            reference_image_urls: vec!["https://a.example/c.png".into()],
            parameters: parameters.as_object().cloned(),
            ..GenerationRequest::default()
        };
        let expected = json!({
            "prompt": "a lighthouse",
            "negative_prompt": "people",
            "image_url": "https://a.example/a.png",
            "image_urls": ["https://a.example/b.png"],
            "reference_image_urls": ["https://a.example/c.png"],
            "aspect_ratio": "16:9",
            "num_images": 2,
            "steps": 20,
        });
        assert_eq!(sent(&request, &ModelFields::new()), expected);
        // A size of the caller's own precedes the ratio.
        let size = json!({"image_size": {"width": 640, "height": 360}});
        let request = GenerationRequest {
            model_id: "fal-ai/flux/dev".into(),
            parameters: size.as_object().cloned(),
            ..request
        };
        assert_eq!(sent(&request, &ModelFields::new())["image_size"], size["image_size"]);
        let video = GenerationRequest { kind: OutputKind::Video, batch_count: 1, ..request };
        assert_eq!(sent(&video, &ModelFields::new()).get("num_images"), None);
        let videos = GenerationRequest { batch_count: 2, ..video };
        assert!(submit_body(&videos, &ModelFields::new()).is_err());
    }

    #[test]
    fn a_family_takes_the_ratio_in_its_own_field() {
        let none = ModelFields::new();
        for (model, ratio, field, value) in [
            ("acme/flux", "9:16", "aspect_ratio", json!("9:16")),
            ("fal-ai/imagen4/preview", "9:16", "aspect_ratio", json!("9:16")),
            ("fal-ai/flux/dev", "9:16", "image_size", json!("portrait_16_9")),
            ("fal-ai/flux-pro/v1.1", "1:1", "image_size", json!("square_hd")),
            ("fal-ai/flux-pro/v1.1-ultra", "9:16", "aspect_ratio", json!("9:16")),
            ("fal-ai/flux/dev", "3:2", "image_size", json!({"width": 1248, "height": 832})),
            ("fal-ai/flux/dev", "4:5", "image_size", json!({"width": 912, "height": 1152})),
            ("fal-ai/flux/dev", "1:1e9", "image_size", json!({"width": 16, "height": 4096})),
            ("fal-ai/flux/dev", "square", "image_size", json!("square")),
        ] {
            let body = body(model, ratio, &none);
            assert_eq!(body[field], value, "{model} {ratio}");
            let fields = ["aspect_ratio", "image_size"].map(|field| body.get(field).is_some());
            assert_eq!(fields.iter().filter(|is_sent| **is_sent).count(), 1, "{model}");
        }
    }

    #[test]
    fn an_edit_model_of_several_images_takes_all_of_them_in_one_field() {
        let (none, all) =
            (ModelFields::new(), json!(["https://a.example/1.png", "https://a.example/2.png"]));
        let edit = body("fal-ai/nano-banana/edit", "1:1", &none);
        assert_eq!((edit.get("image_url"), &edit["image_urls"]), (None, &all));
        let usual = body("fal-ai/flux/dev/image-to-image", "1:1", &none);
        assert_eq!((&usual["image_url"], &usual["image_urls"]), (&all[0], &json!([all[1]])));
    }

    #[test]
    fn the_fields_of_the_operator_precede_the_table() {
        let own = [
            ("acme/", ImageSize),
            ("acme/old", AspectRatio),
            ("fal-ai/", AspectRatio),
            ("acme/edit", ImageUrls),
        ];
        let own = own.map(|(prefix, field)| (prefix.to_owned(), field)).into();
        for (model, field) in [
            ("acme/new", "image_size"),
            ("acme/old", "aspect_ratio"),
            ("fal-ai/flux/dev", "aspect_ratio"),
        ] {
            assert!(body(model, "16:9", &own).get(field).is_some(), "{model}");
        }
        assert_eq!(body("acme/edit", "16:9", &own)["image_urls"].as_array().unwrap().len(), 2);
    }
}
