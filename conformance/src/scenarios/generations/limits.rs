//! How long the texts, how many the images and how many the outputs of a
//! generation may be, on both sides of each limit.

use serde_json::{Value, json};

use super::inputs::uploads;
use super::job::{idle, own_id, queue, queue_input, send};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "generations.limits.prompt" ["LI-09"] prompt,
        "A prompt of 100000 characters is accepted, one of 100001 refused" },
    core! { "generations.limits.negative-prompt" ["LI-10", "GE-13"] negative_prompt,
        "A negativePrompt of 100000 characters is accepted, one of 100001 refused" },
    core! { "generations.limits.both-texts" ["LI-09", "LI-10"] both_texts,
        "A prompt and a negativePrompt of 100000 characters each are accepted together" },
    core! { "generations.limits.image-inputs" ["LI-11"] image_inputs,
        "7 imageInputs are accepted, 8 refused" },
    core! { "generations.limits.references" ["LI-12"] references,
        "7 referenceImageUrls are accepted, 8 refused" },
    core! { "generations.limits.batch-count" ["LI-13"] batch_count,
        "A batchCount of 1 and of 4 is accepted, 0, 5 and others beyond are refused" },
    reference! { "generations.limits.beyond-ascii" ["LI-09", "LI-10"] [LocalProvider] beyond_ascii,
        "A character counts as one however it is written: four bytes, two escapes (S-66)" },
    reference! { "generations.limits.named"
        ["LI-09", "LI-10", "LI-11", "LI-12", "LI-13", "ER-03"] named,
        "A field beyond its limit is named in details (S-60)" },
    reference! { "generations.limits.chosen"
        ["GE-11", "GE-07", "GE-15", "GE-17", "GE-20", "GE-24", "ER-03"] [LocalProvider] chosen,
        "Ids, addresses, ratio and parameters have our bounds: the last value is accepted, the \
         next refused by name (S-11, S-36, S-38)" },
];

const TEXT: usize = 100_000;
const IMAGES: usize = 7;

async fn prompt(case: Case) -> Result<(), Failure> {
    text(&case, "prompt").await
}

async fn negative_prompt(case: Case) -> Result<(), Failure> {
    text(&case, "negativePrompt").await
}

async fn text(case: &Case, field: &str) -> Result<(), Failure> {
    for letter in ["a", "é", "漢"] {
        let reply = send(case, json!({ field: long(case, letter, TEXT + 1) })).await?;
        reply.refused(format!("{field} of {} characters {letter}", TEXT + 1))?;
        queue_input(case, json!({ field: long(case, letter, TEXT) })).await?;
    }
    Ok(())
}

/// A text of so many characters. It begins with a name of the case, by which
/// its output is found again.
fn long(case: &Case, letter: &str, count: usize) -> String {
    let name = case.name("long");
    let rest = count - name.chars().count();
    name + &letter.repeat(rest)
}

async fn both_texts(case: Case) -> Result<(), Failure> {
    let text = || long(&case, "漢", TEXT);
    queue_input(&case, json!({ "prompt": text(), "negativePrompt": text() })).await.map(drop)
}

async fn image_inputs(case: Case) -> Result<(), Failure> {
    images(&case, "imageInputs").await
}

async fn references(case: Case) -> Result<(), Failure> {
    images(&case, "referenceImageUrls").await
}

async fn images(case: &Case, field: &str) -> Result<(), Failure> {
    let urls = uploads(case, IMAGES + 1).await?;
    let reply = send(case, json!({ field: urls })).await?;
    reply.refused(format!("{} {field}", IMAGES + 1))?;
    queue_input(case, json!({ field: urls[..IMAGES] })).await.map(drop)
}

async fn batch_count(case: Case) -> Result<(), Failure> {
    for count in [0, 5, -1, 100, i64::from(i32::MAX), 1 << 40] {
        let reply = send(&case, json!({ "batchCount": count })).await?;
        reply.refused(format!("batchCount {count}"))?;
    }
    for count in [1, 4] {
        queue_input(&case, json!({ "batchCount": count })).await?;
    }
    Ok(())
}

async fn beyond_ascii(case: Case) -> Result<(), Failure> {
    for field in ["prompt", "negativePrompt"] {
        for letter in ["😀", "\u{10ffff}", "\u{301}"] {
            queue(&case, idle(json!({ field: letter.repeat(TEXT) }))).await?;
            let reply = send(&case, idle(json!({ field: letter.repeat(TEXT + 1) }))).await?;
            reply.refused(format!("{field} of {} characters {letter}", TEXT + 1))?;
        }
    }
    let escaped = r"\ud83d\ude00".repeat(TEXT);
    let body =
        format!(r#"{{"modelId":"local/fail","prompt":"{escaped}","negativePrompt":"{escaped}"}}"#);
    let call = case.wire().call(http::Method::POST, "/generations");
    let reply = call.body("application/json", body).send().await?;
    reply.accepted(202, "two texts of 100000 escaped emoji")?;
    Ok(())
}

/// The fields with bounds of our own. `fill` makes a value from a number and a text that no other
/// case uses.
struct Bound {
    field: &'static str,
    most: usize,
    fill: fn(usize, &str) -> Value,
}

const fn bound(field: &'static str, most: usize, fill: fn(usize, &str) -> Value) -> Bound {
    Bound { field, most, fill }
}

const CHOSEN: [Bound; 9] = [
    bound("clientJobId", 256, |count, own| filled(own, count)),
    bound("modelId", 256, |count, _| filled("local/", count)),
    bound("imageEditEndpointId", 256, |count, _| filled("local/", count)),
    bound("aspectRatio", 64, |count, _| filled("1:1.", count)),
    bound("imageInput", 2_048, |count, _| filled("https://example.com/", count)),
    bound("referenceImageUrls", 2_048, |count, _| json!([filled("https://example.com/", count)])),
    // Bytes of JSON, values, levels.
    bound("parameters", 262_144, |count, _| json!({ "a": filled("", count - 8) })),
    bound("parameters", 10_000, |count, _| json!({ "a": vec![0; count - 2] })),
    bound("parameters", 64, |count, _| {
        let inner = (2..count).fold(json!([]), |inner, _| json!([inner]));
        json!({ "a": inner })
    }),
];

/// A text of so many characters with this beginning.
fn filled(beginning: &str, count: usize) -> Value {
    Value::from(format!("{beginning}{}", "0".repeat(count - beginning.chars().count())))
}

async fn chosen(case: Case) -> Result<(), Failure> {
    for Bound { field, most, fill } in CHOSEN {
        let value = |count| fill(count, &own_id(&case));
        let about = format!("{field} with the bound {most}");
        let taken = send(&case, json!({ field: value(most) })).await?;
        taken.accepted(202, &about)?;
        let beyond = send(&case, json!({ field: value(most + 1) })).await?;
        beyond.refused(format!("{about}, one beyond"))?.string(&format!("/details/{field}"))?;
    }
    // URL libraries remove such segments of a path.
    for id in [".", ".."] {
        let reply = send(&case, json!({ "clientJobId": id })).await?;
        reply.refused(format!("clientJobId {id:?}"))?.string("/details/clientJobId")?;
    }
    Ok(())
}

async fn named(case: Case) -> Result<(), Failure> {
    let urls: Vec<_> = (0..=IMAGES).map(|n| format!("https://example.com/{n}.png")).collect();
    let text = Value::from("a".repeat(TEXT + 1));
    for (field, value) in [
        ("prompt", text.clone()),
        ("negativePrompt", text),
        ("imageInputs", json!(urls)),
        ("referenceImageUrls", json!(urls)),
        ("batchCount", json!(0)),
        ("batchCount", json!(5)),
    ] {
        let reply = send(&case, json!({ field: value })).await?;
        reply.refused(format!("{field} beyond its limit"))?.string(&format!("/details/{field}"))?;
    }
    Ok(())
}
