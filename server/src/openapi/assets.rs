//! `/assets`: stored files, for everybody who has the address (S-45).

use serde_json::{Value, json};

use super::Named;
use super::operation::{Answer, Operation};
use super::refusals::Refusal;
use super::schema;
use crate::domain::Media;

const TAG: &str = "Assets";

pub(super) fn operations() -> Vec<Named<Operation>> {
    vec![("getAsset", get()), ("headAsset", head())]
}

fn get() -> Operation {
    let part = with_bytes(described(Answer::new(206, "The part of the file that was asked for.")))
        .header(
            "Content-Range",
            &json!({ "type": "string", "pattern": r"^bytes \d+-\d+/\d+$" }),
            "Which part of how much it is.",
        );
    has_tag(Operation::new(
        TAG,
        "Fetch a file",
        "An image that was uploaded or an output of a generation. It needs no key and never \
         changes (UP-15, UP-16, UP-19, S-45).",
    ))
    .parameter(
        "header",
        "Range",
        false,
        &plain(),
        "One range of bytes, such as `bytes=0-99`. Anything else counts as not asked.",
    )
    .parameter(
        "header",
        "If-Range",
        false,
        &plain(),
        "The `ETag` of the file that the range is of; with any other the whole file comes.",
    )
    .refuses(Refusal::OutOfRange)
    .answer(with_bytes(described(Answer::new(200, "The file."))))
    .answer(part)
    .answer(not_modified())
}

fn head() -> Operation {
    has_tag(Operation::new(
        TAG,
        "Ask what a file is",
        "As the `GET`, without the bytes; a range is ignored (S-45).",
    ))
    .answer(described(Answer::new(200, "What the file is.")))
    .answer(not_modified())
}

fn has_tag(operation: Operation) -> Operation {
    operation.parameter(
        "header",
        "If-None-Match",
        false,
        &plain(),
        "Tags of files that the client has, or `*`.",
    )
}

fn not_modified() -> Answer {
    for_good(Answer::new(304, "The client has the file."))
}

fn with_bytes(answer: Answer) -> Answer {
    Media::ALL.iter().fold(answer, |answer, media| answer.bytes(media.content_type()))
}

/// The headers that say what the body is.
fn described(answer: Answer) -> Answer {
    for_good(answer)
        .header("Content-Length", &schema::count(), "How many bytes come, or would come.")
        .header("Accept-Ranges", &schema::only("bytes"), "Parts can be asked for.")
}

/// The headers that say how long it may be kept.
fn for_good(answer: Answer) -> Answer {
    answer
        .header("ETag", &json!({ "type": "string", "pattern": "^\".+\"$" }), "The file's tag.")
        .header(
            "Cache-Control",
            &schema::only("public, max-age=31536000, immutable"),
            "It may be kept for good.",
        )
        .header(
            "X-Content-Type-Options",
            &schema::only("nosniff"),
            "It is what its type says (S-44).",
        )
        .header("Access-Control-Allow-Origin", &schema::only("*"), "Any page may show it.")
}

fn plain() -> Value {
    json!({ "type": "string" })
}

/// The schemas that are shared.
pub(super) fn schemas() -> Vec<Named<Value>> {
    let endings = Media::ALL.map(Media::extension).join("|");
    let name = json!({ "type": "string", "pattern": format!(r"^[0-9a-v]{{26}}\.({endings})$") });
    vec![("AssetName", name)]
}
