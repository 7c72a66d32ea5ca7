use image::ImageFormat;
use serde_json::json;

use super::*;
use crate::clock::ManualClock;
use crate::domain::Media;

/// The provider, with the clock that it reads.
fn local() -> (LocalProvider, ManualClock) {
    let clock = ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap());
    let assets = Assets::new(&"https://prompts.example/".parse().unwrap(), &[]);
    let blobs = Blobs::in_memory();
    let paint = waves;
    (LocalProvider { clock: Clock::Manual(clock.clone()), assets, blobs, paint }, clock)
}

/// A request for "a lighthouse" of `local/plasma` with some fields set in its JSON.
fn plasma(fields: Value) -> GenerationRequest {
    let mut request = json!({
        "modelId": "local/plasma", "prompt": "a lighthouse", "aspectRatio": "1:1", "batchCount": 1,
    });
    let Value::Object(fields) = fields else { unreachable!("{fields}") };
    request.as_object_mut().unwrap().extend(fields);
    serde_json::from_value(request).unwrap()
}

async fn run(provider: &LocalProvider, request: &GenerationRequest) -> Result<Progress, PollError> {
    let ticket = provider.submit(request).await.unwrap();
    provider.poll(&ticket, request).await
}

/// A picture file that is black on the left and white on the right.
fn two_halves(format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let picture = RgbImage::from_fn(64, 64, |x, _| Rgb([if x < 32 { 0 } else { 255 }; 3]));
    picture.write_to(&mut file, format).unwrap();
    file.into_inner()
}

#[test]
fn outputs_have_the_size_of_the_ratio_and_differ() {
    for (ratio, kind, expected) in [
        ("16:9", "image", (PICTURE, PICTURE * 9 / 16)),
        ("1.91:1", "image", (PICTURE, (PICTURE * 100 + 96) / 191)),
        ("4:1", "image", (PICTURE, PICTURE / 4)),
        ("4:1", "video", (ANIMATION, ANIMATION / 4)),
    ] {
        let request = plasma(json!({ "aspectRatio": ratio, "kind": kind, "batchCount": 2 }));
        let outputs = outputs(waves, &request, None).unwrap();
        let format = if kind == "image" { ImageFormat::Png } else { ImageFormat::Gif };
        for output in &outputs {
            assert_eq!(image::guess_format(output).unwrap(), format, "{ratio} {kind}");
            let picture = image::load_from_memory(output).unwrap();
            assert_eq!((picture.width(), picture.height()), expected, "{ratio} {kind}");
        }
        assert!(outputs.len() == 2 && outputs[0] != outputs[1], "{ratio} {kind}");
    }
}

#[test]
fn only_prompt_model_and_seed_decide_the_picture() {
    let mut seen = Vec::new();
    for (request, is_new) in [
        (plasma(json!({})), true),
        (plasma(json!({})), false),
        (plasma(json!({ "negativePrompt": "fog", "parameters": { "x": 1 } })), false),
        (plasma(json!({ "modelId": "local/other" })), true),
        (plasma(json!({ "prompt": "a lighthouse!" })), true),
        (plasma(json!({ "parameters": { "seed": 1 } })), true),
        (plasma(json!({ "parameters": { "seed": "1" } })), true),
    ] {
        let picture = outputs(waves, &request, None).unwrap();
        assert_eq!(!seen.contains(&picture), is_new, "{request:?}");
        seen.push(picture);
    }
}

#[test]
fn a_video_moves_and_repeats_for_ever() {
    let file = &outputs(waves, &plasma(json!({ "kind": "video" })), None).unwrap()[0];
    let decoder = image::codecs::gif::GifDecoder::new(Cursor::new(file)).unwrap();
    let frames = image::AnimationDecoder::into_frames(decoder).collect_frames().unwrap();
    assert_eq!(frames.len(), usize::from(FRAMES));
    assert!(frames.windows(2).all(|pair| pair[0].buffer() != pair[1].buffer()));
    let repeats = b"NETSCAPE2.0\x03\x01\x00\x00\x00";
    assert!(file.windows(repeats.len()).any(|window| window == repeats));
}

#[test]
fn an_input_image_shows_in_the_picture() {
    let input = two_halves(ImageFormat::Png).into();
    let file = &outputs(waves, &plasma(json!({})), Some(&input)).unwrap()[0];
    let picture = image::load_from_memory(file).unwrap().into_luma8();
    let luma = |is_left: bool| -> u32 {
        let half = picture.enumerate_pixels().filter(|(x, ..)| (*x < PICTURE / 2) == is_left);
        half.map(|(.., pixel)| u32::from(pixel.0[0])).sum()
    };
    assert!(luma(true) + 20 * PICTURE * PICTURE < luma(false));
}

#[tokio::test]
async fn the_first_input_that_is_an_asset_counts_and_must_be_an_image_of_usual_size() {
    let (provider, _) = local();
    // Its header promises 65535 by 65535 pixels.
    let mut large = two_halves(ImageFormat::Gif);
    large[6..10].fill(0xff);
    for (bytes, is_image) in [
        (two_halves(ImageFormat::Png), true),
        (b"text".to_vec(), false),
        (b"GIF89a".to_vec(), false),
        (large, false),
    ] {
        let name = AssetName::random(Media::Png);
        provider.blobs.put_new(&name, bytes.into()).await.unwrap();
        let url = provider.assets.url_of(&name);
        // An editing model counts only with an image input of its own.
        let fields = json!({ "imageInputs": ["urn:x", url], "imageEditEndpointId": "other/edit" });
        match run(&provider, &plasma(fields)).await {
            Ok(Progress::Completed { .. }) => assert!(is_image),
            Err(PollError::Permanent(reason)) => {
                assert!(!is_image && reason.starts_with("an input image cannot be read: "));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn requests_are_refused_with_a_reason() {
    let (provider, _) = local();
    let missing = provider.assets.url_of(&AssetName::random(Media::Png));
    let other = json!({ "imageInput": "urn:x", "imageEditEndpointId": "other/edit" });
    let mut rows = vec![
        (json!({ "imageInput": missing }), "was not uploaded"),
        (json!({ "modelId": "local/refuse" }), "local/refuse"),
        (other, "other/edit"),
    ];
    for model in ["fal-ai/flux", "local", "local/", "", "LOCAL/plasma"] {
        rows.push((json!({ "modelId": model }), "there is no model"));
    }
    for ratio in ["", "1:", "16x9", "0:1", "-1:1", "1:1:1", "a:b", "inf:inf", "NaN:1", " 1:1"] {
        rows.push((json!({ "aspectRatio": ratio }), "not of the form"));
    }
    for ratio in ["5:1", "1:5", "1e300:1e-300"] {
        rows.push((json!({ "aspectRatio": ratio }), "beyond 4:1"));
    }
    for (fields, expected) in rows {
        match provider.submit(&plasma(fields.clone())).await {
            Err(SubmitError::Refused(reason)) => assert!(reason.contains(expected), "{reason}"),
            outcome => panic!("{fields}: {outcome:?}"),
        }
    }
}

#[tokio::test]
async fn the_models_for_tests_are_slow_and_fail() {
    for (seconds, expected) in
        [(json!(0), 0.0), (json!(-1), 0.0), (json!(1e300), 600.0), (json!("x"), 3.0)]
    {
        let request = plasma(json!({ "parameters": { "seconds": seconds } }));
        assert_eq!(slow_seconds(&request), expected);
    }
    let ((provider, clock), slow) = (local(), plasma(json!({ "modelId": "local/slow" })));
    let ticket = provider.submit(&slow).await.unwrap();
    let poll = || provider.poll(&ticket, &slow);
    assert!(matches!(poll().await, Ok(Progress::Queued)));
    clock.advance(Duration::from_millis(1500));
    assert!(matches!(poll().await, Ok(Progress::InProgress)));
    clock.advance(Duration::from_millis(1500));
    assert!(matches!(poll().await, Ok(Progress::Completed { .. })));

    let fail = plasma(json!({ "modelId": "local/fail" }));
    assert!(matches!(run(&provider, &fail).await, Err(PollError::Permanent(_))));
    assert_ne!(provider.submit(&fail).await.unwrap().request_id, ticket.request_id);
    let foreign = ProviderTicket { request_id: "a".into(), provider_state: "{}".into() };
    assert!(matches!(provider.poll(&foreign, &fail).await, Err(PollError::Transient { .. })));
}
