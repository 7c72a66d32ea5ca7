//! Upload slots, and the signed addresses that take the bytes.

use promptarium::limits;
use serde_json::{Map, Value, json};

use super::Named;
use super::operation::{Answer, Operation};
use super::schema::{self, Fields, of};
use crate::api::uploads::TYPES;

const TAG: &str = "Uploads";

pub(super) fn operations() -> Vec<Named<Operation>> {
    vec![("createUploadSlot", create()), ("putUpload", put())]
}

fn create() -> Operation {
    let body = Fields::new()
        .must("contentType", schema::word(TYPES), "The type of the image (UP-02, LI-15).")
        .must("size", size(), "Exactly so many bytes will come (UP-03, LI-14).")
        .object();
    let example = json!({
        "uploadUrl": "https://prompts.example/storage/0123456789abcdefghijklmno0.png?slot=AAAA",
        "token": "BBBB",
        "url": "https://prompts.example/assets/0123456789abcdefghijklmno0.png",
        "path": "images/0123456789abcdefghijklmno0.png",
        "contentType": "image/png",
        "size": 1024,
        "expiresIn": limits::UPLOAD_SLOT_LIFETIME_SECONDS,
    });
    Operation::new(
        TAG,
        "Ask for an upload slot",
        "The slot takes one image of this type and exactly this size (UP-01 to UP-09). Its bytes go \
         to `uploadUrl`, with `token`; the image is then at `url`, for good (UP-15, UP-19).",
    )
    .json(&body, &json!({ "contentType": "image/png", "size": 1024 }))
    .answer(Answer::new(201, "The slot.").data(&of("UploadSlot"), &example))
}

fn put() -> Operation {
    let bytes = json!({ "schema": schema::bytes() });
    let types = TYPES.iter().map(|(name, _)| ((*name).to_owned(), bytes.clone()));
    Operation::new(
        TAG,
        "Put the bytes of an upload",
        "To the `uploadUrl` of a slot, as it was handed out, with the slot's `token` and the type \
         and the size that were declared (UP-10 to UP-14, LI-16, S-43). It works once; a refused \
         upload leaves the address good. Whoever comes without the token is answered 401, with \
         whatever method.",
    )
    .parameter(
        "query",
        "slot",
        true,
        &schema::some_text(),
        "What was agreed, signed; part of `uploadUrl`.",
    )
    .bytes(&Value::Object(types.collect::<Map<_, _>>()))
    .answer(Answer::new(200, "The image is live; the body is empty (UP-10, UP-15)."))
}

/// The schemas that are shared.
pub(super) fn schemas() -> Vec<Named<Value>> {
    let slot = Fields::new()
        .must("uploadUrl", schema::url(), "Takes the bytes, once (UP-04, UP-14, UP-17).")
        .must("token", schema::some_text(), "Authorises that (UP-05).")
        .must("url", schema::url(), "Where the image will be, for good (UP-06).")
        .must(
            "path",
            json!({ "type": "string", "pattern": r"^images/[0-9a-v]{26}\.(png|jpg|webp|gif)$" }),
            "Where it is kept (UP-07).",
        )
        .must("contentType", schema::word(TYPES), "As declared (UP-08).")
        .must("size", size(), "As declared (UP-08).")
        .must(
            "expiresIn",
            schema::only(limits::UPLOAD_SLOT_LIFETIME_SECONDS),
            "Seconds until `uploadUrl` runs out (UP-09, UP-18, LI-16).",
        );
    vec![("UploadSlot", slot.object())]
}

fn size() -> Value {
    schema::integer(&limits::UPLOAD_SIZE_BYTES)
}
