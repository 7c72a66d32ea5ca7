//! `POST /uploads/images`, and the files that come of it and of generations.

use hyper::body::Bytes;

use super::prelude::*;

const TYPES: &[&str] = &["image/png", "image/jpeg", "image/webp", "image/gif"];
const BYTES_MAX: i64 = 10_485_760;

/// A place for one file, and the file once it is there.
pub(super) struct File {
    pub(super) name: String,
    pub(super) signature: String,
    pub(super) token: String,
    pub(super) content_type: &'static str,
    pub(super) size: i64,
    pub(super) bytes: Option<Bytes>,
    /// What is shown in place of the bytes.
    pub(super) shown: Option<Bytes>,
    /// Not shown before.
    pub(super) live: Millis,
}

pub(super) fn create(store: &mut Store, call: &Call) -> Outcome {
    let fields = call.fields("contentType size", Call::may_write)?;
    let content_type = fields.choice("contentType", TYPES)?;
    let content_type = content_type.ok_or_else(|| bad("contentType", "missing"))?;
    let size = fields.integer("size")?.ok_or_else(|| bad("size", "missing"))?;
    let (least, most) = match call.bug {
        "slot.size-zero" => (0, BYTES_MAX),
        "slot.size-unlimited" => (1, i64::MAX),
        "slot.size-one-more" => (1, BYTES_MAX + 1),
        "slot.size-ten-million" => (1, 10_000_000),
        "slot.size-negative" => (i64::MIN, BYTES_MAX),
        _ => (1, BYTES_MAX),
    };
    let most =
        if content_type == "image/gif" && call.bug("slot.gif-small") { 5 << 20 } else { most };
    if !(least..=most).contains(&size) {
        return Err(bad("size", "too small or too large"));
    }
    call.after_all(Call::may_write)?;
    let mut file = new_file(store, call.account, content_type, size);
    match (call.choices.bug, &call.request.authorization) {
        ("slot.token-is-key", Some(key)) => file.token = key.replace("Bearer ", ""),
        ("slot.live-before", _) => (file.shown, file.live) = (Some(Bytes::new()), 0),
        _ => {}
    }
    let mut data = json!({
        "uploadUrl": upload_url(store, &file),
        "token": file.token,
        "url": url(store, &file),
        "path": if store.choices.files.on_another_host { format!("konto {}/ü/{}", call.account, file.name) } else { "x".to_owned() },
        "contentType": content_type,
        "size": size,
        "expiresIn": 7200,
    });
    if call.choices.wire.extras {
        data["headers"] = json!({ "x-storage-class": "cold" });
    }
    store.files.push(file);
    Ok(Answer::created(data))
}

fn new_file(store: &mut Store, owner: Account, content_type: &'static str, size: i64) -> File {
    let (mut name, signature, secret) =
        (store.new_secret(), store.new_secret(), store.new_secret());
    if store.bug("slot.one-name") && size > 0 {
        "0123456789abcdef".clone_into(&mut name);
    }
    let token = match store.choices.files.on_another_host {
        true => format!("eyJ{owner}.{secret}.{}", &secret[..7]),
        false => format!("{secret}+/=~:;,!{}==", "-_".repeat(150)),
    };
    File { name, signature, token, content_type, size, bytes: None, shown: None, live: Millis::MAX }
}

fn upload_url(store: &Store, file: &File) -> String {
    let (root, name, signature) = (&store.storage_url, &file.name, &file.signature);
    match store.choices.files.on_another_host {
        true => format!("{root}/put?part=1&sig={signature}&empty=&x=%2B%20%C3%BC&file={name}"),
        false => format!("{root}/u/{signature}:{name}/"),
    }
}

/// Where the file is for good.
fn url(store: &Store, file: &File) -> String {
    let (root, name) = (&store.storage_url, &file.name);
    match store.choices.files.on_another_host {
        true => format!("{root}/assets/%C3%BC%20(1)/{name}"),
        false => format!("{root}/o/images%2F{name}?alt=media"),
    }
}

/// Keeps what a generation made; its address.
pub(super) fn keep(store: &mut Store, owner: Account, kind: &str) -> String {
    let bytes = match kind {
        "video" => Bytes::from_static(b"\0\0\0\x10ftypisom\0\0\0\0"),
        _ => Bytes::from_static(&PNG),
    };
    let mut file = new_file(store, owner, "image/png", 0);
    file.bytes = Some(bytes);
    file.live = now() + store.choices.files.delay;
    let url = url(store, &file);
    store.files.push(file);
    url
}

const PNG: [u8; 69] = *b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\
\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";
