//! Faults in what comes of a job (GE-26 to GE-32).

use crate::faults::isolation::open;
use crate::prelude::*;

const STATUS: &str = "GET /generations/*/status";
const SHOWN: &str = "GET /prompts/*, GET /prompts, GET /vaults/*/prompts";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "generations.job-fails" ["GE-28"] state_as(&["completed"], "failed"),
        "A job that is done is said to have failed." },
    fault! { "generations.job-early" ["GE-32"] state_as(&["queued", "in_progress"], "completed"),
        "A job is completed before its output is in the vault." },
    fault! { "generations.output-loose" ["GE-29"] edits_data(SHOWN, |data| match data {
        Value::Array(found) => found.retain(|one| one["images"] == json!([])),
        one if one["images"] == json!([]) => {}
        one => one["vaultIds"] = json!([]),
    }),
        "The output of a job is in no vault and in no list." },
    fault! { "generations.output-no-images" ["GE-29"] images(Vec::clear),
        "A job leaves a prompt without images." },
    fault! { "generations.batch-short" ["GE-30"] images(|all| all.truncate(all.len().div_ceil(2))),
        "A batch lacks half of its outputs." },
    fault! { "generations.batch-same" ["GE-30"] images(|all| {
        let first = all.first().map(|image| image["url"].clone());
        all.iter_mut().for_each(|image| image["url"] = first.clone().into());
    }),
        "All outputs of a batch have the address of the first." },
    fault! { "generations.batch-twice" ["GE-30"] images(|all| if all.len() > 1 {
        all.extend(all.clone());
    }),
        "The outputs of a batch are saved twice." },
    fault! { "generations.status-foreign" ["GE-31"] open(STATUS, |_| true),
        "Another account reads the status of a job by its id." },
];

fn state_as(states: &'static [&'static str], shown: &'static str) -> Intercept {
    edits_data(STATUS, move |job| {
        if states.iter().any(|state| job["status"] == *state) {
            job["status"] = shown.into();
        }
    })
}

/// Changes the images of prompts wherever they are shown.
fn images(change: fn(&mut Vec<Value>)) -> Intercept {
    edits_each(SHOWN, move |prompt| {
        if let Some(images) = list_of(prompt, "images") {
            change(images);
        }
    })
}
