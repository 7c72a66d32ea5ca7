//! How an upload slot looks on the wire.

use promptarium::limits::UPLOAD_SLOT_LIFETIME_SECONDS;
use serde::Serialize;

use crate::blobs::upload_slot::HandedOut;

/// A slot (UP-04 to UP-09).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlotView<'a> {
    upload_url: &'a str,
    token: &'a str,
    url: &'a str,
    path: String,
    content_type: &'static str,
    size: u64,
    expires_in: u64,
}

impl<'a> SlotView<'a> {
    /// A slot as it is handed out.
    pub fn of(handed_out: &'a HandedOut) -> Self {
        let slot = &handed_out.slot;
        Self {
            upload_url: &handed_out.upload_url,
            token: &handed_out.token,
            url: &handed_out.url,
            path: slot.name.path(),
            content_type: slot.name.media().content_type(),
            size: slot.size,
            expires_in: UPLOAD_SLOT_LIFETIME_SECONDS,
        }
    }
}
