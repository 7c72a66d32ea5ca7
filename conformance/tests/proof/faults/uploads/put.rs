//! Faults in the upload itself (UP-10 to UP-14, UP-17).

use bytes::Bytes;
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};

use crate::prelude::*;

const PUT: &str = "PUT /storage/**";
const ALL_OF_IT: &str = "POST /uploads/images, PUT /storage/**";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "uploads.put-201" ["UP-10"] status_instead(PUT, 201),
        "An upload is answered 201." },
    fault! { "uploads.put-body" ["UP-10"] answers(PUT, |_, response| {
        if response.is_success() {
            *response = Response::data(200, &serde_json::Value::Null);
        }
    }),
        "An upload is answered with the envelope." },
    fault! { "uploads.no-token" ["UP-11"] tokens(|request| !request.headers.contains_key(AUTHORIZATION)),
        "The signed address needs no token." },
    fault! { "uploads.api-key" ["UP-11"]
        tokens(|request| request.authorization().starts_with("Bearer promptarium_live_")),
        "An API key opens any slot." },
    fault! { "uploads.any-token" ["UP-11"] any_token(),
        "The token of any slot opens every other one." },
    fault! { "uploads.token-of-any-path" ["UP-11"] any_path(),
        "The path of a signed address is not compared with the token's." },
    fault! { "uploads.token-prefix" ["UP-11"]
        compared(|token, brought| brought.len() * 2 >= token.len() && token.starts_with(brought)),
        "The first half of a token is enough." },
    fault! { "uploads.token-longer" ["UP-11"] compared(|token, brought| brought.starts_with(token)),
        "A token may go on after its end." },
    fault! { "uploads.type-ignored" ["UP-12"] headers(|_, declared| declared.to_owned()),
        "The Content-Type of an upload is not looked at." },
    fault! { "uploads.size-larger" ["UP-13"]
        bodies(|body, size| body.slice(..body.len().min(size))),
        "A body that is larger than declared is cut." },
    fault! { "uploads.size-smaller" ["UP-13"] bodies(|body, size| {
        let mut bytes = body.to_vec();
        bytes.resize(bytes.len().max(size), 0);
        bytes.into()
    }),
        "A body that is smaller than declared is filled up." },
    fault! { "uploads.size-newline" ["UP-13"] bodies(|body, size| match body.len() == size + 1 {
        true => body.slice(..size),
        false => body,
    }),
        "A body may have a byte more than declared." },
    fault! { "uploads.second-ignored" ["UP-14"] second(false),
        "A second upload is answered 200 and dropped." },
    fault! { "uploads.second-taken" ["UP-14"] second(true),
        "A second upload replaces the first." },
    fault! { "uploads.same-again" ["UP-14"] same_again(),
        "The same bytes are taken again." },
    fault! { "uploads.shown-at-upload-url" ["UP-17"]
        whole("GET /storage/**", |request, upstream| async move {
        let asset = Request { path: request.path.replace("/storage/", "/assets/"), ..request.clone() };
        let image = upstream.send(&asset).await;
        if image.is_success() { image } else { upstream.send(&request).await }
    }),
        "uploadUrl shows the image." },
    fault! { "uploads.length-required" ["UP-10"]
        refused(PUT, 411, |request| !request.headers.contains_key(CONTENT_LENGTH)),
        "An upload without a Content-Length is refused." },
    fault! { "uploads.bytes-looked-at" ["UP-10"] answers(PUT, |request, response| {
        if response.is_success() && !is_picture(&request.body) {
            *response = Response::refusal(400, "The bytes are no image.");
        }
    }),
        "Bytes that do not begin like an image are refused." },
    fault! { "uploads.method-404" ["UP-10"] code_instead("* /storage/**", 405, 404, |_| true),
        "Another method than PUT is answered 404." },
    fault! { "uploads.type-lower-case" ["UP-12"] refused(PUT, 415, |request| {
        let announced = request.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        announced.is_some_and(|announced| announced.iter().any(u8::is_ascii_uppercase))
    }),
        "The Content-Type of an upload is compared with its letters' case." },
    fault! { "uploads.used-up-by-refusal" ["UP-14"] used_up_by_refusal(),
        "An upload of a wrong size uses the slot up." },
    fault! { "uploads.refusal-in-text" ["ER-01"] answers(PUT, |_, response| {
        if response.status.is_client_error() {
            response.set_type("text/plain");
            response.body = Bytes::from_static(b"The upload was refused.");
        }
    }),
        "A refused upload is answered in plain text." },
];

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

fn any_token() -> Intercept {
    known(|request, terms, all| {
        if all.values().any(|other| other.token == brought(request)) {
            request.set_authorization(&format!("Bearer {}", terms.token));
        }
    })
}

fn any_path() -> Intercept {
    known(|request, _, all| {
        let of_token = all.iter().find(|(_, terms)| terms.token == brought(request));
        if let Some(path) = of_token.map(|(path, _)| path.clone()) {
            request.path = path;
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

fn same_again() -> Intercept {
    answers_with(PUT, move |taken: &mut HashMap<String, Bytes>, request, response| {
        if response.is_success() {
            taken.insert(request.path.clone(), request.body.clone());
        } else if response.code() == 400 && taken.get(&request.path) == Some(&request.body) {
            *response = empty();
        }
    })
}

pub(super) fn empty() -> Response {
    Response { status: http::StatusCode::OK, headers: HeaderMap::new(), body: Bytes::new() }
}

fn is_picture(bytes: &[u8]) -> bool {
    [&b"\x89PNG"[..], b"\xff\xd8", b"RIFF", b"GIF8"].iter().any(|start| bytes.starts_with(start))
}

fn used_up_by_refusal() -> Intercept {
    answers_with(PUT, move |used: &mut HashSet<String>, request, response| {
        if matches!(response.code(), 400 | 413) {
            used.insert(request.path.clone());
        } else if response.is_success() && used.contains(&request.path) {
            *response = Response::refusal(400, "The slot was used.");
        }
    })
}
