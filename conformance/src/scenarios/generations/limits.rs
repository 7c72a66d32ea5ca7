//! How long the texts, how many the images and how many the outputs of a
//! generation may be, on both sides of each limit.

use serde_json::{Value, json};

use super::job::{own_id, send, taken_by_model};
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "generations.limits.both-texts" ["LI-09", "LI-10"] both_texts,
        "A prompt and a negativePrompt of 100000 characters each are accepted together, escaped too" },
    reference! { "generations.limits.chosen"
        ["GE-11", "GE-07", "GE-15", "GE-17", "GE-20", "GE-24", "ER-03"] [LocalProvider] chosen,
        "Ids, addresses, ratio and parameters have our bounds: the last value is accepted, the \
         next refused by name (S-11, S-36, S-38)" },
];

const TEXT: usize = 100_000;

/// With every letter escaped, which is the longest body that a service has to take.
async fn both_texts(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    // `sweep` finds the output by the name.
    let name = case.name("long");
    let escaped = format!("{name}{}", r"\u6f22".repeat(TEXT - name.chars().count()));
    let model = case.image_model();
    let body = format!(
        r#"{{"modelId":"{model}","prompt":"{escaped}","negativePrompt":"{escaped}","vaultId":{vault}}}"#
    );
    let call = case.wire().call(http::Method::POST, "/generations");
    let reply = call.body("application/json", body).send().await?;
    taken_by_model(&case, &reply, "prompt")?;
    reply.accepted(202, "two texts of 100000 escaped letters").map(drop)
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
