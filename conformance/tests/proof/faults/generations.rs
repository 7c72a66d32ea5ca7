//! Faults in generations (GE, LI-09 to LI-13): what a body may be, and the answer.

pub(super) mod answer;
pub(super) mod jobs;
pub(super) mod kinds;

use http::Method;
use serde_json::{Value, json};

use super::vaults::{cut, refused};
use crate::ask::{Answer, Ask};
use crate::entries::{list_of, without};
use crate::fault::{Fault, How, fault};
use crate::front::{asks, instead, whole};

const QUEUE: &str = "POST /generations";

pub(crate) const ALL: &[Fault] = &[
    fault!("generations.prompt-100001", "A prompt of 100001 characters is accepted.", ["LI-09"], {
        asks(QUEUE, |ask| ask.edit(|body| cut(body, "prompt", 100_001)))
    }),
    fault!(
        "generations.prompt-100000",
        "A prompt of 100000 characters is refused.",
        ["LI-09", "GE-29"],
        { instead(QUEUE, |ask| refused(ask, "prompt", |text| text.chars().count() == 100_000)) }
    ),
    fault!("generations.prompt-bytes", "A prompt is counted in bytes.", ["LI-09", "GE-29"], {
        instead(QUEUE, |ask| refused(ask, "prompt", in_bytes))
    }),
    fault!(
        "generations.negative-100001",
        "A negativePrompt of 100001 characters is accepted.",
        ["LI-10"],
        asks(QUEUE, |ask| ask.edit(|body| cut(body, "negativePrompt", 100_001)))
    ),
    fault!(
        "generations.negative-100000",
        "A negativePrompt of 100000 characters is refused.",
        ["LI-10"],
        instead(QUEUE, |ask| {
            refused(ask, "negativePrompt", |text| text.chars().count() == 100_000)
        })
    ),
    fault!(
        "generations.texts-together",
        "Both texts together have at most 100000 characters.",
        ["LI-10", "LI-09"],
        {
            instead(QUEUE, |ask| {
                let chars = |name| ask.text(name).map_or(0, |text| text.chars().count());
                let (prompt, negative) = (chars("prompt"), chars("negativePrompt"));
                let over = prompt <= 100_000 && negative <= 100_000 && prompt + negative > 100_001;
                over.then(|| Answer::refusal(400, "the texts are too long"))
            })
        }
    ),
    fault!("generations.inputs-8", "imageInputs with 8 entries is accepted.", ["LI-11"], {
        asks(QUEUE, |ask| ask.edit(|body| shorten(body, "imageInputs")))
    }),
    fault!("generations.inputs-7", "imageInputs with 7 entries is refused.", ["LI-11"], {
        instead(QUEUE, |ask| seven(ask, "imageInputs"))
    }),
    fault!(
        "generations.references-8",
        "referenceImageUrls with 8 entries is accepted.",
        ["LI-12"],
        { asks(QUEUE, |ask| ask.edit(|body| shorten(body, "referenceImageUrls"))) }
    ),
    fault!(
        "generations.references-7",
        "referenceImageUrls with 7 entries is refused.",
        ["LI-12"],
        { instead(QUEUE, |ask| seven(ask, "referenceImageUrls")) }
    ),
    fault!("generations.batch-5", "A batchCount of 5 is taken for 4.", ["LI-13", "ER-03"], {
        asks(QUEUE, |ask| ask.edit(|body| take(body, "batchCount", &json!(5), json!(4))))
    }),
    fault!(
        "generations.batch-4",
        "A batchCount of 4 is refused.",
        ["LI-13", "GE-19", "GE-29", "GE-30"],
        {
            instead(QUEUE, |ask| {
                let four = ask.json()["batchCount"] == 4;
                four.then(|| Answer::refusal(400, "batchCount is at most 3"))
            })
        }
    ),
    fault!("generations.batch-0", "A batchCount of 0 is taken for 1.", ["LI-13"], {
        asks(QUEUE, |ask| ask.edit(|body| take(body, "batchCount", &json!(0), json!(1))))
    }),
    fault!("generations.no-model", "Without a modelId a model is chosen.", ["GE-07", "ER-04"], {
        asks(QUEUE, |ask| ask.edit(|body| default(body, "modelId", &json!("local/fail"))))
    }),
    fault!("generations.no-prompt", "A generation needs no prompt.", ["GE-08", "ER-04"], {
        asks(QUEUE, |ask| ask.edit(|body| default(body, "prompt", &json!("Untitled"))))
    }),
    fault!("generations.other-type", "An unknown generationType is taken for image.", ["GE-10"], {
        asks(QUEUE, |ask| {
            ask.edit(|body| {
                let kind = body["generationType"].as_str();
                if kind.is_some_and(|kind| !["image", "video"].contains(&kind)) {
                    body["generationType"] = "image".into();
                }
            });
        })
    }),
    fault!("generations.no-video", "A generationType of video is refused.", ["GE-09", "ER-03"], {
        instead(QUEUE, |ask| {
            let video = ask.json()["generationType"] == "video";
            video.then(|| Answer::refusal(400, "there are no videos"))
        })
    }),
    fault!("generations.video-by-default", "A generation is a video by default.", ["GE-09"], {
        asks(QUEUE, |ask| ask.edit(|body| default(body, "generationType", &json!("video"))))
    }),
    fault!(
        "generations.image-no-uri",
        "An imageInput that is no URI is passed over.",
        ["GE-25", "ER-05", "ER-03"],
        {
            asks(QUEUE, |ask| {
                ask.edit(|body| {
                    if body["imageInput"].as_str().is_some_and(|text| !text.contains(':')) {
                        without(body, "imageInput");
                    }
                });
            })
        }
    ),
    fault!(
        "generations.entry-no-uri",
        "Entries of a list that are no URI are passed over.",
        ["GE-25", "ER-03"],
        {
            asks(QUEUE, |ask| {
                ask.edit(|body| {
                    for field in ["imageInputs", "referenceImageUrls"] {
                        if let Some(entries) = list_of(body, field) {
                            entries.retain(|entry| {
                                entry.as_str().is_none_or(|text| text.contains(':'))
                            });
                        }
                    }
                });
            })
        }
    ),
    fault!(
        "generations.first-entry",
        "Only the first entry of referenceImageUrls is looked at.",
        ["GE-25", "ER-03", "GE-15", "LI-12"],
        {
            asks(QUEUE, |ask| {
                ask.edit(|body| {
                    if let Some(entries) = list_of(body, "referenceImageUrls") {
                        let mut first = true;
                        entries.retain(|entry| std::mem::take(&mut first) || !entry.is_string());
                    }
                });
            })
        }
    ),
    fault!(
        "generations.one-for-list",
        "imageInputs may be one address in place of a list.",
        ["GE-16", "ER-05"],
        {
            asks(QUEUE, |ask| {
                ask.edit(|body| {
                    if body["imageInputs"].is_string() {
                        body["imageInputs"] = json!([body["imageInputs"]]);
                    }
                });
            })
        }
    ),
    fault!(
        "generations.references-refused",
        "An empty referenceImageUrls is refused.",
        ["GE-23"],
        {
            instead(QUEUE, |ask| {
                let none = ask.json()["referenceImageUrls"].as_array().is_some_and(Vec::is_empty);
                none.then(|| Answer::refusal(400, "referenceImageUrls is empty"))
            })
        }
    ),
    fault!(
        "generations.image-refused",
        "The url of an upload is refused as an imageInput.",
        ["GE-15", "UP-16", "GE-24"],
        { instead(QUEUE, |ask| refused(ask, "imageInput", |url| url.contains("/assets/"))) }
    ),
    fault!(
        "generations.parameters-text",
        "parameters may be JSON in a string.",
        ["GE-20", "ER-05"],
        {
            asks(QUEUE, |ask| {
                ask.edit(|body| {
                    if body["parameters"].is_string() {
                        without(body, "parameters");
                    }
                });
            })
        }
    ),
    fault!(
        "generations.parameters-kept",
        "The parameter seed does not reach the provider.",
        ["GE-20"],
        {
            asks(QUEUE, |ask| {
                ask.edit(|body| {
                    if let Some(parameters) = body.get_mut("parameters") {
                        without(parameters, "seed");
                    }
                });
            })
        }
    ),
    fault!("generations.parameters-10001", "parameters with 10001 values are taken.", ["GE-20"], {
        asks(QUEUE, |ask| {
            ask.edit(|body| {
                let parameters = body.get_mut("parameters");
                let entries = parameters.and_then(|all| list_of(all, "a"));
                if let Some(entries) = entries.filter(|entries| entries.len() == 9_999) {
                    entries.pop();
                }
            });
        })
    }),
    fault!(
        "generations.job-id-257",
        "A clientJobId of 257 characters is taken.",
        ["GE-11"],
        asks(QUEUE, |ask| ask.edit(|body| cut(body, "clientJobId", 257)))
    ),
    fault!(
        "generations.negative-refused",
        "A model refuses a negativePrompt that it does not support.",
        ["GE-14", "GE-13", "LI-10", "ER-03"],
        { instead(QUEUE, |ask| refused(ask, "negativePrompt", |_| true)) }
    ),
    fault!("generations.ratio-default", "The aspectRatio is 16:9 by default.", ["GE-17"], {
        asks(QUEUE, |ask| ask.edit(|body| default(body, "aspectRatio", &json!("16:9"))))
    }),
    fault!(
        "generations.ratio-ignored",
        "The aspectRatio does not reach the provider.",
        ["GE-18", "GE-17", "ER-03"],
        {
            asks(QUEUE, |ask| {
                ask.edit(|body| {
                    if body["aspectRatio"].is_string() {
                        without(body, "aspectRatio");
                    }
                });
            })
        }
    ),
    fault!("generations.edit-ignored", "The editing model is not used.", ["GE-24", "ER-03"], {
        asks(QUEUE, |ask| {
            ask.edit(|body| {
                if body["imageEditEndpointId"].is_string() {
                    without(body, "imageEditEndpointId");
                }
            });
        })
    }),
    fault!(
        "generations.batch-default",
        "Without batchCount there are 2 outputs.",
        ["GE-19", "GE-11", "GE-20"],
        { asks(QUEUE, |ask| ask.edit(|body| default(body, "batchCount", &json!(2)))) }
    ),
    fault!(
        "generations.vault-ignored",
        "The output goes to General whatever vault is named.",
        ["GE-21", "GE-29", "GE-11", "GE-17", "GE-19", "GE-31", "GE-20", "GE-30"],
        {
            asks(QUEUE, |ask| {
                ask.edit(|body| {
                    if body["vaultId"].is_i64() {
                        without(body, "vaultId");
                    }
                });
            })
        }
    ),
    fault!(
        "generations.vault-of-its-own",
        "Without vaultId the output goes to a vault that is made for it.",
        ["GE-22", "GE-21", "GE-11"],
        {
            whole(QUEUE, |mut ask, upstream| async move {
                if ask.json().get("vaultId").is_none() {
                    let new = json!({ "name": "Output" });
                    let made = ask.another_with(Method::POST, "/vaults", &new);
                    let made = upstream.send(&made).await;
                    if made.is_success() {
                        ask.edit(|body| default(body, "vaultId", &made.id().into()));
                    }
                }
                upstream.send(&ask).await
            })
        }
    ),
    fault!(
        "generations.vault-foreign",
        "For a vault that is not the caller's the output goes to General.",
        ["GE-21"],
        foreign_vault()
    ),
];

fn in_bytes(text: &str) -> bool {
    text.len() > 100_000 && text.chars().count() <= 100_000
}

/// Drops the last of eight entries.
fn shorten(body: &mut Value, field: &str) {
    if let Some(entries) = list_of(body, field).filter(|entries| entries.len() == 8) {
        entries.pop();
    }
}

fn seven(ask: &Ask, field: &str) -> Option<Answer> {
    let seven = ask.json()[field].as_array().is_some_and(|entries| entries.len() == 7);
    seven.then(|| Answer::refusal(400, &format!("{field} is too long")))
}

/// Takes one value for another.
fn take(body: &mut Value, field: &str, given: &Value, taken: Value) {
    if body.get(field) == Some(given) {
        body[field] = taken;
    }
}

/// A value for a field that is not there.
fn default(body: &mut Value, field: &str, value: &Value) {
    if body.is_object() && body.get(field).is_none() {
        body[field] = value.clone();
    }
}

fn foreign_vault() -> How {
    whole(QUEUE, |mut ask, upstream| async move {
        if let Some(vault) = ask.json()["vaultId"].as_i64() {
            let found = upstream.send(&ask.another(Method::GET, format!("/vaults/{vault}"))).await;
            if found.code() == 404 {
                ask.edit(|body| without(body, "vaultId"));
            }
        }
        upstream.send(&ask).await
    })
}
