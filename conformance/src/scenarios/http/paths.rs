//! Paths and queries with escapes, control bytes and what is no UTF-8: an odd spelling may be
//! refused or read as the plain one; it never reaches another resource. Heads that are larger than
//! anybody needs.

use super::raw::Expect::{Answered, Refused};
use super::raw::{Fixture, RawRequest, Received, Sample, each, refused, sample};
use crate::scenarios::core::errors::paths;
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    http! { "errors.method.head-and-options" ["HT-18"] head_and_options,
        "HEAD and OPTIONS on any path bring no server error and change nothing" },
    http! { "raw.path.odd-spelling" ["HT-24"] [HttpOne] odd_spelling,
        "An oddly spelt path is refused or read as the plain one" },
    http! { "raw.query.odd-cursor" ["HT-24"] [HttpOne] odd_cursor,
        "A cursor of odd bytes brings no server error" },
    http! { "raw.size.header" ["HT-13"] [HttpOne]
        |case| each(case, Answered, |fixture| sized(fixture, &[
            (64 * KIB, long_header),
            (MIB, long_header),
            (1000, many_headers),
            (10_000, many_headers),
        ])),
        "Headers of 64 KiB and 1 MiB, and 1000 and 10000 of them, bring no server error" },
    http! { "raw.size.first-line" ["HT-14"] [HttpOne]
        |case| each(case, Answered, |fixture| sized(fixture, &[(64 * KIB, long_query), (MIB, long_query)])),
        "A query of 64 KiB and one of 1 MiB are taken or refused, and others are served" },
    http! { "raw.size.key" ["HT-13"] [HttpOne] |case| each(case, Refused, long_key),
        "A key of 8 KiB is answered 401, or refused for its size" },
];

pub(crate) fn spellings(vault: i64) -> Vec<String> {
    // `%3` before a digit is that digit escaped.
    const FORMS: &str = "/%76aults/ID /vaults%2fID /vaults%2FID /vaults/%3ID /./vaults/ID \
        /vaults/../vaults/ID /vaults/%2e%2e/vaults/ID /%2e%2e/v1/vaults/ID /vaults/ID/. /vaults\\ID \
        /vaults/ID;a=b /vaults/ID%20 /vaults/+ID /vaults/0ID";
    FORMS.split(' ').map(|form| form.replace("ID", &vault.to_string())).collect()
}

pub(crate) fn gets(fixture: &Fixture, paths: impl IntoIterator<Item = String>) -> Vec<Sample> {
    let get = |path: &str| fixture.case.raw_request(&Method::GET, path).head();
    paths.into_iter().map(|path| sample(path.as_str(), get(&path))).collect()
}

async fn odd_spelling(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    for (path, request) in gets(&fixture, spellings(fixture.vault)) {
        let Received::Response(reply) = fixture.send(request).await?.next().await? else {
            continue;
        };
        // Some servers send a client on to the plain spelling.
        if reply.is_success() {
            check::with_context(&path, reply.equals("/data/id", fixture.vault))?;
        } else if !matches!(reply.status_code(), 301 | 307 | 308) {
            check::with_context(&path, refused(Received::Response(reply)))?;
        }
    }
    Ok(())
}

pub(crate) const NO_TEXT: [&str; 6] = ["%ff", "%c3%28", "%ed%a0%80", "%", "%zz", "%00"];

async fn odd_cursor(case: Case) -> Result {
    // A target that refuses everything proves nothing.
    case.wire().get("/prompts?limit=1").await?.status(200)?.array("/data")?;
    let cursors = |fixture: &Fixture| {
        let others = ["", "%20", "a%00b", "%f0%9f%98%80", "..%2f..", "'%22%3b--"];
        let cursors = NO_TEXT.into_iter().chain(others);
        gets(fixture, cursors.map(|odd| format!("/prompts?limit=1&cursor={odd}")))
    };
    each(case, Answered, cursors).await
}

pub(crate) const KIB: usize = 1024;
pub(crate) const MIB: usize = 1024 * KIB;

pub(crate) type Sized = (usize, fn(&Fixture, usize) -> RawRequest);

pub(crate) fn sized(fixture: &Fixture, rows: &[Sized]) -> Vec<Sample> {
    let row = |(size, request): &Sized| (format!("of {size}"), request(fixture, *size).head());
    rows.iter().map(row).collect()
}

pub(crate) fn many_headers(fixture: &Fixture, count: usize) -> RawRequest {
    (0..count).fold(fixture.get(), |request, number| request.line(format!("X-Odd-{number}: a")))
}

pub(crate) fn long_query(fixture: &Fixture, length: usize) -> RawRequest {
    let path = format!("/vaults/{}?odd={}", fixture.vault, "a".repeat(length));
    fixture.case.raw_request(&Method::GET, &path)
}

pub(crate) fn long_header(fixture: &Fixture, length: usize) -> RawRequest {
    fixture.get().line(format!("X-Odd: {}", "a".repeat(length)))
}

fn long_key(fixture: &Fixture) -> Vec<Sample> {
    let right = &fixture.case.target().config.api_key;
    let long = format!("Authorization: Bearer {right}{}", "a".repeat(8 * KIB));
    let request = fixture.post().without("Authorization").line(long);
    vec![sample("a long key", request.json(&fixture.body()))]
}

async fn head_and_options(case: Case) -> Result {
    let wire = case.wire();
    let (ids, all) = paths(&case).await?;
    let before = ids.state(&wire).await?;
    for path in all.iter().map(|endpoint| &endpoint.path).collect::<BTreeSet<_>>() {
        for method in [Method::HEAD, Method::OPTIONS] {
            let reply = wire.call(method, path).send().await?;
            let status = reply.status_code();
            reply.ensure(matches!(status, 200..=499 | 501), "no server error", status)?;
        }
    }
    check::equal("what was there", &ids.state(&wire).await?, &before)
}
