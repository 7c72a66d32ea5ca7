//! The refusals that operations share, each with its status, its body and the
//! headers that go with it. Which failure has which status is for `error` to decide.

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::schema::{self, of, with};
use crate::http::body::{BODY_BYTES_MAX, BODY_SECONDS_MAX};

/// A way in which a request gets no success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Refusal {
    Invalid,
    Unauthorized,
    NotFound,
    WrongMethod,
    TooSlow,
    TooLarge,
    WrongType,
    OutOfRange,
    Internal,
    Provider,
    Unavailable,
}

impl Refusal {
    const ALL: [Self; 11] = [
        Self::Invalid,
        Self::Unauthorized,
        Self::NotFound,
        Self::WrongMethod,
        Self::TooSlow,
        Self::TooLarge,
        Self::WrongType,
        Self::OutOfRange,
        Self::Internal,
        Self::Provider,
        Self::Unavailable,
    ];

    /// Those of whoever reads a body.
    pub(super) const OF_BODIES: [Self; 4] =
        [Self::Invalid, Self::TooSlow, Self::TooLarge, Self::WrongType];

    pub(super) const fn status(self) -> StatusCode {
        match self {
            Self::Invalid => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::WrongType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::OutOfRange => StatusCode::RANGE_NOT_SATISFIABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Provider => StatusCode::BAD_GATEWAY,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Invalid => "Invalid",
            Self::Unauthorized => "Unauthorized",
            Self::NotFound => "NotFound",
            Self::WrongMethod => "WrongMethod",
            Self::TooSlow => "TooSlow",
            Self::TooLarge => "TooLarge",
            Self::WrongType => "WrongType",
            Self::OutOfRange => "OutOfRange",
            Self::Internal => "Internal",
            Self::Provider => "Provider",
            Self::Unavailable => "Unavailable",
        }
    }

    fn means(self) -> String {
        match self {
            Self::Invalid => "The request does not have the form that is asked for, or a value in \
                it cannot be used. `details` maps each failing field to what is wrong with it; \
                `body` stands for the body as a whole (ER-03 to ER-06, S-57, S-60, S-67)."
                .to_owned(),
            Self::Unauthorized => {
                "What authorises the request is missing, malformed, not valid or \
                not enough (AU-02 to AU-10, ER-07, UP-11, S-53)."
                    .to_owned()
            }
            Self::NotFound => {
                "The path names nothing, something that was deleted, or something of \
                another account (ER-08 to ER-10, S-31, S-35, S-58)."
                    .to_owned()
            }
            Self::WrongMethod => "The request had another method than those that this path takes; \
                `Allow` names them (S-59, S-61). An operation never gives this answer to its own \
                method."
                .to_owned(),
            Self::TooSlow => format!(
                "The body did not come in time: within {BODY_SECONDS_MAX} seconds, or more for \
                 the bytes of a large upload (S-59)."
            ),
            Self::TooLarge => format!(
                "The body has more than {BODY_BYTES_MAX} bytes, or, in an upload, more than were \
                 declared (UP-13, S-43, S-59)."
            ),
            Self::WrongType => {
                "The body is not announced by one header `Content-Type` of the type \
                that is asked for (EN-02, UP-12, S-43, S-67)."
                    .to_owned()
            }
            Self::OutOfRange => "No byte of the range is in the file (S-45).".to_owned(),
            Self::Internal => "Something went wrong in the server (S-59).".to_owned(),
            Self::Provider => {
                "The provider refused the generation, with its reason in `error`, or \
                it is not known whether the provider took it (S-38, S-40, S-59)."
                    .to_owned()
            }
            Self::Unavailable => {
                "Something that is needed cannot be reached now, or the server is \
                stopping (S-59)."
                    .to_owned()
            }
        }
    }

    /// The response that operations refer to.
    pub(super) fn reference(self) -> Value {
        json!({ "$ref": format!("#/components/responses/{}", self.name()) })
    }

    /// The same to a HEAD: all but the body.
    pub(super) fn head(self) -> Value {
        json!({ "description": self.means(), "headers": self.headers() })
    }

    fn whole(self) -> Value {
        let (schema, details) = match self {
            Self::Invalid => ("InvalidRequest", json!({ "title": "is required" })),
            _ => ("Failure", json!({})),
        };
        let text = match self {
            Self::Invalid => "title is required",
            _ => "a sentence that says what was wrong",
        };
        let example = json!({ "data": null, "error": text, "details": details });
        let content = json!({ "application/json": { "schema": of(schema), "example": example } });
        with(self.head(), json!({ "content": content }))
    }

    fn headers(self) -> Map<String, Value> {
        let mut headers = request_id_header();
        let more = match self {
            Self::Unauthorized => Some(("WWW-Authenticate", "WwwAuthenticate")),
            Self::WrongMethod => Some(("Allow", "Allow")),
            Self::OutOfRange => Some(("Content-Range", "ContentRange")),
            Self::Unavailable => Some(("Retry-After", "RetryAfter")),
            _ => None,
        };
        headers.extend(more.map(|(name, shared)| (name.to_owned(), header(shared))));
        headers
    }
}

/// The responses, by name.
pub(super) fn responses() -> Value {
    Refusal::ALL.iter().map(|refusal| (refusal.name().to_owned(), refusal.whole())).collect()
}

/// What every answer carries (S-69).
pub(super) fn request_id_header() -> Map<String, Value> {
    Map::from_iter([("x-request-id".to_owned(), header("RequestId"))])
}

fn header(shared: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{shared}") })
}

/// The headers, by name.
pub(super) fn headers() -> Value {
    let header = |schema: Value, means: &str| json!({ "required": true, "description": means, "schema": schema });
    json!({
        "RequestId": header(
            json!({ "type": "string", "pattern": "^[A-Za-z0-9._-]{1,128}$" }),
            "The name of this request in the server's log (S-69).",
        ),
        "WwwAuthenticate": header(
            schema::only("Bearer"),
            "Goes with every 401 (S-52).",
        ),
        "Allow": header(
            json!({ "type": "string", "pattern": "^[A-Z]+(, [A-Z]+)*$" }),
            "The methods that the path takes (S-61).",
        ),
        "ContentRange": header(
            json!({ "type": "string", "pattern": r"^bytes \*/\d+$" }),
            "How many bytes the file has.",
        ),
        "RetryAfter": header(
            json!({ "type": "integer", "minimum": 1 }),
            "Seconds after which another try makes sense (S-59).",
        ),
    })
}

/// The bodies of refusals (ER-01, ER-02).
pub(super) fn schemas() -> [(&'static str, Value); 2] {
    let failure = |details: Value, means: &str| {
        schema::Fields::new()
            .must("data", json!({ "type": "null" }), "EN-06")
            .must(
                "error",
                json!({ "type": "string", "minLength": 1 }),
                "What was wrong, for a person (ER-01).",
            )
            .must("details", details, means)
            .object()
    };
    [
        (
            "InvalidRequest",
            failure(
                json!({ "type": "object", "additionalProperties": { "type": "string" } }),
                "Each failing field with what is wrong with it (ER-02, ER-03, S-60).",
            ),
        ),
        (
            "Failure",
            failure(
                json!({ "type": "object", "maxProperties": 0 }),
                "Empty, since no field is at fault (ER-02, ER-03).",
            ),
        ),
    ]
}
