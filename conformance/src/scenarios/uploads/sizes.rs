//! Uploads of another size than the declared one. A storage may hang up while
//! too many bytes are on their way (S-43).

use bytes::Bytes;
use futures::stream;

use super::pictures::{PNG_BYTES, png, png_of_size};
use super::slot::Slot;
use crate::scenario::core;
use crate::wire::Call;
use crate::{Case, Failure, Scenario, Verdict};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "uploads.size.larger" ["UP-13"] larger,
        "A body that is larger than declared is refused" },
    core! { "uploads.size.smaller" ["UP-13"] smaller,
        "A body that is smaller than declared is refused, an empty one too" },
    core! { "uploads.size.larger-in-pieces" ["UP-13"] larger_in_pieces,
        "A body without a length that turns out larger than declared is refused" },
    core! { "uploads.size.smaller-in-pieces" ["UP-13"] smaller_in_pieces,
        "A body without a length that turns out smaller than declared is refused" },
    core! { "uploads.size.broken-off" ["UP-13"] broken_off,
        "Nothing is kept of a body that breaks off on its way" },
];

async fn larger(case: Case) -> Result<(), Failure> {
    for (declared, sent) in [(1, PNG_BYTES), (99, 100), (100, 200), (100, 1_000_000)] {
        let slot = Slot::for_png(&case, declared).await?;
        let bytes = png_of_size([1, 1, 1], sent);
        let what = format!("{sent} bytes where {declared} were declared");
        too_many(&slot, &what, slot.put(&bytes), &bytes).await?;
    }
    Ok(())
}

async fn smaller(case: Case) -> Result<(), Failure> {
    for declared in [PNG_BYTES + 1, 1_000_000] {
        let slot = Slot::for_png(&case, declared).await?;
        for bytes in [png([2, 2, 2]), Vec::new()] {
            let what = format!("{} bytes where {declared} were declared", bytes.len());
            slot.refuses(&what, slot.put(&bytes), &bytes).await?;
        }
    }
    Ok(())
}

async fn larger_in_pieces(case: Case) -> Result<(), Failure> {
    for (declared, sent) in [(99, 100), (100, 1_000_000)] {
        let slot = Slot::for_png(&case, declared).await?;
        let bytes = png_of_size([3, 3, 3], sent);
        let what = format!("{sent} bytes where {declared} were declared");
        too_many(&slot, &what, in_pieces(&slot, &bytes), &bytes).await?;
    }
    Ok(())
}

async fn smaller_in_pieces(case: Case) -> Result<(), Failure> {
    let bytes = png([4, 4, 4]);
    let slot = Slot::for_png(&case, bytes.len() + 1).await?;
    slot.refuses("a byte too few", in_pieces(&slot, &bytes), &bytes).await
}

async fn broken_off(case: Case) -> Result<(), Failure> {
    let bytes = png_of_size([5, 5, 5], 100_000);
    let slot = Slot::for_png(&case, bytes.len()).await?;
    let half = &bytes[..bytes.len() / 2];
    let call = in_pieces(&slot, half).header("content-length", bytes.len().to_string());
    if let Some(reply) = unless_hung_up(call).await? {
        reply.is_client_error("half of what the header said")?;
    }
    slot.hides(half).await?;
    // By the time that another upload is live, the storage has seen the end.
    Slot::used(&case, "image/png", &bytes).await?.is_live().await?;
    slot.hides(half).await
}

fn in_pieces(slot: &Slot, bytes: &[u8]) -> Call {
    let pieces: Vec<_> = bytes.chunks(16 << 10).map(Bytes::copy_from_slice).collect();
    slot.authorized().header("content-type", &slot.content_type).pieces(stream::iter(pieces))
}

/// Refused in words or by hanging up, and nothing of it is to be seen.
async fn too_many(slot: &Slot, what: &str, call: Call, bytes: &[u8]) -> Result<(), Failure> {
    if let Some(reply) = unless_hung_up(call).await? {
        reply.is_client_error(what)?;
    }
    slot.hides(bytes).await
}

async fn unless_hung_up(call: Call) -> Result<Option<crate::wire::Reply>, Failure> {
    match call.send().await {
        Ok(reply) => Ok(Some(reply)),
        Err(failure) if failure.verdict == Verdict::Error => Ok(None),
        Err(failure) => Err(failure),
    }
}
