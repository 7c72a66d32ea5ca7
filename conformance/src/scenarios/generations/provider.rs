//! What reaches the provider, seen in the built-in one: models, ratios, parameters, the editing
//! model (S-38).

use super::job::{Job, PLASMA, REFUSE, own_id, send, status};
use super::outputs::fetch;
use crate::scenarios::prelude::*;
use crate::scenarios::uploads::slot::uploaded_urls;

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "generations.provider.refusal" ["GE-26", "ER-02"] ("S-38") [LocalProvider] refusal,
        "What the provider refuses is 502 with its reason, and no job" },
    reference! { "generations.provider.any-model" ["GE-07"] ("S-38") [LocalProvider]
        |case| refused(case, "modelId", &["nowhere", "elsewhere/model", "local", "local/", " ", "漢"]),
        "A modelId without the namespace of prompts' models goes to the provider too" },
    reference! { "generations.provider.ratios" ["GE-17", "GE-18"] ("S-38") [LocalProvider] ratios,
        "The example ratios shape the output of a model that supports them" },
    reference! { "generations.provider.ratio-default" ["GE-17"] [LocalProvider] ratio_default,
        "Without aspectRatio the output is as wide as high" },
    reference! { "generations.provider.ratio-refused" ["GE-17", "GE-18"] ("S-38") [LocalProvider]
        |case| refused(case, "aspectRatio", &["", "square", "16x9", "0:1", "1:100", NINES]),
        "A ratio that the provider does not know is 502, any text but not 400" },
    reference! { "generations.provider.parameters" ["GE-20"] [LocalProvider] parameters,
        "Parameters reach the provider: the same seed gives the same picture, another one another" },
    reference! { "generations.provider.editing-model" ["GE-24"] [LocalProvider] editing_model,
        "With an imageInput the editing model takes the place of the model" },
];

/// The longest ratio that is not refused for its length.
const NINES: &str = "9999999999999999999999999999999999999999999999999999999999999999";

async fn refusal(case: Case) -> Result {
    let id = own_id(&case);
    let reply = send(&case, json!({ "modelId": REFUSE, "clientJobId": id })).await?;
    let reason = reply.status(502)?.equals("/details", json!({}))?.string("/error")?;
    reply.ensure(
        reason.contains(REFUSE),
        "the provider's reason, which names the model",
        reason,
    )?;
    status(&case.wire(), &id).await?.status(404).map(drop)
}

/// The provider refuses a generation with each of these values of a field: 502.
async fn refused(case: Case, field: &str, values: &[&str]) -> Result {
    for value in values {
        let reply = send(&case, json!({ field: value })).await?;
        reply.has_status(502, format!("the {field} {value:.20?}"))?;
    }
    Ok(())
}

/// Width and height of the one output of a generation with these fields.
async fn sides(case: &Case, fields: Value) -> Result<(i64, i64)> {
    let saved = Job::finish(case, fields).await?.outputs().await?;
    let image = saved.images().first().map(|image| (&image["width"], &image["height"]));
    image
        .and_then(|(width, height)| width.as_i64().zip(height.as_i64()))
        .ok_or_else(|| saved.listing.failure("an image with width and height", json_text(&image)))
}

async fn ratios(case: Case) -> Result {
    for (ratio, (x, y)) in
        [("1:1", (1, 1)), ("9:16", (9, 16)), ("16:9", (16, 9)), ("4:5", (4, 5)), ("3:2", (3, 2))]
    {
        let (width, height) = sides(&case, json!({ "aspectRatio": ratio })).await?;
        // As near as whole pixels come.
        let right = (width * y - height * x).abs() <= x.max(y);
        check::ensure(right, &format!("sides of {ratio}"), format!("{width} by {height}"))?;
    }
    Ok(())
}

async fn ratio_default(case: Case) -> Result {
    let (width, height) = sides(&case, json!({})).await?;
    check::equal("the width", &width, &height)
}

async fn parameters(case: Case) -> Result {
    let prompt = case.name("A harbour");
    let mut pictures = Vec::new();
    for seed in [1, 1, 2] {
        let fields = json!({ "modelId": PLASMA, "prompt": prompt, "parameters": { "seed": seed } });
        let saved = Job::finish(&case, fields).await?.outputs().await?;
        pictures.push(fetch(&case, saved.one_url()?).await?.body().clone());
    }
    check::ensure(pictures[0] == pictures[1], "one picture for one seed", "two pictures")?;
    check::ensure(pictures[1] != pictures[2], "another picture for another seed", "the same")
}

async fn editing_model(case: Case) -> Result {
    let input = uploaded_urls(&case, 1).await?.swap_remove(0);
    let with = |model: &str, editing: &str| json!({ "modelId": model, "imageEditEndpointId": editing, "imageInput": input });
    Job::finish(&case, with(REFUSE, PLASMA)).await?;
    let refused = send(&case, with(PLASMA, REFUSE)).await?;
    refused.has_status(502, "an editing model that accepts no job").map(drop)
}
