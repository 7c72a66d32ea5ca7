//! Uploads that announce another type than the declared one. That they are refused
//! is our choice: the specification asks the right type of the client only (S-43).

use super::pictures::{of_all_types, png};
use super::slot::Slot;
use crate::scenario::reference;
use crate::{Case, Failure, Scenario};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "uploads.content-type.other" ["UP-12"] other,
        "An upload that announces another type than the declared one is refused (S-43)" },
    reference! { "uploads.content-type.other-picture" ["UP-12"] other_picture,
        "An image of another type than the declared one is refused under its own type (S-43)" },
];

async fn other(case: Case) -> Result<(), Failure> {
    let bytes = png([0, 200, 0]);
    let slot = Slot::for_png(&case, bytes.len()).await?;
    for content_type in [
        "image/jpeg",
        "image/webp",
        "image/gif",
        "image/svg+xml",
        "text/html",
        "application/octet-stream",
    ] {
        let call = slot.authorized().body(content_type, &*bytes);
        slot.refuses(content_type, call, &bytes).await?;
    }
    Ok(())
}

async fn other_picture(case: Case) -> Result<(), Failure> {
    for picture in of_all_types() {
        let declared = if picture.content_type == "image/png" { "image/gif" } else { "image/png" };
        let slot = Slot::of(&case, &case.wire(), declared, picture.bytes.len()).await?;
        let what = format!("{} in a slot for {declared}", picture.content_type);
        let call = slot.authorized().body(picture.content_type, &*picture.bytes);
        slot.refuses(&what, call, &picture.bytes).await?;
    }
    Ok(())
}
