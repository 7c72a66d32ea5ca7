//! Malformed requests: the statuses of our server.

use crate::http::head::{self, KIB, MIB};
use crate::http::prelude::Expect::{Refused, RefusedBy, Status};
use crate::http::prelude::*;
use crate::http::{framing, pace};

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    scenario! { "raw.body.status" ["S-80"] body_status,
        "Faulty lengths and codings are 400 without a body, chunks 400 naming body, types 415" },
    scenario! { "raw.head.status" ["S-61", "S-80"]
        head_status,
        "A malformed head is 400 without a body, a faulty Host 400, an unknown method 405" },
    scenario! { "raw.pace.many-waiting" ["VA-21"] |case| unless_busy(case, beside_many),
        "Fifty idle connections do not keep others from being served" },
    scenario! { "raw.pace.status" ["S-80"] pace_status,
        "A slow request is 201, two sent ahead are both answered, a wrong key is 401 at once" },
    scenario! { "raw.path.no-other-thing" ["VA-26"]
        |case| each(case, Refused, longer_deletions),
        "DELETE with something behind the id deletes nothing" },
    scenario! { "raw.query.no-text" ["PG-04", "PR-17", "PR-18"] no_text,
        "Queries that are no UTF-8 or escape nothing are out of range where there is a range" },
    scenario! { "raw.path.as-written" ["S-80"]
        |case| each(case, Status(404), head::spellings),
        "An escaped path is not read as the plain one, in names, ids and slashes: 404" },
    scenario! { "raw.size.status" ["S-80"] size_status,
        "A head of 64 KiB is taken, of 1 MiB and of more than 100 lines 431, a longer address 414" },
];

/// 400 without a body, as hyper refuses what it cannot read.
const BODYLESS: Expect = RefusedBy(|reply| bodyless(reply, 400));
const NAMES_BODY: Expect = RefusedBy(|reply| reply.status(400)?.string("/details/body").map(drop));

fn bodyless(reply: &ApiResponse, status: u16) -> Result {
    let length = format!("{} bytes", reply.body().len());
    reply.status(status)?.ensure(reply.body().is_empty(), "no body", length).map(drop)
}

async fn body_status(case: Case) -> Result {
    each(case.clone(), BODYLESS, framing::faulty_lengths).await?;
    each(case.clone(), NAMES_BODY, framing::faulty_chunks).await?;
    each(case.clone(), BODYLESS, framing::other_codings).await?;
    each(case.clone(), Status(201), framing::well_formed).await?;
    each(case, RefusedBy(|reply| reply.status(415).map(drop)), framing::two_types).await
}

fn faulty_heads(fixture: &Fixture) -> Vec<Sample> {
    let values: [&[u8]; 5] = [b"a\r\n b", b"a\0b", b"a\x01b", b"a\rb", b"a\x7fb"];
    let space = ("a space before the colon".to_owned(), fixture.get().line("X-Odd : a").head());
    [head::odd_heads(fixture), head::with_values(fixture, &values), vec![space]].concat()
}

fn names_host(reply: &ApiResponse) -> Result {
    let text = reply.status(400)?.string("/error")?;
    reply.ensure(text.contains("Host"), "an error that names Host", text).map(drop)
}

async fn head_status(case: Case) -> Result {
    each(case.clone(), BODYLESS, faulty_heads).await?;
    let values = |it: &Fixture| head::with_values(it, &[b"a\tb", b"\xff\xfe", b"h\xc3\xa9", b""]);
    each(case.clone(), Status(200), values).await?;
    each(case.clone(), Status(405), |fixture| head::posts_with(fixture, &["post", "BREW"])).await?;
    let hosts = |fixture: &Fixture| head::faulty_hosts(fixture.get(), |request| request.head());
    each(case.clone(), RefusedBy(names_host), hosts).await?;
    let fixture = Fixture::new(&case).await?;
    let old = fixture.get().replace("HTTP/1.1", "HTTP/1.0").without("Host");
    fixture.check(Status(200), &old.head()).await
}

async fn beside_many(fixture: Fixture) -> Result {
    let mut waiting = Vec::new();
    for number in 0..50 {
        let part = if number % 2 == 0 { &fixture.post().head()[..20] } else { &[] };
        waiting.push(fixture.send(part).await?);
    }
    // A client may have a connection from before; a new one is served too.
    let mut socket = fixture.send(fixture.get().head()).await?;
    socket.response().await?.status(200)?.equals("/data/id", fixture.vault)?;
    let created = fixture.case.prompts(4).await?;
    drop(waiting);
    check::equal("the prompts created meanwhile", &created.len(), &4)
}

async fn pace_status(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    let mut socket = fixture.send(b"").await?;
    pace::drip(&fixture, &mut socket, &fixture.whole_post()).await?;
    socket.response().await?.status(201)?;
    socket.send([fixture.get().head(), fixture.get().head()].concat()).await?;
    for _ in 0..2 {
        socket.response().await?.status(200)?.equals("/data/promptCount", 1)?;
    }
    let request = fixture.typed().without("Authorization").line("Authorization: Bearer none");
    let request = request.line("Expect: 100-continue").line("Content-Length: 9");
    fixture.send(request.head()).await?.response().await?.status(401).map(drop)
}

fn longer_deletions(Fixture { case, vault, .. }: &Fixture) -> Vec<Sample> {
    let behind = "%00 % %zz %ff %0d%0a %2f %2fprompts %3f .0 e0 ,1 %c0%80".split(' ');
    let paths = behind.map(|behind| format!("/vaults/{vault}{behind}"));
    samples(paths, |path| RawRequest::new(case, &Method::DELETE, path).head())
}

async fn no_text(case: Case) -> Result {
    let queries = |fixture: &Fixture| {
        let fields = ["limit=5", "vaultId=1", "type=text"].into_iter();
        let with_each = |field| head::ODD_ESCAPES.map(|odd| format!("/prompts?{field}{odd}"));
        let paths = fields.flat_map(with_each);
        samples(paths, |path| RawRequest::new(&fixture.case, &Method::GET, path).head())
    };
    each(case.clone(), Refused, queries).await?;
    case.wire().get("/prompts?limit=1").await?.status(200).map(drop)
}

async fn size_status(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    for (expect, request) in [
        (Status(200), head::long_header(&fixture, 64 * KIB)),
        (Status(200), head::many_headers(&fixture, 90)),
        (Status(200), head::long_query(&fixture, 60 * KIB)),
        (RefusedBy(|reply| bodyless(reply, 431)), head::long_header(&fixture, MIB)),
        (RefusedBy(|reply| bodyless(reply, 431)), head::many_headers(&fixture, 101)),
        (RefusedBy(|reply| bodyless(reply, 414)), head::long_query(&fixture, 70 * KIB)),
    ] {
        let what = format!("a head of {} bytes", request.len());
        check::with_context(what, fixture.check(expect, &request).await)?;
    }
    Ok(())
}
