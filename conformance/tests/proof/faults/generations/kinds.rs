//! Faults in what kind of value the fields of generations and slots take, and in
//! what a provider's refusal becomes.

use serde_json::{Value, json};

use crate::bounds::{from_digits, taken_as};
use crate::exchange::Response;
use crate::fault::{Fault, fault};
use crate::front::{answers, whole};

const QUEUE: &str = "POST /generations";
const SLOT: &str = "POST /uploads/images";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "generations.prompt-of-any-kind" ["GE-08"] taken_as(QUEUE, "prompt", written),
        "A prompt that is no string is written as one." },
    fault! { "generations.negative-of-any-kind" ["GE-13"]
        taken_as(QUEUE, "negativePrompt", written),
        "A negativePrompt that is no string is written as one." },
    fault! { "generations.batch-text" ["GE-19"] taken_as(QUEUE, "batchCount", from_digits),
        "batchCount may be a string of digits." },
    fault! { "generations.refusal-queued" ["GE-26"] answers(QUEUE, |ask, answer| {
        if answer.code() == 502 {
            *answer = Response::data(
                202,
                &json!({
                    "success": true,
                    "clientJobId": ask.text("clientJobId"),
                    "providerRequestId": "none",
                    "statusUrl": "http://127.0.0.1/none",
                }),
            );
        }
    }),
        "What the provider refuses is answered 202." },
    fault! { "uploads.type-in-a-list" ["UP-02"]
        taken_as(SLOT, "contentType", |kind| Some(kind.as_array()?.first()?.clone())),
        "A contentType may be a list with the type in it." },
    fault! { "uploads.size-with-fraction" ["UP-03"] taken_as(SLOT, "size", |size| {
        let whole = size.as_f64().filter(|size| size.fract() == 0.0)?;
        serde_json::from_str(&format!("{whole:.0}")).ok()
    }),
        "A size may have a fraction of zero." },
    fault! { "uploads.token-of-any-path" ["UP-11"] whole("PUT /storage/**, POST /uploads/images", {
        let slots = crate::shared::Shared::<Vec<(String, String)>>::default();
        move |mut ask, upstream| {
            let slots = slots.clone();
            async move {
                if ask.path.starts_with("/storage/") {
                    let token = ask.authorization().trim_start_matches("Bearer ").to_owned();
                    let own = slots
                        .with(|slots| slots.iter().find(|(known, _)| *known == token).cloned());
                    if let Some((_, path)) = own {
                        ask.path = path;
                    }
                    return upstream.send(&ask).await;
                }
                let answer = upstream.send(&ask).await;
                let slot = answer.json()["data"].clone();
                let text = |name: &str| slot[name].as_str().unwrap_or_default().to_owned();
                let path: Option<http::Uri> = text("uploadUrl").parse().ok();
                if let Some(path) = path {
                    slots.with(|slots| slots.push((text("token"), path.path().to_owned())));
                }
                answer
            }
        }
    }),
        "The path of a signed address is not compared with the token's." },
];

fn written(value: &Value) -> Option<Value> {
    (!value.is_string() && !value.is_null()).then(|| value.to_string().into())
}
