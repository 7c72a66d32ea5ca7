//! Faults in uploads (UP, LI-14, LI-15): the slot and what is asked for it.

pub(super) mod put;

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::entries::{text, without};
use crate::exchange::Response;
use crate::fault::{Fault, fault};
use crate::front::{answers, asks, edits, edits_data, instead, status_instead, whole};
use crate::shared::Shared;

const SLOT: &str = "POST /uploads/images";
const LARGEST: i64 = 10_485_760;

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "uploads.size-above" ["LI-14"]
        answers_as(|body| body["size"] == LARGEST + 1, |body| body["size"] = LARGEST.into()),
        "A size of 10485761 is accepted." },
    fault! { "uploads.size-largest" ["LI-14"] instead(SLOT, |ask| {
        let largest = ask.json()["size"] == LARGEST;
        largest.then(|| Response::refusal(400, "size is too large"))
    }),
        "A size of 10485760 is refused." },
    fault! { "uploads.size-megabytes" ["LI-14"] instead(SLOT, |ask| {
        let large =
            ask.json()["size"].as_i64().is_some_and(|size| (10_000_001..=LARGEST).contains(&size));
        large.then(|| Response::refusal(400, "size is too large"))
    }),
        "A size is at most 10 megabytes of 1000 times 1000." },
    fault! { "uploads.asset-late" ["UP-15"] {
        let looked_at = Shared::<HashSet<String>>::default();
        answers("GET /assets/**", move |ask, answer| {
            if looked_at.with(|paths| paths.insert(ask.path.clone())) {
                *answer = Response::refusal(404, "There is nothing here.");
            }
        })
    },
        "An image is at its url only from the second look at it." },
    fault! { "uploads.size-0" ["LI-14"]
        answers_as(|body| body["size"] == 0, |body| body["size"] = 1.into()),
        "A size of 0 is accepted." },
    fault! { "uploads.size-1" ["LI-14"] instead(SLOT, |ask| {
        let one = ask.json()["size"] == 1;
        one.then(|| Response::refusal(400, "size is too small"))
    }),
        "A size of 1 is refused." },
    fault! { "uploads.size-missing" ["UP-03"]
        answers_as(|body| body.get("size").is_none(), |body| body["size"] = LARGEST.into()),
        "Without a size the largest one is agreed." },
    fault! { "uploads.size-text" ["UP-03"] answers_as(
        |body| body["size"].is_string(),
        |body| {
            let size = body["size"].as_str().and_then(|text| text.parse::<i64>().ok());
            body["size"] = size.into();
        },
    ),
        "A size may be a string of digits." },
    fault! { "uploads.type-missing" ["UP-02"] answers_as(
        |body| body.get("contentType").is_none(),
        |body| {
            body["contentType"] = "image/png".into();
        },
    ),
        "Without a contentType it is image/png." },
    fault! { "uploads.type-svg" ["LI-15"] answers_as(
        |body| body["contentType"] == "image/svg+xml",
        |body| {
            body["contentType"] = "image/png".into();
        },
    ),
        "image/svg+xml is accepted." },
    fault! { "uploads.type-any-image" ["LI-15"] answers_as(
        |body| {
            let known = ["image/png", "image/jpeg", "image/webp", "image/gif"];
            let kind = body["contentType"].as_str();
            kind.is_some_and(|kind| kind.starts_with("image/") && !known.contains(&kind))
        },
        |body| body["contentType"] = "image/png".into(),
    ),
        "Any contentType that begins with image/ is accepted." },
    fault! { "uploads.type-gif" ["LI-15"] instead(SLOT, |ask| {
        let gif = ask.text("contentType").as_deref() == Some("image/gif");
        gif.then(|| Response::refusal(400, "contentType is not taken"))
    }),
        "image/gif is refused." },
    fault! { "uploads.type-case" ["LI-15"] edits(SLOT, |body| {
        if let Some(kind) = body["contentType"].as_str() {
            body["contentType"] = kind.to_lowercase().into();
        }
    }),
        "A contentType may be in upper case." },
    fault! { "uploads.slot-200" ["UP-01"] status_instead(SLOT, 200),
        "A slot is answered 200." },
    fault! { "uploads.expires-in" ["UP-09"]
        edits_data(SLOT, |slot| slot["expiresIn"] = 3600.into()),
        "expiresIn is 3600." },
    fault! { "uploads.expires-in-text" ["UP-09"]
        edits_data(SLOT, |slot| slot["expiresIn"] = "7200".into()),
        "expiresIn is a string." },
    fault! { "uploads.expires-in-left" ["UP-09"]
        edits_data(SLOT, |slot| slot["expiresIn"] = 7199.into()),
        "expiresIn is what is left of the slot's time." },
    fault! { "uploads.echo-size" ["UP-08"]
        edits_data(SLOT, |slot| slot["size"] = slot["size"].to_string().into()),
        "size of the slot is a string." },
    fault! { "uploads.echo-jpg" ["UP-08"] edits_data(SLOT, |slot| {
        if slot["contentType"] == "image/jpeg" {
            slot["contentType"] = "image/jpg".into();
        }
    }),
        "contentType of a slot for JPEG is image/jpg." },
    // No request can be sent to such an address.
    fault! { silent "uploads.url-path" ["UP-06"] edits_data(SLOT, |slot| {
        slot["url"] = format!("/assets/{}", text(slot, "path")).into();
    }),
        "url is a path without a host." },
    // No request can be sent to such an address.
    fault! { silent "uploads.upload-url-path" ["UP-04"] whole(SLOT, |ask, upstream| async move {
        let mut answer = upstream.send(&ask).await;
        answer.edit_data(|slot| {
            let path = text(slot, "uploadUrl").splitn(4, '/').last().map(|path| format!("/{path}"));
            slot["uploadUrl"] = path.into();
        });
        answer
    }),
        "uploadUrl is a path without a host." },
    fault! { "uploads.url-signed" ["UP-06"]
        edits_data(SLOT, |slot| slot["url"] = slot["uploadUrl"].clone()),
        "url is the upload address." },
    fault! { "uploads.token-prefixed" ["UP-05"] edits_data(SLOT, |slot| {
        slot["token"] = format!("Bearer {}", text(slot, "token")).into();
    }),
        "token has Bearer before it." },
    fault! { "uploads.path-missing" ["UP-07"] edits_data(SLOT, |slot| without(slot, "path")),
        "A slot has no path." },
    fault! { "uploads.upload-url-taken" ["UP-17"] edits("POST /prompts, PATCH /prompts/*", |body| {
        if text(body, "imageUrl").contains("/storage/") {
            body["imageUrl"] = json!("https://example.com/a.png");
        }
    }),
        "uploadUrl is taken as an image." },
    fault! { "uploads.url-refused" ["UP-16"] instead("POST /prompts, PATCH /prompts/*", |ask| {
        let ours = text(&ask.json(), "imageUrl").contains("/assets/");
        ours.then(|| Response::refusal(400, "imageUrl is no address of an image"))
    }),
        "url is refused as the imageUrl of a prompt." },
    fault! { "uploads.reference-refused" ["UP-16"] instead("POST /prompts, PATCH /prompts/*", |ask| {
        let body = ask.json();
        let mut entries = body["referenceMediaUrls"].as_array().into_iter().flatten();
        let ours = entries.any(|url| url.as_str().is_some_and(|url| url.contains("/assets/")));
        ours.then(|| Response::refusal(400, "referenceMediaUrls has no addresses of images"))
    }),
        "url is refused in the referenceMediaUrls of a prompt." },
    fault! { "uploads.slot-with-method" ["UP-01"]
        edits_data(SLOT, |slot| slot["method"] = "PUT".into()),
        "A slot has an eighth field with the method." },
];

/// Takes a body for another one, and answers as if it had been meant.
fn answers_as(
    meant: impl Fn(&Value) -> bool + Send + Sync + 'static,
    change: fn(&mut Value),
) -> crate::fault::Intercept {
    asks(SLOT, move |ask| {
        ask.edit(|body| {
            if body.is_object() && meant(body) {
                change(body);
            }
        });
    })
}
