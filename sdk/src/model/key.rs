//! What an API key may do.

use crate::model::open_enum::open_enum;

open_enum! {
    /// One permission of an API key.
    Scope {
        /// May call every endpoint that writes.
        PromptsWrite = "prompts:write",
    }
}
