//! Faults in the upload itself, and in the asset it leaves (UP-10 to UP-19).

use std::collections::HashMap;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method};

use crate::exchange::{Request, Response};
use crate::fault::{Fault, Intercept, fault};
use crate::front::{answers, status_instead, whole};
use crate::shared::Shared;

const PUT: &str = "PUT /storage/**";
const ALL_OF_IT: &str = "POST /uploads/images, PUT /storage/**";

#[rustfmt::skip]
pub(crate) const ALL: &[Fault] = &[
    fault! { "uploads.put-201" ["UP-10"] status_instead(PUT, 201),
        "An upload is answered 201." },
    fault! { "uploads.put-body" ["UP-10"] answers(PUT, |_, answer| {
        if answer.is_success() {
            *answer = Response::data(200, &serde_json::Value::Null);
        }
    }),
        "An upload is answered with the envelope." },
    fault! { "uploads.no-token" ["UP-11"] tokens(|ask| !ask.headers.contains_key(AUTHORIZATION)),
        "The signed address needs no token." },
    fault! { "uploads.api-key" ["UP-11"]
        tokens(|ask| ask.authorization().starts_with("Bearer promptarium_live_")),
        "An API key opens any slot." },
    fault! { "uploads.any-token" ["UP-11"] any_token(),
        "The token of any slot opens every other one." },
    fault! { "uploads.token-prefix" ["UP-11"]
        compared(|token, brought| brought.len() * 2 >= token.len() && token.starts_with(brought)),
        "The first half of a token is enough." },
    fault! { "uploads.token-longer" ["UP-11"] compared(|token, brought| brought.starts_with(token)),
        "A token may go on after its end." },
    fault! { "uploads.type-ignored" ["UP-12"] headers(|_, declared| declared.to_owned()),
        "The Content-Type of an upload is not looked at." },
    fault! { "uploads.type-prefix" ["UP-12"]
        headers(|announced, declared| match announced.starts_with("image/") {
            true => declared.to_owned(),
            false => announced.to_owned(),
        }),
        "An upload may announce any type of image." },
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
    fault! { "uploads.asset-cut" ["UP-15"] answers("GET /assets/**", |_, answer| {
        if answer.code() == 200 {
            answer.body.truncate(answer.body.len().saturating_sub(1));
        }
    }),
        "An asset is given without its last byte." },
    fault! { "uploads.asset-once" ["UP-15"] read_once(),
        "An asset is gone after it was read." },
    fault! { "uploads.shown-at-upload-url" ["UP-17"]
        whole("GET /storage/**", |ask, upstream| async move {
            let mut asset = ask.another(Method::GET, ask.path.replace("/storage/", "/assets/"));
            asset.of_api = false;
            let image = upstream.send(&asset).await;
            if image.is_success() { image } else { upstream.send(&ask).await }
        }),
        "uploadUrl shows the image." },
    fault! { "uploads.early" ["UP-06"] answers("GET /assets/**", |_, answer| {
        if answer.code() == 404 {
            answer.set_code(200);
            answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static("image/png"));
            answer.body = Bytes::new();
        }
    }),
        "Before the upload an empty image is at url." },
];

/// What was agreed with a slot, by the path of its upload address.
#[derive(Clone)]
struct Terms {
    token: String,
    content_type: String,
    size: usize,
}

type Slots = Shared<HashMap<String, Terms>>;

fn note(slots: &Slots, answer: &Response) {
    let body = answer.json();
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

/// Changes uploads to slots that are known.
fn known(change: impl Fn(&mut Request, Terms) + Clone + Send + Sync + 'static) -> Intercept {
    let slots = Slots::default();
    whole(ALL_OF_IT, move |mut ask, upstream| {
        let (slots, change) = (slots.clone(), change.clone());
        async move {
            if ask.method == Method::PUT {
                if let Some(terms) = slots.with(|slots| slots.get(&ask.path).cloned()) {
                    change(&mut ask, terms);
                }
                return upstream.send(&ask).await;
            }
            let answer = upstream.send(&ask).await;
            note(&slots, &answer);
            answer
        }
    })
}

/// Uploads for which the right token is filled in.
fn tokens(lacking: fn(&Request) -> bool) -> Intercept {
    known(move |ask, terms| {
        if lacking(ask) {
            ask.set_authorization(&format!("Bearer {}", terms.token));
        }
    })
}

/// Tokens that are near enough to the right one.
fn compared(near: fn(&str, &str) -> bool) -> Intercept {
    known(move |ask, terms| {
        let brought = ask.authorization().strip_prefix("Bearer ").unwrap_or_default().to_owned();
        if !brought.is_empty() && near(&terms.token, &brought) {
            ask.set_authorization(&format!("Bearer {}", terms.token));
        }
    })
}

fn any_token() -> Intercept {
    let tokens = Shared::<Vec<String>>::default();
    let slots = Slots::default();
    whole(ALL_OF_IT, move |mut ask, upstream| {
        let (slots, tokens) = (slots.clone(), tokens.clone());
        async move {
            if ask.method == Method::PUT {
                let brought = ask.authorization().trim_start_matches("Bearer ").to_owned();
                let terms = slots.with(|slots| slots.get(&ask.path).cloned());
                if let Some(terms) = terms.filter(|_| tokens.with(|all| all.contains(&brought))) {
                    ask.set_authorization(&format!("Bearer {}", terms.token));
                }
                return upstream.send(&ask).await;
            }
            let answer = upstream.send(&ask).await;
            note(&slots, &answer);
            let token = answer.json()["data"]["token"].as_str().unwrap_or_default().to_owned();
            tokens.with(|all| all.push(token));
            answer
        }
    })
}

/// Changes the announced type, with the declared one at hand.
fn headers(taken: fn(&str, &str) -> String) -> Intercept {
    known(move |ask, terms| {
        let announced = ask.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let taken = taken(announced.unwrap_or_default(), &terms.content_type);
        if let Ok(value) = taken.parse() {
            ask.headers.insert(CONTENT_TYPE, value);
        }
    })
}

/// Changes the bytes, with the declared size at hand.
fn bodies(change: fn(Bytes, usize) -> Bytes) -> Intercept {
    known(move |ask, terms| ask.body = change(ask.body.clone(), terms.size))
}

/// The bearer of a used slot is told that all went well.
fn second(replaces: bool) -> Intercept {
    let taken = Shared::<HashMap<String, (HeaderValue, Bytes)>>::default();
    answers("PUT /storage/**, GET /assets/**", move |ask, answer| {
        let name = ask.path.replace("/storage/", "/assets/");
        let authorization = || ask.headers.get(AUTHORIZATION).cloned();
        taken.with(|taken| {
            if ask.method == Method::GET {
                if let Some((_, bytes)) =
                    taken.get(&name).filter(|_| replaces && answer.code() == 200)
                {
                    answer.body = bytes.clone();
                }
            } else if answer.is_success() {
                taken.extend(authorization().map(|by| (name, (by, ask.body.clone()))));
            } else if let Some((by, bytes)) = taken.get_mut(&name)
                && Some(&*by) == authorization().as_ref()
                && answer.code() == 400
            {
                *bytes = ask.body.clone();
                *answer = empty();
            }
        });
    })
}

fn same_again() -> Intercept {
    let taken = Shared::<HashMap<String, Bytes>>::default();
    answers(PUT, move |ask, answer| {
        taken.with(|taken| {
            if answer.is_success() {
                taken.insert(ask.path.clone(), ask.body.clone());
            } else if answer.code() == 400 && taken.get(&ask.path) == Some(&ask.body) {
                *answer = empty();
            }
        });
    })
}

fn empty() -> Response {
    Response { status: http::StatusCode::OK, headers: HeaderMap::new(), body: Bytes::new() }
}

fn read_once() -> Intercept {
    let read = Shared::<Vec<String>>::default();
    answers("GET /assets/**", move |ask, answer| {
        let again = read.with(|read| {
            let again = read.contains(&ask.path);
            read.push(ask.path.clone());
            again
        });
        if again && answer.code() == 200 {
            *answer = Response::refusal(404, "no such asset");
        }
    })
}
