//! Where a body ends: lengths that cannot be, twice, or beside chunks (RFC 9112, section 6.3);
//! chunks, well formed and not (sections 6.1 and 7.1); and bodies of another type.

use super::prelude::Expect::{Ignored, Refused};
use super::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "raw.length.faulty" ["HT-01"] |case| each(case, Refused, faulty_lengths),
        "A request with two lengths that differ, or one that is no number, is not carried out" },
    scenario! { "raw.length.beside-chunks" ["HT-02"] |case| each(case, Refused, beside_chunks),
        "What a length hides behind the chunks of a body is no second request" },
    scenario! { "raw.length.chunks-behind" ["HT-02"] chunks_behind,
        "What chunks hide behind a length is carried out once at most" },
    scenario! { "raw.chunks.bad-size" ["HT-06"] |case| each(case, Refused, faulty_chunks),
        "A chunk whose size is no number, too large, or not its length is not carried out" },
    scenario! { "raw.chunks.other-coding" ["HT-05"] |case| each(case, Refused, other_codings),
        "A body under a coding that does not end in chunks is not carried out" },
    scenario! { "raw.chunks.well-formed" ["HT-03"] |case| unless_busy(case, taken_whole),
        "A body in chunks with extensions and trailers is taken whole, or a length demanded" },
    scenario! { "raw.body.too-short" ["HT-04"] too_short,
        "A request whose body breaks off before its length or its last chunk is not carried out" },
    scenario! { "raw.body.rubbish-behind" ["HT-06"] rubbish_behind,
        "What follows a body without being a request is not carried out and spoils nothing" },
    scenario! { "raw.body.on-get-and-delete" ["HT-22"] on_get_and_delete,
        "A body on GET and DELETE is ignored or refused, and is no second request" },
    scenario! { "raw.body.two-types" ["HT-23"] under_two_types,
        "A request with two content types is carried out whole or not at all" },
    scenario! { "raw.body.other-types" ["HT-24"] other_types,
        "A body of another type or of none is carried out whole or refused" },
];

const CHUNKED: &str = "Transfer-Encoding: chunked";

pub(crate) fn length(bytes: usize) -> String {
    format!("Content-Length: {bytes}")
}

/// The body of the fixture in one chunk.
fn one_chunk(Fixture { body, .. }: &Fixture) -> String {
    format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}

pub(crate) fn faulty_lengths(fixture: &Fixture) -> Vec<Sample> {
    let right = fixture.body.len();
    let (less, more, far) = (right - 1, right + 1, right + 100);
    let values = format!(
        "+{right};-{right};0x{right:x};{right}.0;{right} {right};{right}, {more};{right}x;x;\
         99999999999999999999999;18446744073709551616;{right}\r\nContent-Length: {less};\
         {less}\r\nContent-Length: {right};{right}\r\nContent-Length: {far}"
    );
    samples(values.split(';'), |value| {
        fixture.typed().line(format!("Content-Length: {value}")).body(&fixture.body)
    })
}

fn beside_chunks(fixture: &Fixture) -> Vec<Sample> {
    let body = [b"0\r\n\r\n".to_vec(), fixture.whole_post()].concat();
    let length = length(body.len());
    let lines = [format!("{CHUNKED}\r\n{length}"), format!("{length}\r\n{CHUNKED}")];
    samples(lines, |lines| fixture.typed().line(lines.as_str()).body(&body))
}

async fn chunks_behind(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let request = fixture.typed().line(length(4)).line(CHUNKED);
    let first = request.body(one_chunk(&fixture));
    let mut socket = fixture.send([first, fixture.whole_post()].concat()).await?;
    let received = answered(socket.next().await?)?;
    nothing_follows(socket).await?;
    fixture.has_created(usize::from(succeeded(&received))).await
}

pub(crate) fn faulty_chunks(fixture: &Fixture) -> Vec<Sample> {
    let body = &fixture.body;
    let (length, less, more) = (body.len(), body.len() - 3, body.len() + 1);
    let sizes = format!(
        "zz;-1;;\u{a0};10000000000000000000000000000001a;1 a;g;0x1a;0x{length:x};+{length:x};\
         1{length:016x};{less:x};{more:x}"
    );
    samples(sizes.split(';'), |size| {
        fixture.typed().line(CHUNKED).body(format!("{size}\r\n{body}\r\n0\r\n\r\n"))
    })
}

fn no_last_chunk(fixture: &Fixture) -> Vec<Sample> {
    let whole = one_chunk(fixture);
    samples([2, 4, 5, 6, 20], |missing| {
        fixture.typed().line(CHUNKED).body(&whole[..whole.len() - missing])
    })
}

pub(crate) fn other_codings(fixture: &Fixture) -> Vec<Sample> {
    let codings = ["xchunked", "chunked, x-unknown", "x-unknown", "chunked, identity"];
    let request = |coding: &_| fixture.typed().line(format!("Transfer-Encoding: {coding}"));
    samples(codings, |coding| request(coding).body(one_chunk(fixture)))
}

/// A body in chunks of a few bytes, some with extensions, and lines after them.
pub(crate) fn well_formed(fixture: &Fixture) -> Vec<Sample> {
    let mut chunks = String::new();
    for (at, piece) in fixture.body.as_bytes().chunks(7).enumerate() {
        let extension = ["", ";a", ";a=b", ";a=\"b c\""][at % 4];
        let (zeros, piece) = (["", "00"][at % 2], String::from_utf8_lossy(piece));
        chunks.push_str(&format!("{zeros}{:X}{extension}\r\n{piece}\r\n", piece.len()));
    }
    chunks.push_str("0\r\nX-After: all\r\n\r\n");
    samples(["small chunks"], |_| fixture.typed().line(CHUNKED).body(&chunks))
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

fn too_short_by<const N: usize>(fixture: &Fixture, missing: [usize; N]) -> Vec<Sample> {
    let line = |missing| length(fixture.body.len() + missing);
    samples(missing, |missing| fixture.typed().line(line(*missing)).body(&fixture.body))
}

async fn too_short(case: Case) -> Result {
    each(case.clone(), Ignored, |fixture| too_short_by(fixture, [1, 100, 100_000])).await?;
    each(case.clone(), Ignored, no_last_chunk).await?;
    // The client that has gone without a word leaves nothing either.
    let fixture = Fixture::new(&case).await?;
    for (_, request) in too_short_by(&fixture, [1]) {
        drop(fixture.send(request).await?);
    }
    fixture.has_created(0).await
}

async fn rubbish_behind(case: Case) -> Result {
    for rubbish in ["}\r\n\r\n", "\0\0\0\0\r\n\r\n", "POST\r\n\r\n", "0\r\n\r\n"] {
        let created = unless_busy(case.clone(), |fixture| async move {
            let request = [&fixture.whole_post(), rubbish.as_bytes()].concat();
            let mut socket = fixture.send(request).await?;
            socket.response().await?.status(201)?;
            nothing_follows(socket).await?;
            fixture.has_created(1).await
        });
        check::with_context(json_text(&rubbish), created.await)?;
    }
    Ok(())
}

async fn on_get_and_delete(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let hidden = String::from_utf8_lossy(&fixture.whole_post()).into_owned();
    let delete = RawRequest::new(&case, &Method::DELETE, &case.vault().await?.path());
    for request in [fixture.get(), delete] {
        let mut socket = fixture.send(request.json(&hidden)).await?;
        answer(&mut socket).await?;
        nothing_follows(socket).await?;
        fixture.has_created(0).await?;
    }
    Ok(())
}

pub(crate) fn two_types(fixture: &Fixture) -> Vec<Sample> {
    let (json, text, length) = ("application/json", "text/plain", length(fixture.body.len()));
    let pairs = [[json, json], [json, text], [text, json]];
    let lines = pairs.map(|pair| pair.map(|kind| format!("Content-Type: {kind}")).join("\r\n"));
    samples(lines, |lines| {
        fixture.post().line(lines.as_str()).line(length.as_str()).body(&fixture.body)
    })
}

async fn under_two_types(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let mut created = 0;
    for (_, request) in two_types(&fixture) {
        created += usize::from(answer(&mut fixture.send(request).await?).await?.is_success());
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
