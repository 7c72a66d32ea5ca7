//! `Content-Length` that cannot be, twice, or beside another framing (RFC 9112,
//! section 6.3).

use crate::scenario::{http, reference};
use crate::wire::raw::Received;
use crate::{Case, Failure, Scenario, check};

use super::{Site, answered, bare, chunked, over, with};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    http! { "raw.length.two" ["HT-01"] [HttpOne] two,
        "A request with two lengths that differ is not carried out" },
    http! { "raw.length.no-number" ["HT-01"] [HttpOne] no_number,
        "A request whose length is no number is not carried out" },
    http! { "raw.length.beside-chunks" ["HT-02"] [HttpOne] beside_chunks,
        "What a length hides behind the chunks of a body is no second request" },
    http! { "raw.length.chunks-behind" ["HT-02"] [HttpOne] chunks_behind,
        "What chunks hide behind a length is carried out once at most" },
    reference! { "raw.length.status" ["HT-01"] [HttpOne] status,
        "A faulty length is 400 without a body and ends the connection (S-80)" },
];

/// Pairs of header lines with lengths that contradict each other.
fn pairs(length: usize) -> [[String; 2]; 3] {
    let line = |length: usize| format!("Content-Length: {length}");
    [
        [line(length), line(length - 1)],
        [line(length - 1), line(length)],
        [line(length), line(length + 100)],
    ]
}

/// Values of one line that are no length.
fn values(length: usize) -> Vec<String> {
    let mut values = vec![
        format!("+{length}"),
        format!("-{length}"),
        format!("0x{length:x}"),
        format!("{length}.0"),
        format!("{length} {length}"),
        format!("{length}, {}", length + 1),
        format!("{length}x"),
        "99999999999999999999999".to_owned(),
        "18446744073709551616".to_owned(),
    ];
    values.push("x".into());
    values
}

async fn two(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let body = site.body();
    for [first, second] in pairs(body.len()) {
        let what = format!("{first} and {second}");
        let request = with(&site.typed().line(first).line(second), &body);
        site.refuses(&what, &request).await?;
    }
    Ok(())
}

async fn no_number(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let body = site.body();
    for value in values(body.len()) {
        let request = with(&site.typed().line(format!("Content-Length: {value}")), &body);
        site.refuses(&value, &request).await?;
    }
    Ok(())
}

async fn beside_chunks(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let hidden = site.post().json(&site.body());
    let body = [b"0\r\n\r\n".to_vec(), hidden].concat();
    let chunks = "Transfer-Encoding: chunked".to_owned();
    let length = format!("Content-Length: {}", body.len());
    for [first, second] in [[chunks.clone(), length.clone()], [length, chunks]] {
        let what = format!("{first} before {second}");
        let request = with(&site.typed().line(first).line(second), &body);
        site.refuses(&what, &request).await?;
    }
    Ok(())
}

async fn chunks_behind(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let body = chunked(&site.body());
    let hidden = site.post().json(&site.body());
    let draft = site.typed().line("Content-Length: 4").line("Transfer-Encoding: chunked");
    let mut socket = site.socket().await?;
    socket.send([with(&draft, body), hidden].concat()).await?;
    let heard = answered(socket.next().await?, &socket)?;
    over(socket).await?;
    let carried_out = matches!(heard, Received::Reply(reply) if reply.status_code() < 300);
    check::equal("the prompts made", &site.made().await?, &usize::from(carried_out))
}

async fn status(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let body = site.body();
    let [first, second] = &pairs(body.len())[0];
    let differ = with(&site.typed().line(first.as_str()).line(second.as_str()), &body);
    bare(&site.refuses("two lengths", &differ).await?, 400)?;
    for value in values(body.len()) {
        let request = with(&site.typed().line(format!("Content-Length: {value}")), &body);
        check::with_context(&value, bare(&site.refuses(&value, &request).await?, 400))?;
    }
    Ok(())
}
