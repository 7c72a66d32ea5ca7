//! The bytes on their way to the storage, sent as they have to be.

use bytes::Bytes;
use futures::future::try_join_all;
use futures::stream;

use super::pictures::{of_all_types, png, png_of_size};
use super::slot::Slot;
use crate::scenario::{core, reference};
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "uploads.put.answer" ["UP-10", "UP-11", "UP-12"] answer,
        "The PUT of the bytes with token and type, and without the API key, is answered 200" },
    core! { "uploads.put.empty-body" ["UP-10"] empty_body,
        "The answer has an empty body" },
    core! { "uploads.put.largest" ["LI-14", "UP-10", "UP-15"] largest,
        "An image of 10485760 bytes is taken and shown whole" },
    core! { "uploads.put.side-by-side" ["UP-10", "UP-15"] side_by_side,
        "Uploads to several slots at once do not get in each other's way" },
    reference! { "uploads.put.any-bytes" ["UP-10"] any_bytes,
        "Bytes that are no image of the declared type are taken as they are (S-44)" },
    reference! { "uploads.put.without-length" ["UP-10"] without_length,
        "The bytes may come in pieces, without a length in the header" },
    reference! { "uploads.put.letter-case" ["UP-12"] letter_case,
        "The type in the header may be in any case" },
];

async fn answer(case: Case) -> Result<(), Failure> {
    for picture in of_all_types() {
        let slot = Slot::of(&case, &case.wire(), picture.content_type, picture.bytes.len()).await?;
        slot.put(&picture.bytes).send().await?.accepted(200, picture.content_type)?;
    }
    Ok(())
}

async fn empty_body(case: Case) -> Result<(), Failure> {
    let bytes = png([1, 2, 3]);
    let reply = Slot::for_png(&case, bytes.len()).await?.upload(&bytes).await?;
    let got = format!("{} bytes", reply.body().len());
    reply.ensure(reply.body().is_empty(), "an empty body", got).map(drop)
}

async fn largest(case: Case) -> Result<(), Failure> {
    let bytes = png_of_size([9, 9, 9], 10_485_760);
    let slot = Slot::for_png(&case, bytes.len()).await?;
    slot.upload(&bytes).await?;
    slot.is_live().await.map(drop)
}

async fn side_by_side(case: Case) -> Result<(), Failure> {
    let case = &case;
    try_join_all((0..12_u8).map(|number| async move {
        let bytes = png([number, 0, 255]);
        let slot = Slot::for_png(case, bytes.len()).await?;
        slot.upload(&bytes).await?;
        slot.is_live().await.map(drop)
    }))
    .await
    .map(drop)
}

async fn any_bytes(case: Case) -> Result<(), Failure> {
    for (content_type, bytes) in [
        ("image/png", &b"x"[..]),
        ("image/png", b"<html><script>alert(1)</script></html>"),
        ("image/gif", b"\0\0\0\0"),
        ("image/jpeg", &png([1, 2, 3])),
    ] {
        let slot = Slot::used(&case, content_type, bytes).await?;
        check::with_context(content_type, slot.shows_at_once(bytes).await)?;
    }
    Ok(())
}

async fn without_length(case: Case) -> Result<(), Failure> {
    let bytes = png_of_size([7, 7, 7], 200_000);
    let slot = Slot::for_png(&case, bytes.len()).await?;
    let pieces: Vec<_> = bytes.chunks(9_999).map(Bytes::copy_from_slice).collect();
    let call = slot.authorized().header("content-type", "image/png").pieces(stream::iter(pieces));
    call.send().await?.status_in(200..=299)?;
    slot.is_live().await.map(drop)
}

async fn letter_case(case: Case) -> Result<(), Failure> {
    let bytes = png([1, 2, 3]);
    for content_type in ["IMAGE/PNG", "image/Png"] {
        let slot = Slot::for_png(&case, bytes.len()).await?;
        let reply = slot.authorized().body(content_type, &*bytes).send().await?;
        check::with_context(content_type, reply.status_in(200..=299))?;
    }
    Ok(())
}
