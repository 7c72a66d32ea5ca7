//! Faults in uploads (UP, LI-14, LI-15): the slot and what is asked for it.

pub(super) mod asset;
pub(super) mod put;

use std::collections::HashSet;

use serde_json::Value;

use crate::bounds::{
    as_text, defaulted, from_digits, shown_as, taken_as, text_is_refused, value_refused,
};
use crate::entries::{text, without};
use crate::exchange::Response;
use crate::fault::{Fault, fault};
use crate::front::{answers, edits_data, refused, status_instead};
use crate::shared::Shared;

const PROMPTS: &str = "POST /prompts, PATCH /prompts/*";
const SLOT: &str = "POST /uploads/images";
const LARGEST: i64 = 10_485_760;

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "uploads.size-above" ["LI-14"]
        taken_as(SLOT, "size", |size| (*size == LARGEST + 1).then(|| LARGEST.into())),
        "A size of 10485761 is accepted." },
    fault! { "uploads.size-megabytes" ["LI-14"] value_refused(SLOT, "size", |size| {
        size.as_i64().is_some_and(|size| (10_000_001..=LARGEST).contains(&size))
    }),
        "A size is at most 10 megabytes of 1000 times 1000." },
    fault! { "uploads.asset-late" ["UP-15"] {
        let looked_at = Shared::<HashSet<String>>::default();
        answers("GET /assets/**", move |request, response| {
            if looked_at.with(|paths| paths.insert(request.path.clone())) {
                *response = Response::refusal(404, "There is nothing here.");
            }
        })
    },
        "An image is at its url only from the second look at it." },
    fault! { "uploads.size-0" ["LI-14"]
        taken_as(SLOT, "size", |size| (*size == 0).then(|| 1.into())),
        "A size of 0 is accepted." },
    fault! { "uploads.size-1" ["LI-14"] value_refused(SLOT, "size", |size| *size == 1),
        "A size of 1 is refused." },
    fault! { "uploads.size-missing" ["UP-03"] defaulted(SLOT, "size", LARGEST),
        "Without a size the largest one is agreed." },
    fault! { "uploads.size-text" ["UP-03"] taken_as(SLOT, "size", from_digits),
        "A size may be a string of digits." },
    fault! { "uploads.type-missing" ["UP-02"] defaulted(SLOT, "contentType", "image/png"),
        "Without a contentType it is image/png." },
    fault! { "uploads.type-svg" ["LI-15"]
        taken_as(SLOT, "contentType", |kind| (kind == "image/svg+xml").then(png)),
        "image/svg+xml is accepted." },
    fault! { "uploads.type-any-image" ["LI-15"] taken_as(SLOT, "contentType", |kind| {
        let kind = kind.as_str().filter(|kind| kind.starts_with("image/"))?;
        (!["image/png", "image/jpeg", "image/webp", "image/gif"].contains(&kind)).then(png)
    }),
        "Any contentType that begins with image/ is accepted." },
    fault! { "uploads.type-gif" ["LI-15"]
        value_refused(SLOT, "contentType", |kind| kind == "image/gif"),
        "image/gif is refused." },
    fault! { "uploads.type-case" ["LI-15"]
        taken_as(SLOT, "contentType", |kind| Some(kind.as_str()?.to_lowercase().into())),
        "A contentType may be in upper case." },
    fault! { "uploads.slot-200" ["UP-01"] status_instead(SLOT, 200),
        "A slot is answered 200." },
    fault! { "uploads.expires-in" ["UP-09"]
        edits_data(SLOT, |slot| slot["expiresIn"] = 3600.into()),
        "expiresIn is 3600." },
    fault! { "uploads.expires-in-text" ["UP-09"]
        edits_data(SLOT, |slot| slot["expiresIn"] = "7200".into()),
        "expiresIn is a string." },
    fault! { "uploads.echo-size" ["UP-08"] shown_as(SLOT, "size", as_text),
        "size of the slot is a string." },
    fault! { "uploads.echo-jpg" ["UP-08"]
        shown_as(SLOT, "contentType", |kind| (kind == "image/jpeg").then(|| "image/jpg".into())),
        "contentType of a slot for JPEG is image/jpg." },
    // No request can be sent to such an address.
    fault! { silent "uploads.url-path" ["UP-06"] edits_data(SLOT, |slot| {
        slot["url"] = format!("/assets/{}", text(slot, "path")).into();
    }),
        "url is a path without a host." },
    // No request can be sent to such an address.
    fault! { silent "uploads.upload-url-path" ["UP-04"] edits_data(SLOT, |slot| {
        let path = text(slot, "uploadUrl").splitn(4, '/').last().map(|path| format!("/{path}"));
        slot["uploadUrl"] = path.into();
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
    fault! { "uploads.upload-url-taken" ["UP-17"] taken_as(PROMPTS, "imageUrl", in_storage),
        "uploadUrl is taken as an image." },
    fault! { "uploads.url-refused" ["UP-16"]
        text_is_refused(PROMPTS, "imageUrl", |url| url.contains("/assets/")),
        "url is refused as the imageUrl of a prompt." },
    fault! { "uploads.reference-refused" ["UP-16"] refused(PROMPTS, 400, |request| {
        request.json()["referenceMediaUrls"].to_string().contains("/assets/")
    }),
        "url is refused in the referenceMediaUrls of a prompt." },
    fault! { "uploads.slot-with-method" ["UP-01"]
        edits_data(SLOT, |slot| slot["method"] = "PUT".into()),
        "A slot has an eighth field with the method." },
];

fn png() -> Value {
    "image/png".into()
}

/// An upload address as that of an image.
pub(super) fn in_storage(url: &Value) -> Option<Value> {
    url.as_str()?.contains("/storage/").then(|| "https://example.com/a.png".into())
}
