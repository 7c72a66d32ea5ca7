//! Where a body ends: lengths that cannot be, twice, or beside chunks (RFC 9112, section 6.3);
//! chunks, well formed and not (sections 6.1 and 7.1); and bodies of another type.

use super::raw::Expect::{Bodyless, Ignored, NamesBody, Refused, Status};
use super::raw::{
    Fixture, Sample, answer, answered, chunked, each, nothing_follows, sample, succeeded,
    unless_busy,
};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    http! { "raw.length.faulty" ["HT-01"] [HttpOne] |case| each(case, Refused, faulty_lengths),
        "A request with two lengths that differ, or one that is no number, is not carried out" },
    http! { "raw.length.beside-chunks" ["HT-02"]
        [HttpOne] |case| each(case, Refused, beside_chunks),
        "What a length hides behind the chunks of a body is no second request" },
    http! { "raw.length.chunks-behind" ["HT-02"] [HttpOne] chunks_behind,
        "What chunks hide behind a length is carried out once at most" },
    http! { "raw.chunks.bad-size" ["HT-06"] [HttpOne] |case| each(case, Refused, faulty_chunks),
        "A chunk whose size is no number, too large, or not its length is not carried out" },
    http! { "raw.chunks.other-coding" ["HT-05"] [HttpOne] |case| each(case, Refused, other_codings),
        "A body under a coding that does not end in chunks is not carried out" },
    http! { "raw.chunks.well-formed" ["HT-03"] [HttpOne] |case| unless_busy(case, taken_whole),
        "A body in chunks with extensions and trailers is taken whole, or a length demanded" },
    http! { "raw.body.too-short" ["HT-04"] [HttpOne] too_short,
        "A request whose body breaks off before its length or its last chunk is not carried out" },
    http! { "raw.body.rubbish-behind" ["HT-06"] [HttpOne] rubbish_behind,
        "What follows a body without being a request is not carried out and spoils nothing" },
    http! { "raw.body.on-get-and-delete" ["HT-22"] [HttpOne] on_get_and_delete,
        "A body on GET and DELETE is ignored or refused, and is no second request" },
    http! { "raw.body.two-types" ["HT-23"] [HttpOne] |case| two_types(case, None),
        "A request with two content types is carried out whole or not at all" },
    http! { "raw.body.other-types" ["HT-24"] other_types,
        "A body of another type or of none is carried out whole or refused" },
];

pub(crate) const CHUNKED: &str = "Transfer-Encoding: chunked";

pub(crate) fn length(bytes: usize) -> String {
    format!("Content-Length: {bytes}")
}

pub(crate) fn faulty_lengths(fixture: &Fixture) -> Vec<Sample> {
    let body = fixture.body();
    let right = body.len();
    let forms = format!(
        "+{right};-{right};0x{right:x};{right}.0;{right} {right};{right}, {};{right}x;x;\
         99999999999999999999999;18446744073709551616",
        right + 1
    );
    let forms = forms.split(';').map(|value| {
        let request = fixture.typed().line(format!("Content-Length: {value}"));
        sample(format!("the length {value}"), request.body(&body))
    });
    let pairs = [(right, right - 1), (right - 1, right), (right, right + 100)];
    let pairs = pairs.map(|(first, second)| {
        let request = fixture.typed().line(length(first)).line(length(second));
        sample(format!("the lengths {first} and {second}"), request.body(&body))
    });
    forms.chain(pairs).collect()
}

fn beside_chunks(fixture: &Fixture) -> Vec<Sample> {
    let body = [b"0\r\n\r\n".to_vec(), fixture.whole_post()].concat();
    let length = length(body.len());
    let row = |[first, second]: [&str; 2]| {
        let request = fixture.typed().line(first).line(second);
        sample(format!("{first} before {second}"), request.body(&body))
    };
    [[CHUNKED, &length], [&length, CHUNKED]].map(row).into()
}

async fn chunks_behind(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let request = fixture.typed().line(length(4)).line(CHUNKED);
    let first = request.body(chunked(&fixture.body()));
    let mut socket = fixture.send([first, fixture.whole_post()].concat()).await?;
    let received = answered(socket.next().await?)?;
    nothing_follows(socket).await?;
    fixture.has_created(usize::from(succeeded(&received))).await
}

/// A request with this chunked body. Its beginning is what a failure shows.
pub(crate) fn in_chunks(fixture: &Fixture, body: &str) -> Sample {
    let what = format!("the chunks {}", body.get(..24).unwrap_or(body).escape_default());
    sample(what, fixture.typed().line(CHUNKED).body(body))
}

pub(crate) fn faulty_chunks(fixture: &Fixture) -> Vec<Sample> {
    let body = fixture.body();
    let length = body.len();
    let sizes = format!(
        "zz;-1;;\u{a0};10000000000000000000000000000001a;1 a;g;0x1a;0x{length:x};+{length:x};\
         1{length:016x};{:x};{:x}",
        length - 3,
        length + 1
    );
    let row = |size| in_chunks(fixture, &format!("{size}\r\n{body}\r\n0\r\n\r\n"));
    sizes.split(';').map(row).collect()
}

fn no_last_chunk(fixture: &Fixture) -> Vec<Sample> {
    let whole = chunked(&fixture.body());
    let row = |missing| {
        let part = &whole[..whole.len() - missing];
        sample(format!("{missing} bytes are missing"), fixture.typed().line(CHUNKED).body(part))
    };
    [2, 4, 5, 6, 20].map(row).into()
}

pub(crate) fn other_codings(fixture: &Fixture) -> Vec<Sample> {
    let codings = ["xchunked", "chunked, x-unknown", "x-unknown", "chunked, identity"];
    let row = |coding| {
        let request = fixture.typed().line(format!("Transfer-Encoding: {coding}"));
        sample(format!("the coding {coding}"), request.body(chunked(&fixture.body())))
    };
    codings.map(row).into()
}

/// A body in chunks of a few bytes, some with extensions, and lines after them.
pub(crate) fn well_formed(fixture: &Fixture) -> Vec<Sample> {
    let mut chunks = String::new();
    for (at, piece) in fixture.body().as_bytes().chunks(7).enumerate() {
        let extension = ["", ";a", ";a=b", ";a=\"b c\""][at % 4];
        let (zeros, piece) = (["", "00"][at % 2], String::from_utf8_lossy(piece));
        chunks.push_str(&format!("{zeros}{:X}{extension}\r\n{piece}\r\n", piece.len()));
    }
    chunks.push_str("0\r\nX-After: all\r\n\r\n");
    vec![in_chunks(fixture, &chunks)]
}

async fn taken_whole(fixture: Fixture) -> Result {
    for (_, request) in well_formed(&fixture) {
        let reply = answer(&mut fixture.send(request).await?).await?;
        if reply.status_code() != 411 {
            reply.status(201)?.equals("/data/prompt", "A lighthouse")?;
        }
    }
    Ok(())
}

pub(crate) async fn status(case: Case) -> Result {
    each(case.clone(), Bodyless(400), faulty_lengths).await?;
    each(case.clone(), NamesBody, faulty_chunks).await?;
    each(case.clone(), Bodyless(400), other_codings).await?;
    each(case.clone(), Status(201), well_formed).await?;
    two_types(case, Some(415)).await
}

fn too_short_by(fixture: &Fixture, missing: usize) -> Sample {
    let body = fixture.body();
    let request = fixture.typed().line(length(body.len() + missing)).body(body);
    sample(format!("{missing} bytes are missing"), request)
}

async fn too_short(case: Case) -> Result {
    let rows = |fixture: &Fixture| [1, 100, 100_000].map(|some| too_short_by(fixture, some)).into();
    each(case.clone(), Ignored, rows).await?;
    each(case.clone(), Ignored, no_last_chunk).await?;
    // The client that has gone without a word leaves nothing either.
    let fixture = Fixture::new(&case).await?;
    drop(fixture.send(too_short_by(&fixture, 1).1).await?);
    fixture.has_created(0).await
}

async fn rubbish_behind(case: Case) -> Result {
    for rubbish in ["}\r\n\r\n", "\0\0\0\0\r\n\r\n", "POST\r\n\r\n", "0\r\n\r\n"] {
        let created = unless_busy(case.clone(), |fixture| created_before(fixture, rubbish)).await;
        check::with_context(json_text(&rubbish), created)?;
    }
    Ok(())
}

async fn created_before(fixture: Fixture, rubbish: &str) -> Result {
    let request = [fixture.whole_post(), rubbish.as_bytes().to_vec()].concat();
    let mut socket = fixture.send(request).await?;
    socket.response().await?.status(201)?;
    nothing_follows(socket).await?;
    fixture.has_created(1).await
}

async fn on_get_and_delete(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let hidden = String::from_utf8_lossy(&fixture.whole_post()).into_owned();
    let delete = case.raw_request(&Method::DELETE, &case.vault().await?.path());
    for request in [fixture.get(), delete] {
        let mut socket = fixture.send(request.json(&hidden)).await?;
        answer(&mut socket).await?;
        nothing_follows(socket).await?;
        fixture.has_created(0).await?;
    }
    Ok(())
}

pub(crate) const JSON: &str = "application/json";

pub(crate) async fn sent_under(fixture: &Fixture, types: [&str; 2]) -> Result<ApiResponse> {
    let body = fixture.body();
    let line = |one: &str| format!("Content-Type: {one}");
    let request = fixture.post().line(line(types[0])).line(line(types[1])).line(length(body.len()));
    answer(&mut fixture.send(request.body(body)).await?).await
}

/// Requests with two types are carried out or refused, and answered with this status if it is given.
pub(crate) async fn two_types(case: Case, status: Option<u16>) -> Result {
    let fixture = Fixture::new(&case).await?;
    let mut created = 0;
    for types in [[JSON, JSON], [JSON, "text/plain"], ["text/plain", JSON]] {
        let reply = sent_under(&fixture, types).await?;
        if let Some(status) = status {
            reply.status(status)?;
        }
        created += usize::from(reply.is_success());
        fixture.has_created(created).await?;
    }
    Ok(())
}

async fn other_types(case: Case) -> Result {
    let vault = case.vault().await?;
    for other in [&[][..], &["text/plain"], &["application/problem+json"], &["x"], &[";"]] {
        let name = case.name("named");
        let call = case.wire().call(Method::PATCH, &vault.path());
        let call = other.iter().fold(call, |call, other| call.header("content-type", other));
        let body = json!({ "name": name, "description": name }).to_string();
        let reply = call.untyped_body(body).send().await?;
        let done = reply.status_code() == 200;
        reply.ensure(done || reply.status_code() / 100 == 4, "200 or 4xx", reply.status_code())?;
        let now = vault.get().await?;
        let changed = [*now.at("/data/name")? == *name, *now.at("/data/description")? == *name];
        let expected = format!("under {}, name and description changed: {done}", json_text(other));
        now.ensure(changed == [done, done], expected, json_text(&changed))?;
    }
    Ok(())
}
