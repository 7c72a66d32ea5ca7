use std::io::Cursor;

use image::{ImageFormat, RgbImage};
use serde_json::json;
use url::Url;

use super::*;
use crate::clock::ManualClock;
use crate::domain::{Media, OutputKind};
use crate::generate::Output;

struct Bench {
    provider: LocalProvider,
    clock: ManualClock,
    assets: Assets,
    blobs: Blobs,
}

fn bench() -> Bench {
    let clock = ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap());
    let assets = Assets::new(&Url::parse("https://prompts.example/").unwrap());
    let blobs = Blobs::in_memory();
    let provider = LocalProvider::new(Clock::Manual(clock.clone()), assets.clone(), blobs.clone());
    Bench { provider, clock, assets, blobs }
}

fn order(model: &str) -> GenerationRequest {
    GenerationRequest {
        model_id: model.into(),
        prompt: "a lighthouse".into(),
        aspect_ratio: "1:1".into(),
        batch_count: 1,
        ..GenerationRequest::default()
    }
}

impl Bench {
    async fn draw(&self, order: &GenerationRequest) -> Vec<Output> {
        let ticket = self.provider.submit(order).await.unwrap();
        match self.provider.poll(&ticket, order).await.unwrap() {
            Progress::Completed(outputs) => outputs,
            other => panic!("{other:?}"),
        }
    }

    async fn refusal(&self, order: &GenerationRequest) -> String {
        match self.provider.submit(order).await.unwrap_err() {
            SubmitError::Refused(reason) => reason,
            other => panic!("{other:?}"),
        }
    }

    /// Stores a picture whose left half is black, and gives its address.
    async fn upload(&self, bytes: Option<Vec<u8>>) -> String {
        let bytes = bytes.unwrap_or_else(|| {
            let mut file = Cursor::new(Vec::new());
            RgbImage::from_fn(64, 64, |x, _| image::Rgb([if x < 32 { 0 } else { 255 }; 3]))
                .write_to(&mut file, ImageFormat::Png)
                .unwrap();
            file.into_inner()
        });
        let name = AssetName::random(Media::Png);
        self.blobs.put_new(&name, bytes.into()).await.unwrap();
        self.assets.url_of(&name)
    }
}

#[tokio::test]
async fn an_order_ends_as_pictures_of_its_ratio() {
    let order =
        GenerationRequest { aspect_ratio: "16:9".into(), batch_count: 3, ..order("local/plasma") };
    let outputs = bench().draw(&order).await;
    assert_eq!(outputs.len(), 3);
    for output in &outputs {
        assert_eq!((output.media, output.width, output.height), (Media::Png, 640, 360));
    }
}

#[tokio::test]
async fn a_video_is_an_animation() {
    let order = GenerationRequest { kind: OutputKind::Video, ..order("local/plasma-video") };
    let outputs = bench().draw(&order).await;
    assert_eq!((outputs[0].media, outputs[0].width), (Media::Gif, 320));
}

#[tokio::test]
async fn prompt_model_and_seed_make_the_picture_and_nothing_else_does() {
    let bench = bench();
    let plain = bench.draw(&order("local/plasma")).await;
    bench.clock.advance(Duration::from_secs(60));
    let same =
        GenerationRequest { negative_prompt: Some("people".into()), ..order("local/plasma") };
    assert!(bench.draw(&same).await == plain);
    let elsewhere = GenerationRequest {
        image_inputs: vec!["https://other.example/assets/a.png".into()],
        reference_image_urls: vec!["https://other.example/b.png".into()],
        ..order("local/plasma")
    };
    assert!(bench.draw(&elsewhere).await == plain);
    assert!(bench.draw(&order("local/other")).await != plain);
    let seeded = |seed: Value| GenerationRequest {
        parameters: json!({ "seed": seed }).as_object().cloned(),
        ..order("local/plasma")
    };
    let one = bench.draw(&seeded(json!(1))).await;
    assert!(one != plain && one != bench.draw(&seeded(json!(2))).await);
    assert!(one == bench.draw(&seeded(json!(1))).await);
    bench.draw(&seeded(json!("any value"))).await;
}

#[tokio::test]
async fn an_upload_is_the_base_of_the_picture() {
    let bench = bench();
    let url = bench.upload(None).await;
    let with = GenerationRequest { image_input: Some(url.clone().into()), ..order("local/plasma") };
    let picture = image::load_from_memory(&bench.draw(&with).await[0].bytes).unwrap().into_rgb8();
    let (dark, light) = (picture.get_pixel(100, 300), picture.get_pixel(540, 300));
    assert!(u16::from(dark.0[1]) + 40 < u16::from(light.0[1]), "{dark:?} {light:?}");
    let listed = GenerationRequest { image_inputs: vec![url.into()], ..order("local/plasma") };
    assert!(bench.draw(&listed).await != bench.draw(&order("local/plasma")).await);
}

#[tokio::test]
async fn an_upload_that_never_came_is_refused() {
    let bench = bench();
    let url = bench.assets.url_of(&AssetName::random(Media::Png));
    let with = GenerationRequest { image_input: Some(url.into()), ..order("local/plasma") };
    assert!(bench.refusal(&with).await.contains("was not uploaded"));
}

#[tokio::test]
async fn an_upload_that_is_no_picture_fails_the_job() {
    let bench = bench();
    let url = bench.upload(Some(b"no picture".to_vec())).await;
    let with = GenerationRequest { image_input: Some(url.into()), ..order("local/plasma") };
    let ticket = bench.provider.submit(&with).await.unwrap();
    let Progress::Failed(reason) = bench.provider.poll(&ticket, &with).await.unwrap() else {
        panic!("it did not fail");
    };
    assert!(reason.contains("cannot be read"), "{reason}");
}

#[tokio::test]
async fn models_of_others_do_not_exist() {
    let bench = bench();
    for model in ["fal-ai/flux", "local", "local/", "", "LOCAL/plasma"] {
        assert!(bench.refusal(&order(model)).await.contains("there is no model"), "{model}");
    }
    let long = bench.refusal(&order(&"x".repeat(10_000))).await;
    assert!(long.len() < 200);
}

#[tokio::test]
async fn an_editing_model_counts_where_there_is_something_to_edit() {
    let bench = bench();
    let editing = GenerationRequest {
        image_edit_endpoint_id: Some("other/edit".into()),
        ..order("local/plasma")
    };
    bench.draw(&editing).await;
    let url = bench.upload(None).await;
    let editing = GenerationRequest { image_input: Some(url.into()), ..editing };
    assert!(bench.refusal(&editing).await.contains("other/edit"));
    let ours = GenerationRequest { image_edit_endpoint_id: Some("local/edit".into()), ..editing };
    bench.draw(&ours).await;
}

#[tokio::test]
async fn a_ratio_that_is_none_is_refused() {
    let order = GenerationRequest { aspect_ratio: "wide".into(), ..order("local/plasma") };
    assert!(bench().refusal(&order).await.contains("aspect ratio"));
}

#[tokio::test]
async fn the_slow_model_waits_then_works_then_is_done() {
    let bench = bench();
    let order = order("local/slow");
    let ticket = bench.provider.submit(&order).await.unwrap();
    let poll = || bench.provider.poll(&ticket, &order);
    assert!(matches!(poll().await, Ok(Progress::Queued)));
    bench.clock.advance(Duration::from_millis(1500));
    assert!(matches!(poll().await, Ok(Progress::InProgress)));
    bench.clock.advance(Duration::from_millis(1500));
    assert!(matches!(poll().await, Ok(Progress::Completed(_))));
}

#[tokio::test]
async fn the_slow_model_takes_as_long_as_it_is_told() {
    let bench = bench();
    let with = |seconds: Value| GenerationRequest {
        parameters: json!({ "seconds": seconds }).as_object().cloned(),
        ..order("local/slow")
    };
    for (seconds, expected) in
        [(json!(0), 0.0), (json!(-1), 0.0), (json!(1e300), 600.0), (json!("x"), 3.0)]
    {
        assert_eq!(slow(&with(seconds)).as_secs_f64(), expected);
    }
    bench.draw(&with(json!(0))).await;
}

#[tokio::test]
async fn the_failing_model_takes_and_fails_and_the_refusing_one_takes_nothing() {
    let bench = bench();
    let fail = order("local/fail");
    let ticket = bench.provider.submit(&fail).await.unwrap();
    assert!(matches!(bench.provider.poll(&ticket, &fail).await, Ok(Progress::Failed(_))));
    assert!(bench.refusal(&order("local/refuse")).await.contains("local/refuse"));
}

#[tokio::test]
async fn each_ticket_has_a_name_of_its_own() {
    let bench = bench();
    let order = order("local/plasma");
    let one = bench.provider.submit(&order).await.unwrap();
    let other = bench.provider.submit(&order).await.unwrap();
    assert_ne!(one.request_id, other.request_id);
}

#[tokio::test]
async fn a_ticket_of_another_provider_is_not_understood() {
    let ticket = ProviderTicket { request_id: "a".into(), memo: "{}".into() };
    assert!(bench().provider.poll(&ticket, &order("local/plasma")).await.is_err());
}
