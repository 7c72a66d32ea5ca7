//! Faults in uploads (UP, LI-14, LI-15): the slot and what is asked for it.

pub(super) mod put;

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::ask::Answer;
use crate::entries::{text, without};
use crate::fault::{Fault, fault};
use crate::front::{answers, asks, instead, whole};
use crate::shared::Shared;

const SLOT: &str = "POST /uploads/images";
const LARGEST: i64 = 10_485_760;

pub(crate) const ALL: &[Fault] = &[
    fault!("uploads.size-above", "A size of 10485761 is accepted.", ["LI-14", "ER-06"], {
        answers_as(|body| body["size"] == LARGEST + 1, |body| body["size"] = LARGEST.into())
    }),
    fault!("uploads.size-largest", "A size of 10485760 is refused.", ["LI-14", "UP-10"], {
        instead(SLOT, |ask| {
            let largest = ask.json()["size"] == LARGEST;
            largest.then(|| Answer::refusal(400, "size is too large"))
        })
    }),
    fault!(
        "uploads.size-megabytes",
        "A size is at most 10 megabytes of 1000 times 1000.",
        ["LI-14", "UP-10"],
        {
            instead(SLOT, |ask| {
                let large = ask.json()["size"]
                    .as_i64()
                    .is_some_and(|size| (10_000_001..=LARGEST).contains(&size));
                large.then(|| Answer::refusal(400, "size is too large"))
            })
        }
    ),
    fault!(
        "uploads.asset-late",
        "An image is at its url only from the second look at it.",
        ["UP-15", "UP-19"],
        {
            let looked_at = Shared::<HashSet<String>>::default();
            answers("GET /assets/**", move |ask, answer| {
                if looked_at.with(|paths| paths.insert(ask.path.clone())) {
                    *answer = Answer::refusal(404, "There is nothing here.");
                }
            })
        }
    ),
    fault!("uploads.size-0", "A size of 0 is accepted.", ["LI-14", "ER-06", "EN-03"], {
        answers_as(|body| body["size"] == 0, |body| body["size"] = 1.into())
    }),
    fault!("uploads.size-1", "A size of 1 is refused.", ["LI-14", "UP-10", "UP-13"], {
        instead(SLOT, |ask| {
            let one = ask.json()["size"] == 1;
            one.then(|| Answer::refusal(400, "size is too small"))
        })
    }),
    fault!(
        "uploads.size-missing",
        "Without a size the largest one is agreed.",
        ["UP-03", "ER-04"],
        { answers_as(|body| body.get("size").is_none(), |body| body["size"] = LARGEST.into()) }
    ),
    fault!("uploads.size-text", "A size may be a string of digits.", ["UP-03", "ER-05"], {
        answers_as(
            |body| body["size"].is_string(),
            |body| {
                let size = body["size"].as_str().and_then(|text| text.parse::<i64>().ok());
                body["size"] = size.into();
            },
        )
    }),
    fault!("uploads.type-missing", "Without a contentType it is image/png.", ["UP-02", "ER-04"], {
        answers_as(
            |body| body.get("contentType").is_none(),
            |body| {
                body["contentType"] = "image/png".into();
            },
        )
    }),
    fault!("uploads.type-svg", "image/svg+xml is accepted.", ["LI-15"], {
        answers_as(
            |body| body["contentType"] == "image/svg+xml",
            |body| {
                body["contentType"] = "image/png".into();
            },
        )
    }),
    fault!(
        "uploads.type-any-image",
        "Any contentType that begins with image/ is accepted.",
        ["LI-15"],
        {
            answers_as(
                |body| {
                    let known = ["image/png", "image/jpeg", "image/webp", "image/gif"];
                    let kind = body["contentType"].as_str();
                    kind.is_some_and(|kind| kind.starts_with("image/") && !known.contains(&kind))
                },
                |body| body["contentType"] = "image/png".into(),
            )
        }
    ),
    fault!(
        "uploads.type-gif",
        "image/gif is refused.",
        ["LI-15", "UP-07", "UP-11", "UP-12", "UP-15", "UP-08", "UP-09", "UP-10"],
        {
            instead(SLOT, |ask| {
                let gif = ask.text("contentType").as_deref() == Some("image/gif");
                gif.then(|| Answer::refusal(400, "contentType is not taken"))
            })
        }
    ),
    fault!("uploads.type-case", "A contentType may be in upper case.", ["LI-15"], {
        asks(SLOT, |ask| {
            ask.edit(|body| {
                if let Some(kind) = body["contentType"].as_str() {
                    body["contentType"] = kind.to_lowercase().into();
                }
            });
        })
    }),
    fault!(
        "uploads.slot-200",
        "A slot is answered 200.",
        ["UP-01", "AU-10", "LI-14", "LI-15", "GE-15", "GE-16", "GE-23", "GE-24", "LI-11", "LI-12"],
        {
            answers(SLOT, |_, answer| {
                if answer.is_success() {
                    answer.set_code(200);
                }
            })
        }
    ),
    fault!("uploads.expires-in", "expiresIn is 3600.", ["UP-09"], {
        answers(SLOT, |_, answer| answer.edit_data(|slot| slot["expiresIn"] = 3600.into()))
    }),
    fault!(
        "uploads.expires-in-text",
        "expiresIn is a string.",
        ["UP-09", "UP-10", "UP-04", "UP-07", "UP-16"],
        { answers(SLOT, |_, answer| answer.edit_data(|slot| slot["expiresIn"] = "7200".into())) }
    ),
    fault!(
        "uploads.expires-in-left",
        "expiresIn is what is left of the slot's time.",
        ["UP-09"],
        { answers(SLOT, |_, answer| answer.edit_data(|slot| slot["expiresIn"] = 7199.into())) }
    ),
    fault!(
        "uploads.echo-size",
        "size of the slot is a string.",
        ["UP-08", "UP-10", "UP-04", "UP-16"],
        {
            answers(SLOT, |_, answer| {
                answer.edit_data(|slot| slot["size"] = slot["size"].to_string().into());
            })
        }
    ),
    fault!(
        "uploads.echo-jpg",
        "contentType of a slot for JPEG is image/jpg.",
        ["UP-08", "UP-10"],
        {
            answers(SLOT, |_, answer| {
                answer.edit_data(|slot| {
                    if slot["contentType"] == "image/jpeg" {
                        slot["contentType"] = "image/jpg".into();
                    }
                });
            })
        }
    ),
    // No request can be sent to such an address.
    Fault {
        silent: true,
        ..fault!(
            "uploads.url-path",
            "url is a path without a host.",
            [
                "UP-06", "UP-11", "UP-15", "UP-16", "UP-13", "UP-19", "UP-14", "UP-10", "UP-12",
                "GE-15", "GE-16", "GE-23", "GE-24", "LI-11", "LI-12"
            ],
            {
                answers(SLOT, |_, answer| {
                    answer.edit_data(|slot| {
                        slot["url"] = format!("/assets/{}", text(slot, "path")).into();
                    });
                })
            }
        )
    },
    // No request can be sent to such an address.
    Fault {
        silent: true,
        ..fault!(
            "uploads.upload-url-path",
            "uploadUrl is a path without a host.",
            [
                "UP-04", "UP-15", "UP-11", "UP-10", "UP-13", "UP-14", "UP-19", "UP-12", "UP-16",
                "UP-08", "UP-17", "ER-01", "UP-06"
            ],
            {
                whole(SLOT, |ask, upstream| async move {
                    let mut answer = upstream.send(&ask).await;
                    answer.edit_data(|slot| {
                        let path = text(slot, "uploadUrl")
                            .splitn(4, '/')
                            .last()
                            .map(|path| format!("/{path}"));
                        slot["uploadUrl"] = path.into();
                    });
                    answer
                })
            }
        )
    },
    fault!(
        "uploads.url-signed",
        "url is the upload address.",
        [
            "UP-19", "UP-06", "UP-15", "UP-17", "UP-10", "UP-16", "UP-14", "UP-13", "GE-15",
            "GE-16", "GE-23", "GE-24", "LI-11", "LI-12"
        ],
        {
            answers(SLOT, |_, answer| {
                answer.edit_data(|slot| slot["url"] = slot["uploadUrl"].clone());
            })
        }
    ),
    fault!(
        "uploads.token-prefixed",
        "token has Bearer before it.",
        [
            "UP-05", "UP-15", "UP-10", "UP-14", "UP-19", "UP-11", "UP-13", "UP-16", "UP-12",
            "UP-17", "UP-06", "UP-07", "GE-15", "GE-16", "GE-23", "GE-24", "LI-11", "LI-12"
        ],
        {
            answers(SLOT, |_, answer| {
                answer.edit_data(|slot| {
                    slot["token"] = format!("Bearer {}", text(slot, "token")).into();
                });
            })
        }
    ),
    fault!(
        "uploads.path-missing",
        "A slot has no path.",
        ["UP-07", "UP-10", "UP-01", "UP-04", "UP-08", "UP-16"],
        { answers(SLOT, |_, answer| answer.edit_data(|slot| without(slot, "path"))) }
    ),
    fault!("uploads.upload-url-taken", "uploadUrl is taken as an image.", ["UP-17"], {
        asks("POST /prompts, PATCH /prompts/*", |ask| {
            ask.edit(|body| {
                if text(body, "imageUrl").contains("/storage/") {
                    body["imageUrl"] = json!("https://example.com/a.png");
                }
            });
        })
    }),
    fault!(
        "uploads.url-refused",
        "url is refused as the imageUrl of a prompt.",
        ["UP-16", "UP-19"],
        {
            instead("POST /prompts, PATCH /prompts/*", |ask| {
                let ours = text(&ask.json(), "imageUrl").contains("/assets/");
                ours.then(|| Answer::refusal(400, "imageUrl is no address of an image"))
            })
        }
    ),
];

/// Takes a body for another one, and answers as if it had been meant.
fn answers_as(
    meant: impl Fn(&Value) -> bool + Send + Sync + 'static,
    change: fn(&mut Value),
) -> crate::fault::How {
    asks(SLOT, move |ask| {
        ask.edit(|body| {
            if body.is_object() && meant(body) {
                change(body);
            }
        });
    })
}
