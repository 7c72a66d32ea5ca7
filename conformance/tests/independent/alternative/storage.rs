//! The storage: takes the bytes of uploads and shows files, without the API key
//! and without the envelope.

use std::io;

use http_body_util::{BodyExt, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, LOCATION};
use hyper::http::request::Parts;
use hyper::{Method, Request};

use super::Shared;
use super::choices::Files;
use super::prelude::*;
use super::uploads::File;
use super::wire::Raw;

const BODY_BYTES_MAX: usize = 11 << 20;

pub(super) fn is_storage(path: &str) -> bool {
    ["/put", "/u/", "/assets/", "/raw/", "/o/"].iter().any(|start| path.starts_with(start))
}

/// The answer, or an error where the connection is to be closed without one.
pub(super) async fn respond(shared: &Shared, request: Request<Incoming>) -> io::Result<Raw> {
    let (path, query) = (request.uri().path(), request.uri().query().unwrap_or_default());
    let place = if query.contains("file=") { query } else { path.trim_end_matches('/') };
    let name = place.rsplit(['/', '=', ':', 'F']).next().unwrap_or_default().to_owned();
    let is_upload = path.starts_with("/put") || path.starts_with("/u/");
    if is_upload {
        if shared.choices.bug == "put.address-shows" && request.method() == Method::GET {
            let store = shared.lock();
            let file = store.files.iter().find(|file| file.name == name);
            let body = file.and_then(|file| file.bytes.clone()).unwrap_or_default();
            return Ok(Raw { status: 200, headers: Vec::new(), body });
        }
        return put(shared, request, &name).await;
    }
    let authorization = request.headers().get(AUTHORIZATION).cloned();
    let store = shared.lock();
    let store = &*store;
    let files = &store.choices.files;
    let live = |file: &&File| file.name == name && file.live <= now();
    let file = store.files.iter().find(live);
    let bytes = file.and_then(|file| file.shown.clone().or_else(|| file.bytes.clone()));
    let Some(bytes) = bytes else {
        return Ok(refusal(store, store.choices.statuses.no_asset));
    };
    let keys = [&shared.keys.main, &shared.keys.read_only, &shared.keys.other];
    let is_key = |key: &&String| {
        authorization.as_ref().is_some_and(|value| value == &format!("Bearer {key}"))
    };
    if files.key_to_read && !keys.iter().any(is_key) {
        return Ok(refusal(store, 401));
    }
    if files.redirects && path.starts_with("/assets/") {
        let place = format!("../../raw/{name}?until=now&sig=a%2Fb");
        return Ok(Raw::plain(302, "<a>here</a>").with(LOCATION, place));
    }
    let typed = files.on_another_host.then(|| (CONTENT_TYPE, "binary/octet-stream".to_owned()));
    Ok(Raw { status: 200, headers: typed.into_iter().collect(), body: bytes })
}

async fn put(shared: &Shared, request: Request<Incoming>, name: &str) -> io::Result<Raw> {
    let (head, body) = request.into_parts();
    let (allowed, size, hangs_up) = {
        let store = shared.lock();
        let allowed = allowed(&store, &head, name);
        let size = allowed.as_ref().map_or(0, |file| file.size);
        (allowed.map(drop), size, store.choices.files.hangs_up)
    };
    let size = usize::try_from(size).unwrap_or_default();
    // One that hangs up reads no more than it was told of.
    let limit = if hangs_up { size } else { BODY_BYTES_MAX };
    if let (Err(status), true) = (&allowed, hangs_up) {
        return Ok(refusal(&shared.lock(), *status));
    }
    let body = Limited::new(body, limit).collect().await.map_err(io::Error::other)?.to_bytes();
    let mut store = shared.lock();
    let statuses = &store.choices.statuses;
    let looks_inside = store.choices.files.looks_inside;
    let live = now() + store.choices.files.delay;
    if let Err(status) = allowed {
        let kept = match store.choices.bug {
            "put.unauthorized-kept" => status == statuses.token,
            "put.refused-second-kept" => status == statuses.used,
            _ => false,
        };
        for file in store.files.iter_mut().filter(|file| kept && file.name == name) {
            (file.shown, file.live) = (Some(body.clone()), live);
        }
        if status == statuses.used && store.bug("put.twice-says-200") {
            return Ok(Raw::plain(200, ""));
        }
        return Ok(refusal(&store, status));
    }
    let bug = store.choices.bug;
    let is_first = |file: &&File| file.bytes.as_ref().is_some_and(|bytes| bytes.len() == size);
    let first = store.files.iter().find(is_first).and_then(|file| file.bytes.clone());
    let Some(file) = store.files.iter_mut().find(|file| file.name == name) else {
        return Ok(refusal(&store, statuses.token));
    };
    match bug {
        "put.refused-kept" if body.len() != size => {
            (file.shown, file.live) = (Some(body.clone()), live);
        }
        "put.first-bytes" => file.shown = first,
        _ => {}
    }
    let more = body.len() > size;
    let other_size = match bug {
        "put.any-size" => true,
        "put.larger" | "put.larger-cut" => more,
        "put.smaller" => !more,
        "put.one-more" => body.len() == size + 1,
        "put.empty-taken" => body.is_empty(),
        "put.one-less" => body.len() + 1 == size,
        _ => false,
    };
    let refused = match () {
        () if file.bytes.is_some() && bug != "put.twice" => statuses.used,
        () if body.len() != size && !other_size => statuses.size,
        () if body.len() > 1 << 20 && bug == "put.one-megabyte" => 413,
        () if looks_inside && !is_picture(file.content_type, &body) => statuses.content_type,
        () => 0,
    };
    if refused != 0 {
        return Ok(refusal(&store, refused));
    }
    let kept = match bug {
        "put.larger-cut" => body.slice(..size.min(body.len())),
        "put.last-byte-lost" => body.slice(..body.len().saturating_sub(1)),
        "put.first-64k" => body.slice(..body.len().min(65_536)),
        "put.nothing-kept" => Bytes::new(),
        "put.text-mode" => String::from_utf8_lossy(&body).into_owned().into(),
        _ => body,
    };
    (file.bytes, file.live) = (Some(kept).filter(|_| bug != "put.not-live"), live);
    let (status, body) = match bug {
        "put.201" => (201, ""),
        "put.204" => (204, ""),
        "put.says-ok" => (200, "{\"ok\":true}"),
        _ => (200, ""),
    };
    Ok(Raw::plain(status, body))
}

/// The file that may be put there with this head, or the status of the refusal.
fn allowed<'a>(store: &'a Store, head: &Parts, name: &str) -> Result<&'a File, u16> {
    let (method, headers, address) = (&head.method, &head.headers, head.uri.to_string());
    let statuses = &store.choices.statuses;
    let Files { any_type, needs_length, .. } = store.choices.files;
    let file = store.files.iter().find(|file| file.name == name).ok_or(statuses.token)?;
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let sent = text(AUTHORIZATION);
    let bearer = |file: &File| format!("Bearer {}", file.token);
    let authorized = match store.choices.bug {
        "put.token-not-asked" => true,
        "put.any-token" => sent.starts_with("Bearer "),
        "put.token-beginning" => bearer(file).starts_with(sent) && sent.len() > 12,
        "put.key-taken" if sent.contains("_live_") => true,
        "put.scheme-not-asked" => sent.ends_with(&*file.token),
        "put.token-of-any-slot" => store.files.iter().any(|file| sent == bearer(file)),
        "put.longer-token" => sent.starts_with(&bearer(file)),
        _ => sent == bearer(file),
    };
    let is_used = file.bytes.is_some() && !store.bug("put.twice");
    match () {
        () if !authorized || !address.contains(&file.signature) => Err(statuses.token),
        () if method != Method::PUT => Err(statuses.no_method),
        () if is_used => Err(statuses.used),
        () if store.bug("put.webp-refused") && file.content_type == "image/webp" => Err(415),
        () if needs_length && !headers.contains_key(CONTENT_LENGTH) => Err(411),
        () if !any_type && text(CONTENT_TYPE) != file.content_type => Err(statuses.content_type),
        () => Ok(file),
    }
}

fn is_picture(content_type: &str, bytes: &[u8]) -> bool {
    let start: &[u8] = match content_type {
        "image/png" => b"\x89PNG\r\n\x1a\n",
        "image/jpeg" => b"\xff\xd8\xff",
        "image/gif" => b"GIF8",
        _ => b"RIFF",
    };
    bytes.starts_with(start)
}

/// As storages do: in a format of their own, or without a word.
fn refusal(store: &Store, status: u16) -> Raw {
    if !store.choices.files.on_another_host {
        return Raw::plain(status, "");
    }
    let xml = "<?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code></Error>";
    Raw::plain(status, xml).with(CONTENT_TYPE, "application/xml")
}
