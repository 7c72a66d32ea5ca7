//! Faults in the asset that an upload leaves (UP-06, UP-15, UP-19).

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use http::Method;
use http::header::{CACHE_CONTROL, HeaderValue};

use super::put::empty;
use crate::exchange::Response;
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, code_instead, refused};
use crate::shared::Shared;

const ASSETS: &str = "GET /assets/**";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "uploads.asset-cut" ["UP-15"] answers(ASSETS, |_, response| {
        if response.code() == 200 {
            response.body.truncate(response.body.len().saturating_sub(1));
        }
    }),
        "An asset is given without its last byte." },
    fault! { "uploads.asset-once" ["UP-19"] read_once(),
        "An asset is gone after it was read." },
    fault! { "uploads.asset-cached-an-hour" ["UP-19"] answers(ASSETS, |_, response| {
        if response.is_success() {
            let hour = HeaderValue::from_static("public, max-age=3600");
            response.headers.insert(CACHE_CONTROL, hour);
        }
    }),
        "An asset may be cached for an hour." },
    fault! { "uploads.asset-deleted" ["UP-19"] asset_deleted(),
        "DELETE of its url deletes an asset." },
    fault! { "uploads.asset-with-prompt" ["UP-19"] asset_with_prompt(),
        "An asset is deleted with the prompt that has it as imageUrl." },
    fault! { "uploads.early" ["UP-06"] answers(ASSETS, |_, response| {
        if response.code() == 404 {
            response.set_code(200);
            response.set_type("image/png");
            response.body = Bytes::new();
        }
    }),
        "Before the upload an empty image is at url." },
    fault! { "uploads.asset-webp" ["UP-15"]
        refused(ASSETS, 404, |request| request.path.ends_with(".webp")),
        "A WebP image is not shown at its url." },
    fault! { "uploads.asset-403" ["UP-15"] code_instead(ASSETS, 404, 403, |_| true),
        "Where no image is yet url answers 403." },
];

fn read_once() -> Intercept {
    let read = Shared::<Vec<String>>::default();
    answers(ASSETS, move |request, response| {
        let again = read.with(|read| {
            let again = read.contains(&request.path);
            read.push(request.path.clone());
            again
        });
        if again && response.code() == 200 {
            *response = Response::refusal(404, "no such asset");
        }
    })
}

fn asset_deleted() -> Intercept {
    let gone = Shared::<HashSet<String>>::default();
    answers("GET /assets/**, DELETE /assets/**", move |request, response| {
        if request.method == Method::DELETE {
            gone.with(|gone| gone.insert(request.path.clone()));
            *response = empty();
        } else if gone.with(|gone| gone.contains(&request.path)) {
            *response = Response::refusal(404, "no such asset");
        }
    })
}

fn asset_with_prompt() -> Intercept {
    let images = Shared::<HashMap<i64, String>>::default();
    let gone = Shared::<Vec<String>>::default();
    answers("POST /prompts, DELETE /prompts/*, GET /assets/**", move |request, response| {
        if request.method == Method::POST {
            let image = request.text("imageUrl");
            images.with(|images| images.extend(image.map(|url| (response.id(), url))));
        } else if request.method == Method::DELETE {
            gone.with(|gone| gone.extend(images.with(|images| images.remove(&request.id(1)))));
        } else if gone.with(|gone| gone.iter().any(|url| url.ends_with(&request.path))) {
            *response = Response::refusal(404, "no such asset");
        }
    })
}
