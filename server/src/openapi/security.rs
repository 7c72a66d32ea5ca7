//! What a request has to bring, as security schemes.

use promptarium::Scope;
use serde_json::{Value, json};

use crate::http::auth::Access;

const API_KEY: &str = "apiKey";
const UPLOAD_TOKEN: &str = "uploadToken";
const SESSION: &str = "browserSession";

/// What a route needs. The scope stands as the role that OpenAPI allows here.
pub(super) fn of(access: Access) -> Value {
    match access {
        Access::None => json!([]),
        Access::Key => json!([{ API_KEY: [] }]),
        Access::Write => json!([{ API_KEY: [Scope::PromptsWrite.as_str()] }]),
        Access::Session => json!([{ SESSION: [] }]),
        Access::UploadToken => json!([{ UPLOAD_TOKEN: [] }]),
    }
}

/// The schemes.
pub(super) fn schemes() -> Value {
    json!({
        API_KEY: {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "<vendor>_live_<public_id>_<secret>",
            "description": "A whole API key, its prefix included (AU-01, KE-01, KE-02). Where a \
                scope stands beside it, a key without that scope is answered 401 (AU-07 to AU-10, \
                S-51).",
        },
        UPLOAD_TOKEN: {
            "type": "http",
            "scheme": "bearer",
            "description": "The `token` of the upload slot; no API key does (UP-05, UP-11).",
        },
        SESSION: {
            "type": "apiKey",
            "in": "cookie",
            "name": "session",
            "description": "A browser session; no API key does (KE-05). This server has no sign-in \
                yet, so that nobody has one.",
        },
    })
}
