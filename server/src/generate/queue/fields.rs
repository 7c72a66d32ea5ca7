//! Which field of the provider each field of a generation becomes.
//!
//! Most are the same for all models. Aspect ratio and input image depend on the family of the
//! model. docs/reference/provider.md has these tables for people.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::domain::{GenerationRequest, OutputKind};
use crate::generate::{model, ratio};

/// The fields of which a family of models takes one or the other.
pub(crate) const MODEL_FIELDS: [&str; 4] = [ASPECT_RATIO, IMAGE_SIZE, IMAGE_URL, IMAGE_URLS];
const ASPECT_RATIO: &str = "aspect_ratio";
const IMAGE_SIZE: &str = "image_size";
const IMAGE_URL: &str = "image_url";
const IMAGE_URLS: &str = "image_urls";

/// The beginnings of models' ids, and what these models take. Other models take [`ASPECT_RATIO`]
/// and [`IMAGE_URL`].
const FAMILIES: [(&str, &str); 3] = [
    (
        "fal-ai/bytedance/seedream fal-ai/fast- fal-ai/flux fal-ai/hidream fal-ai/ideogram/v3 \
         fal-ai/qwen-image fal-ai/recraft fal-ai/sana fal-ai/stable-diffusion fal-ai/z-image",
        IMAGE_SIZE,
    ),
    ("fal-ai/flux-kontext fal-ai/flux-pro/kontext fal-ai/flux-pro/v1.1-ultra", ASPECT_RATIO),
    (
        "fal-ai/bytedance/seedream/v4 fal-ai/flux-2 fal-ai/flux-pro/kontext/multi fal-ai/gemini- \
         fal-ai/gpt-image- fal-ai/nano-banana",
        IMAGE_URLS,
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
pub(crate) type ModelFields = Vec<(String, String)>;

/// Whether a model takes `field` in place of `usual`. The longest prefix decides.
fn takes(fields: &ModelFields, model: &str, field: &str, usual: &str) -> bool {
    let own = fields.iter().map(|(prefix, field)| (1, &**prefix, &**field));
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
    let size = if takes(fields, model, IMAGE_SIZE, ASPECT_RATIO) {
        // A size of the caller's own is more exact.
        (IMAGE_SIZE, body.remove(IMAGE_SIZE).unwrap_or_else(|| size(&request.aspect_ratio)))
    } else {
        (ASPECT_RATIO, json!(request.aspect_ratio))
    };
    let (one, many) = match (&request.image_input, &request.image_inputs) {
        (Some(one), many) if takes(fields, model, IMAGE_URLS, IMAGE_URL) => {
            (Value::Null, json!([std::slice::from_ref(one), many].concat()))
        }
        (one, many) => (json!(one), json!(many)),
    };
    let fields = [
        size,
        ("prompt", json!(request.prompt)),
        ("num_images", json!((request.kind == OutputKind::Image).then_some(request.batch_count))),
        ("negative_prompt", json!(request.negative_prompt)),
        (IMAGE_URL, one),
        (IMAGE_URLS, many),
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
    fn a_family_takes_the_ratio_and_the_images_in_its_own_fields() {
        let own = [
            ("acme/", IMAGE_SIZE),
            ("acme/old", ASPECT_RATIO),
            ("acme/edit", IMAGE_URLS),
            ("fal-ai/", ASPECT_RATIO),
        ];
        let own = own.map(|(prefix, field)| (prefix.to_owned(), field.to_owned())).into();
        let (none, all) =
            (ModelFields::new(), json!(["https://a.example/1.png", "https://a.example/2.png"]));
        let named = |name: &str| (IMAGE_SIZE, json!(name));
        let pixels = |width, height| (IMAGE_SIZE, json!({"width": width, "height": height}));
        let as_it_is = || (ASPECT_RATIO, json!("9:16"));
        for (fields, model, ratio, (field, value), is_one) in [
            (&none, "acme/flux", "9:16", as_it_is(), false),
            (&none, "fal-ai/imagen4/preview", "9:16", as_it_is(), false),
            (&none, "fal-ai/flux/dev", "9:16", named("portrait_16_9"), false),
            (&none, "fal-ai/flux-pro/v1.1", "1:1", named("square_hd"), false),
            (&none, "fal-ai/flux-pro/v1.1-ultra", "9:16", as_it_is(), false),
            (&none, "fal-ai/flux/dev", "3:2", pixels(1248, 832), false),
            (&none, "fal-ai/flux/dev", "4:5", pixels(912, 1152), false),
            (&none, "fal-ai/flux/dev", "1:1e9", pixels(16, 4096), false),
            (&none, "fal-ai/flux/dev", "square", named("square"), false),
            (&none, "fal-ai/nano-banana/edit", "9:16", as_it_is(), true),
            // The fields of the operator precede the table.
            (&own, "acme/new", "9:16", named("portrait_16_9"), false),
            (&own, "acme/old", "9:16", as_it_is(), false),
            (&own, "acme/edit", "9:16", named("portrait_16_9"), true),
            (&own, "fal-ai/flux/dev", "9:16", as_it_is(), false),
        ] {
            let body = body(model, ratio, fields);
            assert_eq!(body[field], value, "{model} {ratio}");
            let sent = [ASPECT_RATIO, IMAGE_SIZE].map(|field| body.get(field).is_some());
            assert!(sent[0] != sent[1], "{model}");
            let (first, others) = (body.get(IMAGE_URL), &body[IMAGE_URLS]);
            let second = json!([all[1]]);
            let expected = if is_one { (None, &all) } else { (Some(&all[0]), &second) };
            assert_eq!((first, others), expected, "{model}");
        }
    }
}
