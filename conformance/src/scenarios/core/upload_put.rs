//! The slot that an upload begins with; what holds for every field of its request is in `fields`.
//! The `PUT` of the bytes: as it has to be, of another size than the declared one, and more than
//! once; a storage may close the connection while it receives too many bytes (S-43). Then the image
//! at its address (S-45), also as the image of a prompt.

use url::Url;

use super::prompt_create::create_and_update;
use crate::scenarios::shared::prelude::*;

#[rustfmt::skip]
pub const ALL: &[Scenario] = &[
    scenario! { "uploads.slot.echo" ["UP-08"] echo,
        "contentType and size of the slot are those of the request" },
    scenario! { "uploads.slot.addresses" ["UP-04", "UP-05", "UP-06", "UP-07", "UP-17"] addresses,
        "uploadUrl and url are new web addresses in full, token fits a header, path is not empty" },
    scenario! { "uploads.put.answer" ["UP-10", "UP-11", "UP-12"] answer,
        "The PUT of the bytes with token and type is answered 200 with an empty body" },
    scenario! { "uploads.put.token" ["UP-11", "AU-05"] token,
        "Without the token of its slot an upload is refused and not kept, and no token is a key" },
    scenario! { "uploads.put.largest" ["LI-14", "UP-10", "UP-15"] largest,
        "An image of 10485760 bytes is accepted and shown in full" },
    scenario! { "uploads.put.side-by-side" ["UP-10", "UP-15"] side_by_side,
        "Uploads to several slots at once do not affect each other" },
    scenario! { "uploads.size.larger" ["UP-13"] larger,
        "A body that is, or without a length turns out, larger than declared is refused" },
    scenario! { "uploads.size.smaller" ["UP-13"] smaller,
        "A body that is, or turns out, smaller than declared is refused, an empty one too" },
    scenario! { "uploads.size.broken-off" ["UP-13"] broken_off,
        "Nothing is kept of a body that breaks off in the middle" },
    scenario! { "uploads.once.second" ["UP-14"] second,
        "A second upload to a slot is refused, and the image is still the first one" },
    scenario! { "uploads.once.race" ["UP-14"] race,
        "Of uploads to a slot at once, one of them slow, exactly one is accepted and shown" },
    scenario! { "uploads.asset.live" ["UP-15"] live,
        "After the upload the image is at url" },
    scenario! { "uploads.asset.stays" ["UP-19"] stays,
        "The image is at url however often it is read, also when its prompt has another or is deleted" },
    scenario! { "uploads.asset.not-at-upload-url" ["UP-17"] not_at_upload_url,
        "uploadUrl gives an authentication error in place of the image, before and after the upload" },
    scenario! { "uploads.images.image-url" ["UP-16"]
        |case| async move {
            taken(&case, json!({ "imageUrl": uploaded(&case).await?.url })).await?;
            taken(&case, json!({ "referenceMediaUrls": uploaded_urls(&case, 2).await? })).await
        },
        "A create and an update take url as imageUrl and in referenceMediaUrls" },
];

async fn echo(case: Case) -> Result {
    for content_type in TYPES {
        for size in [100, 12_345, 10_485_760] {
            let reply = ask(&case, content_type, size).await?;
            reply.equals("/data/contentType", content_type)?.equals("/data/size", size)?;
        }
    }
    Ok(())
}

async fn addresses(case: Case) -> Result {
    let mut seen = HashSet::new();
    for _ in 0..4 {
        let reply = ask(&case, "image/png", 100).await?;
        let token = reply.string("/data/token")?;
        let fits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        let got = format!("another text, of {} bytes", token.len());
        reply.ensure(fits, "a token of visible ASCII characters", got)?;
        reply.ensure(!reply.string("/data/path")?.is_empty(), "a path", "an empty string")?;
        for place in ["/data/uploadUrl", "/data/url"] {
            let text = reply.string(place)?;
            let is_web = |url: Url| matches!(url.scheme(), "http" | "https") && url.has_host();
            // A signed address must not show in a report.
            let got = format!("another text, of {} characters", text.len());
            let is_web = Url::parse(text).is_ok_and(is_web);
            reply.ensure(is_web, format!("a web address at {place}"), got)?;
            let new = seen.insert(text.to_owned());
            reply.ensure(new, format!("a new address at {place}"), "one that was there before")?;
        }
    }
    Ok(())
}

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
    let key = form("the token of a slot", format!("Bearer {}", slot.token));
    vaults_unauthorized(&case, key).await.map(drop)
}

async fn largest(case: Case) -> Result {
    let bytes = png_of_size([9, 9, 9], 10_485_760);
    Slot::used(&case, "image/png", &bytes).await?.shows_whole(&bytes).await
}

async fn side_by_side(case: Case) -> Result {
    let pictures: Vec<_> = (0..12).map(|number| png_of_size([number, 0, 255], 3_000)).collect();
    let case = &case;
    let slots = try_join_all(pictures.iter().map(|bytes| Slot::for_png(case, bytes.len()))).await?;
    let uploads = slots.iter().zip(&pictures).map(|(slot, bytes)| async move {
        slot.upload(bytes).await?;
        slot.is_live().await
    });
    try_join_all(uploads).await?;
    for (number, slot) in slots.iter().enumerate() {
        let mut others: Vec<_> = pictures.iter().map(Vec::as_slice).collect();
        let own = others.swap_remove(number);
        slot.shows(own, &others).await?;
    }
    Ok(())
}

/// Refused by a response, or by the end of the connection without one.
async fn refused_or_closed(call: Call, what: &str) -> Result {
    match call.send().await {
        Ok(reply) => reply.is_client_error(what).map(drop),
        Err(failure) if failure.verdict == Verdict::Error => Ok(()),
        Err(failure) => Err(failure),
    }
}

async fn larger(case: Case) -> Result {
    type Put = fn(&Slot, &[u8]) -> Call;
    let (whole, in_pieces): (Put, Put) = (Slot::put, Slot::put_in_pieces);
    // The way of sending, the declared size, the sent size.
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
        refused_or_closed(put(&slot, &bytes), &what).await?;
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
    refused_or_closed(call, "half of what the header said").await?;
    slot.hides(half).await?;
    // Once another upload is live, the storage has noticed the end of this one.
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
    let answers = slot.put_with_pause(&rivals[0], slot.put(&rivals[1]).send()).await;
    one_is_taken(&slot, &rivals, &<[_; 2]>::from(answers)).await
}

/// One of the uploads was a success, and its image is shown. The others may have no response.
async fn one_is_taken(slot: &Slot, rivals: &[Vec<u8>], answers: &[Result<ApiResponse>]) -> Result {
    let is_success = |answer: &Result<_>| answer.as_ref().is_ok_and(ApiResponse::is_success);
    let rivals = rivals.iter().map(Vec::as_slice).zip(answers);
    let (taken, others): (Vec<_>, Vec<_>) = rivals.partition(|(_, answer)| is_success(answer));
    let [(taken, _)] = taken[..] else {
        let statuses: Vec<_> = answers.iter().flatten().map(ApiResponse::status_code).collect();
        let got = format!("the statuses {}", json_text(&statuses));
        return Err(Failure::failed("exactly one success", got));
    };
    let others: Vec<_> = others.into_iter().map(|(bytes, _)| bytes).collect();
    check::with_context("the upload that was taken", slot.shows(taken, &others).await)
}

pub const COLOUR: [u8; 3] = [10, 20, 30];

pub async fn uploaded(case: &Case) -> Result<Slot> {
    Slot::used(case, "image/png", &png(COLOUR)).await
}

async fn live(case: Case) -> Result {
    for (content_type, bytes) in of_all_types() {
        let slot = Slot::used(&case, content_type, &bytes).await?;
        check::with_context(content_type, slot.shows_whole(&bytes).await)?;
    }
    Ok(())
}

async fn stays(case: Case) -> Result {
    let slot = uploaded(&case).await?;
    for round in 1..=10 {
        check::with_context(format!("reading {round}"), slot.is_live().await)?;
    }
    let fields = json!({ "imageUrl": slot.url, "referenceMediaUrls": [slot.url] });
    let another = json!({ "imageUrl": "https://example.com/a.png", "referenceMediaUrls": [] });
    case.prompt_with(fields.clone()).await?.0.update(another).await?.success()?;
    check::with_context("out of use", slot.is_live().await)?;
    case.prompt_with(fields).await?.0.delete().await?.status(200)?;
    slot.is_live().await.map(drop)
}

async fn not_at_upload_url(case: Case) -> Result {
    let bytes = png(COLOUR);
    let slot = Slot::for_png(&case, bytes.len()).await?;
    for upload in [true, false] {
        let reply = case.storage(Method::GET, &slot.upload_url).send().await?;
        let refused = matches!(reply.status_code(), 401 | 403);
        reply.status_is(refused, "an authentication error, 401 or 403, for GET uploadUrl")?;
        if upload {
            slot.upload(&bytes).await?;
        }
    }
    Ok(())
}

pub async fn taken(case: &Case, fields: Value) -> Result {
    let [create, update] = create_and_update(case, fields).await?;
    create.status(201)?;
    update.status(200).map(drop)
}
