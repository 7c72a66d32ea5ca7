//! Faults in uploads (UP, LI-14, LI-15): the slot and what is asked for it.

pub(super) mod asset;
pub(super) mod put;

use crate::prelude::*;

const PROMPTS: &str = "POST /prompts, PATCH /prompts/*";
const SLOT: &str = "POST /uploads/images";
const LARGEST: i64 = 10_485_760;

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
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
    fault! { "uploads.type-case" ["LI-15"]
        taken_as(SLOT, "contentType", |kind| Some(kind.as_str()?.to_lowercase().into())),
        "A contentType may be in upper case." },
    fault! { "uploads.echo-size" ["UP-08"] shown_as(SLOT, "size", as_text),
        "size of the slot is a string." },
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

/// An upload address as that of an image.
pub(super) fn in_storage(url: &Value) -> Option<Value> {
    url.as_str()?.contains("/storage/").then(|| "https://example.com/a.png".into())
}
