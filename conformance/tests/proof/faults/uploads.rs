//! Faults in uploads (UP, LI-14, LI-15): the slot, the upload itself, and the asset that it leaves.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};

use super::narrow::files_go_with_prompts;
use crate::prelude::*;

const PROMPTS: &str = "POST /prompts, PATCH /prompts/*";
const SLOT: &str = "POST /uploads/images";
const LARGEST: i64 = 10_485_760;
const PUT: &str = "PUT /storage/**";
const ALL_OF_IT: &str = "POST /uploads/images, PUT /storage/**";
const ASSETS: &str = "GET /assets/**";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    // A size is at most 10 megabytes of 1000 times 1000.
    fault! { "uploads.size-megabytes" ["LI-14"] value_refused(SLOT, "size", |size| {
        size.as_i64().is_some_and(|size| (10_000_001..=LARGEST).contains(&size))
    }) },
    fault! { "uploads.type-case" ["LI-15"]
        taken_as(SLOT, "contentType", |kind| Some(kind.as_str()?.to_lowercase().into())) },
    fault! { "uploads.echo-size" ["UP-08"] shown_as(SLOT, "size", as_text) },
    // No request can be sent to such an address.
    // No request can be sent to such an address.
    // uploadUrl is a path without a host.
    fault! { silent "uploads.upload-url-path" ["UP-04"] edits_data(SLOT, |slot| {
        let path = text(slot, "uploadUrl").splitn(4, '/').last().map(|path| format!("/{path}"));
        slot["uploadUrl"] = path.into();
    }) },
    fault! { "uploads.url-signed" ["UP-06"]
        edits_data(SLOT, |slot| slot["url"] = slot["uploadUrl"].clone()) },
    // token has Bearer before it.
    fault! { "uploads.token-prefixed" ["UP-05"] edits_data(SLOT, |slot| {
        slot["token"] = format!("Bearer {}", text(slot, "token")).into();
    }) },
    fault! { "uploads.path-missing" ["UP-07"] edits_data(SLOT, |slot| without(slot, "path")) },
    fault! { "uploads.url-refused" ["UP-16"]
        text_is_refused(PROMPTS, "imageUrl", |url| url.contains("/assets/")) },
    // url is refused in the referenceMediaUrls of a prompt.
    fault! { "uploads.reference-refused" ["UP-16"] refused(PROMPTS, 400, |request| {
        request.json()["referenceMediaUrls"].to_string().contains("/assets/")
    }) },
    fault! { "uploads.put-201" ["UP-10"] status_instead(PUT, 201) },
    // An upload is answered with the envelope.
    fault! { "uploads.put-body" ["UP-10"] answers(PUT, |_, response| {
        if response.is_success() {
            *response = Response::data(200, &serde_json::Value::Null);
        }
    }) },
    fault! { "uploads.no-token" ["UP-11"] tokens(|request| !request.headers.contains_key(AUTHORIZATION)) },
    fault! { "uploads.token-longer" ["UP-11"] compared(|token, brought| brought.starts_with(token)) },
    fault! { "uploads.type-ignored" ["UP-12"] headers(|_, declared| declared.to_owned()) },
    fault! { "uploads.size-larger" ["UP-13"]
        bodies(|body, size| body.slice(..body.len().min(size))) },
    // A body that is smaller than declared is filled up.
    fault! { "uploads.size-smaller" ["UP-13"] bodies(|body, size| {
        let mut bytes = body.to_vec();
        bytes.resize(bytes.len().max(size), 0);
        bytes.into()
    }) },
    // A body may have a byte more than declared.
    fault! { "uploads.size-newline" ["UP-13"] bodies(|body, size| match body.len() == size + 1 {
        true => body.slice(..size),
        false => body,
    }) },
    fault! { "uploads.second-ignored" ["UP-14"] second(false) },
    fault! { "uploads.second-taken" ["UP-14"] second(true) },
    // uploadUrl shows the image.
    fault! { "uploads.shown-at-upload-url" ["UP-17"]
        whole("GET /storage/**", |request, upstream| async move {
        let asset = Request { path: request.path.replace("/storage/", "/assets/"), ..request.clone() };
        let image = upstream.send(&asset).await;
        if image.is_success() { image } else { upstream.send(&request).await }
    }) },
    // Bytes that do not begin like an image are refused.
    fault! { "uploads.bytes-looked-at" ["UP-10"] answers(PUT, |request, response| {
        if response.is_success() && !is_picture(&request.body) {
            *response = Response::refusal(400, "The bytes are no image.");
        }
    }) },
    // The Content-Type of an upload is compared with its letters' case.
    fault! { "uploads.type-lower-case" ["UP-12"] refused(PUT, 415, |request| {
        let announced = request.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        announced.is_some_and(|announced| announced.iter().any(u8::is_ascii_uppercase))
    }) },
    // An asset is given without its last byte.
    fault! { "uploads.asset-cut" ["UP-15"] answers(ASSETS, |_, response| {
        if response.code() == 200 {
            response.body.truncate(response.body.len().saturating_sub(1));
        }
    }) },
    fault! { "uploads.asset-once" ["UP-19"] read_once() },
    // An asset may be cached for an hour.
    fault! { "uploads.asset-cached-an-hour" ["UP-19"] answers(ASSETS, |_, response| {
        if response.is_success() {
            let hour = HeaderValue::from_static("public, max-age=3600");
            response.headers.insert(CACHE_CONTROL, hour);
        }
    }) },
    fault! { in "uploads.asset." "uploads.asset-with-prompt" ["UP-19"] files_go_with_prompts() },
    fault! { "uploads.asset-webp" ["UP-15"]
        refused(ASSETS, 404, |request| request.path.ends_with(".webp")) },
];

/// An upload address as that of an image.
pub(super) fn in_storage(url: &Value) -> Option<Value> {
    url.as_str()?.contains("/storage/").then(|| "https://example.com/a.png".into())
}

/// What was agreed with a slot, by the path of its upload address.
struct Terms {
    token: String,
    content_type: String,
    size: usize,
}

type Slots = Shared<HashMap<String, Terms>>;

fn note(slots: &Slots, response: &Response) {
    let body = response.json();
    let text = |name: &str| body["data"][name].as_str().unwrap_or_default().to_owned();
    let path = text("uploadUrl")
        .split('?')
        .next()
        .and_then(|url| url.find("/storage/").map(|at| url[at..].to_owned()));
    let size = body["data"]["size"].as_u64().and_then(|size| usize::try_from(size).ok());
    if let (Some(path), Some(size)) = (path, size) {
        let terms = Terms { token: text("token"), content_type: text("contentType"), size };
        slots.with(|slots| slots.insert(path, terms));
    }
}

/// Changes uploads to slots that are known; all of those are at hand.
fn known(
    change: impl Fn(&mut Request, &Terms, &HashMap<String, Terms>) + Copy + Send + Sync + 'static,
) -> Intercept {
    whole_with(ALL_OF_IT, move |mut request, upstream, slots: Slots| async move {
        if request.method == Method::PUT {
            slots.with(|slots| {
                if let Some(terms) = slots.get(&request.path) {
                    change(&mut request, terms, slots);
                }
            });
            return upstream.send(&request).await;
        }
        let response = upstream.send(&request).await;
        note(&slots, &response);
        response
    })
}

/// Uploads for which the right token is filled in.
fn tokens(lacking: fn(&Request) -> bool) -> Intercept {
    known(move |request, terms, _| {
        if lacking(request) {
            request.set_authorization(&format!("Bearer {}", terms.token));
        }
    })
}

fn brought(request: &Request) -> &str {
    request.authorization().strip_prefix("Bearer ").unwrap_or_default()
}

/// Tokens that are near enough to the right one.
fn compared(near: fn(&str, &str) -> bool) -> Intercept {
    known(move |request, terms, _| {
        if !brought(request).is_empty() && near(&terms.token, brought(request)) {
            request.set_authorization(&format!("Bearer {}", terms.token));
        }
    })
}

/// Changes the announced type, with the declared one at hand.
fn headers(taken: fn(&str, &str) -> String) -> Intercept {
    known(move |request, terms, _| {
        let announced = request.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let taken = taken(announced.unwrap_or_default(), &terms.content_type);
        if let Ok(value) = taken.parse() {
            request.headers.insert(CONTENT_TYPE, value);
        }
    })
}

/// Changes the bytes, with the declared size at hand.
fn bodies(change: fn(Bytes, usize) -> Bytes) -> Intercept {
    known(move |request, terms, _| request.body = change(request.body.clone(), terms.size))
}

/// The bearer of a used slot is told that all went well.
fn second(replaces: bool) -> Intercept {
    answers_with(
        "PUT /storage/**, GET /assets/**",
        move |taken: &mut HashMap<String, (HeaderValue, Bytes)>, request, response| {
            let name = request.path.replace("/storage/", "/assets/");
            let authorization = || request.headers.get(AUTHORIZATION).cloned();
            if request.method == Method::GET {
                let first = taken.get(&name).filter(|_| replaces && response.code() == 200);
                if let Some((_, bytes)) = first {
                    response.body = bytes.clone();
                }
            } else if response.is_success() {
                taken.extend(authorization().map(|by| (name, (by, request.body.clone()))));
            } else if let Some((by, bytes)) = taken.get_mut(&name)
                && Some(&*by) == authorization().as_ref()
                && response.code() == 400
            {
                *bytes = request.body.clone();
                *response = empty();
            }
        },
    )
}

fn empty() -> Response {
    Response { status: http::StatusCode::OK, headers: HeaderMap::new(), body: Bytes::new() }
}

fn is_picture(bytes: &[u8]) -> bool {
    [&b"\x89PNG"[..], b"\xff\xd8", b"RIFF", b"GIF8"].iter().any(|start| bytes.starts_with(start))
}

fn read_once() -> Intercept {
    answers_with(ASSETS, move |read: &mut Vec<String>, request, response| {
        let again = read.contains(&request.path);
        read.push(request.path.clone());
        if again && response.code() == 200 {
            *response = Response::refusal(404, "no such asset");
        }
    })
}
