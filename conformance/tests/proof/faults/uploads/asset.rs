//! Faults in the asset that an upload leaves (UP-06, UP-15, UP-19).

use bytes::Bytes;
use http::header::{CACHE_CONTROL, HeaderValue};

use super::put::empty;
use crate::prelude::*;

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
    answers_with(ASSETS, move |read: &mut Vec<String>, request, response| {
        let again = read.contains(&request.path);
        read.push(request.path.clone());
        if again && response.code() == 200 {
            *response = Response::refusal(404, "no such asset");
        }
    })
}

fn asset_deleted() -> Intercept {
    answers_with(
        "GET /assets/**, DELETE /assets/**",
        move |gone: &mut HashSet<String>, request, response| {
            if request.method == Method::DELETE {
                gone.insert(request.path.clone());
                *response = empty();
            } else if gone.contains(&request.path) {
                *response = Response::refusal(404, "no such asset");
            }
        },
    )
}

fn asset_with_prompt() -> Intercept {
    answers_with(
        "POST /prompts, DELETE /prompts/*, GET /assets/**",
        move |(images, gone): &mut (HashMap<i64, String>, Vec<String>), request, response| {
            if request.method == Method::POST {
                let image = request.text("imageUrl");
                images.extend(image.map(|url| (response.id(), url)));
            } else if request.method == Method::DELETE {
                gone.extend(images.remove(&request.id(1)));
            } else if gone.iter().any(|url| url.ends_with(&request.path)) {
                *response = Response::refusal(404, "no such asset");
            }
        },
    )
}
