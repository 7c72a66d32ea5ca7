//! Chunked bodies, well formed and not (RFC 9112, sections 6.1 and 7.1).

use crate::scenario::{http, reference};
use crate::{Case, Failure, Scenario, check};

use super::{Site, answered, bare, chunked, said, served, with};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    http! { "raw.chunks.bad-size" ["HT-06"] [HttpOne] bad_size,
        "A chunk whose size is no number, or too large for one, is not carried out" },
    http! { "raw.chunks.wrong-size" ["HT-06"] [HttpOne] wrong_size,
        "A chunk that does not end where its size says is not carried out" },
    http! { "raw.chunks.no-last" ["HT-04"] [HttpOne] no_last,
        "A chunked body that breaks off before its last chunk is not carried out" },
    http! { "raw.chunks.other-coding" ["HT-05"] [HttpOne] other_coding,
        "A body under a coding that does not end in chunks is not carried out" },
    http! { "raw.chunks.well-formed" ["HT-03"] [HttpOne] well_formed,
        "A body in many chunks with extensions and trailers is taken whole, or asked for with a \
         length" },
    reference! { "raw.chunks.status" ["HT-03"] [HttpOne] status,
        "Faulty chunks are 400 naming body, a faulty coding 400 without a body; good ones are \
         taken (S-80)" },
];

const CHUNKED: &str = "Transfer-Encoding: chunked";

fn bad_sizes(body: &str) -> Vec<String> {
    let length = body.len();
    let rest = format!("\r\n{body}\r\n0\r\n\r\n");
    let sizes = ["zz", "-1", "", "\u{a0}", "10000000000000000000000000000001a", "1 a", "g", "0x1a"];
    let mut sizes: Vec<_> = sizes.map(str::to_owned).into();
    sizes.push(format!("0x{length:x}"));
    sizes.push(format!("+{length:x}"));
    sizes.push(format!("1{length:016x}"));
    sizes.into_iter().map(|size| size + &rest).collect()
}

fn wrong_sizes(body: &str) -> [String; 2] {
    let framed = |size: usize| format!("{size:x}\r\n{body}\r\n0\r\n\r\n");
    [framed(body.len() - 3), framed(body.len() + 1)]
}

async fn all_refused(case: &Case, bodies: fn(&str) -> Vec<String>) -> Result<(), Failure> {
    let site = Site::new(case).await?;
    for body in bodies(&site.body()) {
        let request = with(&site.typed().line(CHUNKED), &body);
        site.refuses(&format!("{body:.24?}"), &request).await?;
    }
    Ok(())
}

async fn bad_size(case: Case) -> Result<(), Failure> {
    all_refused(&case, bad_sizes).await
}

async fn wrong_size(case: Case) -> Result<(), Failure> {
    all_refused(&case, |body| wrong_sizes(body).into()).await
}

async fn no_last(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let whole = chunked(&site.body());
    for left_out in [2, 4, 5, 6, 20] {
        let mut socket = site.socket().await?;
        let part = &whole[..whole.len() - left_out];
        socket.send(with(&site.typed().line(CHUNKED), part)).await?;
        let what = format!("{left_out} bytes left out");
        check::with_context(&what, super::over(socket).await)?;
        check::with_context(&what, site.is_empty().await)?;
    }
    Ok(())
}

async fn other_coding(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    for coding in ["xchunked", "chunked, x-unknown", "x-unknown", "chunked, identity"] {
        let draft = site.typed().line(format!("Transfer-Encoding: {coding}"));
        let request = with(&draft, chunked(&site.body()));
        site.refuses(coding, &request).await?;
    }
    Ok(())
}

/// A body in chunks of a few bytes, some with extensions, and lines after them.
fn in_pieces(body: &str) -> String {
    let mut text = String::new();
    for (at, piece) in body.as_bytes().chunks(7).enumerate() {
        let extension = ["", ";a", ";a=b", ";a=\"b c\""][at % 4];
        let size =
            if at % 2 == 0 { format!("{:x}", piece.len()) } else { format!("00{:X}", piece.len()) };
        text.push_str(&format!("{size}{extension}\r\n{}\r\n", String::from_utf8_lossy(piece)));
    }
    text + "0\r\nX-After: all\r\n\r\n"
}

async fn well_formed(case: Case) -> Result<(), Failure> {
    served(&case, taken_whole).await
}

async fn taken_whole(site: Site) -> Result<(), Failure> {
    let mut socket = site.socket().await?;
    socket.send(with(&site.typed().line(CHUNKED), in_pieces(&site.body()))).await?;
    let reply = said(answered(socket.next().await?, &socket)?)?;
    if reply.status_code() != 411 {
        reply.status(201)?.equals("/data/prompt", "A lighthouse")?;
    }
    Ok(())
}

async fn status(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let mut faulty = bad_sizes(&site.body());
    faulty.extend(wrong_sizes(&site.body()));
    for body in faulty {
        let what = format!("{body:.24?}");
        let request = with(&site.typed().line(CHUNKED), &body);
        let reply = said(site.refuses(&what, &request).await?)?;
        check::with_context(&what, reply.status(400)?.string("/details/body"))?;
    }
    let draft = site.typed().line("Transfer-Encoding: x-unknown");
    bare(&site.refuses("a coding", &with(&draft, chunked(&site.body()))).await?, 400)?;
    let mut socket = site.socket().await?;
    socket.send(with(&site.typed().line(CHUNKED), in_pieces(&site.body()))).await?;
    socket.reply().await?.status(201).map(drop)
}
