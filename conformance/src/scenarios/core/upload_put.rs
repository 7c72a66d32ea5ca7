//! The bytes on their way to the storage: sent as they have to be, of another size than the
//! declared one, and more than once. A storage may hang up while too many bytes are on their way
//! (S-43).

use super::pictures::{PNG_BYTES, of_all_types, png, png_of_size};
use super::uploads::Slot;
use crate::scenarios::core::auth::main_bearer;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    core! { "uploads.put.answer" ["UP-10", "UP-11", "UP-12"] answer,
        "The PUT of the bytes with token and type is answered 200 with an empty body" },
    core! { "uploads.put.token" ["UP-11"] token,
        "Without the token of its slot an upload is refused, and nothing of it is kept" },
    core! { "uploads.put.largest" ["LI-14", "UP-10", "UP-15"] largest,
        "An image of 10485760 bytes is taken and shown whole" },
    core! { "uploads.put.side-by-side" ["UP-10", "UP-15"] side_by_side,
        "Uploads to several slots at once do not get in each other's way" },
    core! { "uploads.size.larger" ["UP-13"] larger,
        "A body that is, or without a length turns out, larger than declared is refused" },
    core! { "uploads.size.smaller" ["UP-13"] smaller,
        "A body that is, or turns out, smaller than declared is refused, an empty one too" },
    core! { "uploads.size.broken-off" ["UP-13"] broken_off,
        "Nothing is kept of a body that breaks off on its way" },
    core! { "uploads.once.second" ["UP-14"] second,
        "A second upload to a slot is refused, and the image is still the first one" },
    core! { "uploads.once.race" ["UP-14"] race,
        "Of uploads to a slot at once, of which one may overtake another, one is taken and shown" },
];

async fn answer(case: Case) -> Result {
    for (content_type, bytes) in of_all_types() {
        let slot = Slot::of(&case, content_type, bytes.len()).await?;
        let reply = slot.put(&bytes).send().await?;
        let got = format!("{} bytes", reply.body().len());
        reply.has_status(200, content_type)?.ensure(reply.body().is_empty(), "no body", got)?;
    }
    Ok(())
}

async fn token(case: Case) -> Result {
    let bytes = png([0, 0, 200]);
    let [slot, other] =
        [Slot::for_png(&case, bytes.len()).await?, Slot::for_png(&case, bytes.len()).await?];
    let bearer = |token: &str| Some(format!("Bearer {token}"));
    let key = slot.is_of_target(&slot.upload_url).then(|| main_bearer(&case));
    for (what, value) in [
        ("no token", None),
        ("the token of another slot", bearer(&other.token)),
        ("half the token", bearer(&slot.token[..slot.token.len().div_ceil(2)])),
        ("a lengthened token", bearer(&format!("{}A", slot.token))),
        ("no scheme", Some(slot.token.clone())),
        ("the API key", key.or_else(|| bearer("none"))),
    ] {
        let call = value.map_or(slot.bare(), |value| slot.bare().header("authorization", value));
        slot.refuses(what, call.body(&slot.content_type, &*bytes), &bytes).await?;
    }
    Ok(())
}

async fn largest(case: Case) -> Result {
    let bytes = png_of_size([9, 9, 9], 10_485_760);
    Slot::used(&case, "image/png", &bytes).await?.is_live().await.map(drop)
}

async fn side_by_side(case: Case) -> Result {
    let pictures: Vec<_> = (0..12).map(|number| png_of_size([number, 0, 255], 3_000)).collect();
    let case = &case;
    let slots = try_join_all(pictures.iter().map(|bytes| Slot::for_png(case, bytes.len()))).await?;
    let uploads = slots.iter().zip(&pictures).map(|(slot, bytes)| async move {
        slot.upload(bytes).await?;
        slot.is_live().await
    });
    try_join_all(uploads).await.map(drop)
}

/// Refused by a response, or by the end of the connection.
async fn refused_or_hung_up(call: Call, what: &str) -> Result {
    match call.send().await {
        Ok(reply) => reply.is_client_error(what).map(drop),
        Err(failure) if failure.verdict == Verdict::Error => Ok(()),
        Err(failure) => Err(failure),
    }
}

async fn larger(case: Case) -> Result {
    type Put = fn(&Slot, &[u8]) -> Call;
    let (whole, in_pieces): (Put, Put) = (Slot::put, Slot::put_in_pieces);
    // How it is sent, the declared size, and the size that is sent.
    for (put, declared, sent) in [
        (whole, 1, PNG_BYTES),
        (whole, 99, 100),
        (whole, 100, 200),
        (whole, 100, 1_000_000),
        (in_pieces, 99, 100),
        (in_pieces, 100, 1_000_000),
    ] {
        let slot = Slot::for_png(&case, declared).await?;
        let bytes = png_of_size([1, 1, 1], sent);
        let what = format!("{sent} bytes where {declared} were declared");
        refused_or_hung_up(put(&slot, &bytes), &what).await?;
        slot.hides(&bytes).await?;
    }
    Ok(())
}

async fn smaller(case: Case) -> Result {
    for declared in [PNG_BYTES + 1, 1_000_000] {
        let slot = Slot::for_png(&case, declared).await?;
        for bytes in [png([2, 2, 2]), Vec::new()] {
            let what = format!("{} bytes where {declared} were declared", bytes.len());
            slot.refuses(&what, slot.put(&bytes), &bytes).await?;
        }
    }
    let bytes = png([4, 4, 4]);
    let slot = Slot::for_png(&case, bytes.len() + 1).await?;
    slot.refuses("a byte too few", slot.put_in_pieces(&bytes), &bytes).await
}

async fn broken_off(case: Case) -> Result {
    let bytes = png_of_size([5, 5, 5], 100_000);
    let slot = Slot::for_png(&case, bytes.len()).await?;
    let half = &bytes[..bytes.len() / 2];
    let call = slot.put_in_pieces(half).header("content-length", bytes.len().to_string());
    refused_or_hung_up(call, "half of what the header said").await?;
    slot.hides(half).await?;
    // By the time that another upload is live, the storage has seen the end.
    Slot::used(&case, "image/png", &bytes).await?.is_live().await?;
    slot.hides(half).await
}

async fn second(case: Case) -> Result {
    let (first, other) = (png([1, 0, 0]), png([0, 1, 0]));
    let slot = Slot::used(&case, "image/png", &first).await?;
    for (what, bytes) in [("the same bytes again", &first), ("other bytes", &other)] {
        slot.put(bytes).send().await?.is_client_error(what)?;
    }
    slot.shows(&first, &[&other]).await
}

async fn race(case: Case) -> Result {
    for round in 0..5 {
        let rivals: Vec<_> = (0..6).map(|n| png_of_size([round, n, 0], 100_000)).collect();
        let slot = Slot::for_png(&case, 100_000).await?;
        let answers = join_all(rivals.iter().map(|bytes| slot.put(bytes).send())).await;
        one_is_taken(&slot, &rivals, &answers).await?;
    }
    let rivals = [[1, 1, 0], [0, 1, 1]].map(|colour| png_of_size(colour, 50_000));
    let slot = Slot::for_png(&case, 50_000).await?;
    let (slow, halfway) = slot.put_with_a_rest(&rivals[0]);
    let quick = async {
        let resting = halfway.await.ok();
        let answer = slot.put(&rivals[1]).send().await;
        drop(resting);
        answer
    };
    let answers = tokio::join!(slow.send(), quick);
    one_is_taken(&slot, &rivals, &<[_; 2]>::from(answers)).await
}

/// One of the uploads was a success, and its image is shown. The others may have been hung up on.
async fn one_is_taken(slot: &Slot, rivals: &[Vec<u8>], answers: &[Result<ApiResponse>]) -> Result {
    let (mut taken, mut others) = (Vec::new(), Vec::new());
    for (bytes, answer) in rivals.iter().zip(answers) {
        let list = if answer.as_ref().is_ok_and(ApiResponse::is_success) {
            &mut taken
        } else {
            &mut others
        };
        list.push(&**bytes);
    }
    let [taken] = taken[..] else {
        let replies = answers.iter().flatten();
        let statuses: Vec<_> = replies.map(ApiResponse::status_code).collect();
        return Err(Failure::failed(
            "exactly one success",
            format!("the statuses {}", json_text(&statuses)),
        ));
    };
    check::with_context("the upload that was taken", slot.shows(taken, &others).await)
}
