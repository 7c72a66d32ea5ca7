//! Permissions of API keys.

use crate::model::open_enum::open_enum;

open_enum! {
    /// One permission of an API key.
    Scope {
        /// Permits all endpoints that write.
        PromptsWrite = "prompts:write",
    }
}
