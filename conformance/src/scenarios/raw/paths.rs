//! Paths and queries with escapes, control bytes and what is no UTF-8: an odd spelling may be
//! refused or read as the plain one; it never reaches another resource. Heads that are larger than
//! anybody needs.

use super::{Fixture, RawRequest, Received, Sample, each, refused, sample};
use crate::scenarios::prelude::*;

use super::Expect::{Answered, Bodyless, Refused, Status};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    http! { "raw.path.odd-spelling" ["HT-24"] [HttpOne] odd_spelling,
        "An oddly spelt path is refused or read as the plain one" },
    reference! { "raw.path.no-other-thing" ["VA-26"] [HttpOne] no_other_thing,
        "DELETE with something behind the id deletes nothing" },
    reference! { "raw.query.no-text" ["PG-04", "PR-17", "PR-18"] [HttpOne] no_text,
        "Queries that are no UTF-8 or escape nothing are out of range where there is a range" },
    http! { "raw.query.odd-cursor" ["HT-24"] [HttpOne] odd_cursor,
        "A cursor of odd bytes brings no server error" },
    reference! { "raw.path.as-written" ["HT-24"] ("S-80") [HttpOne]
        |case| each(case, Status(404), |fixture| gets(fixture, spellings(fixture.vault))),
        "An escaped path is not read as the plain one, in names, ids and slashes: 404" },
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
    reference! { "raw.size.status" ["HT-13"] ("S-80") [HttpOne] size_status,
        "A head of 64 KiB is taken, of 1 MiB and of more than 100 lines 431, a longer address 414" },
];

fn spellings(vault: i64) -> Vec<String> {
    // `%3` before a digit is that digit escaped.
    const FORMS: &str = "/%76aults/ID /vaults%2fID /vaults%2FID /vaults/%3ID /./vaults/ID \
        /vaults/../vaults/ID /vaults/%2e%2e/vaults/ID /%2e%2e/v1/vaults/ID /vaults/ID/. /vaults\\ID \
        /vaults/ID;a=b /vaults/ID%20 /vaults/+ID /vaults/0ID";
    FORMS.split(' ').map(|form| form.replace("ID", &vault.to_string())).collect()
}

fn gets(fixture: &Fixture, paths: impl IntoIterator<Item = String>) -> Vec<Sample> {
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

async fn no_other_thing(case: Case) -> Result {
    let fixture = Fixture::new(&case).await?;
    for behind in
        ["%00", "%", "%zz", "%ff", "%0d%0a", "%2f", "%2fprompts", "%3f", ".0", "e0", ",1", "%c0%80"]
    {
        let path = format!("/vaults/{}{behind}", fixture.vault);
        let request = case.raw_request(&Method::DELETE, &path);
        check::with_context(&path, fixture.check(Refused, &request.head()).await)?;
    }
    Ok(())
}

const NO_TEXT: [&str; 6] = ["%ff", "%c3%28", "%ed%a0%80", "%", "%zz", "%00"];

async fn no_text(case: Case) -> Result {
    let queries = |fixture: &Fixture| {
        let fields = ["limit=5", "vaultId=1", "type=text"].into_iter();
        let with_each = |field| NO_TEXT.map(|odd| format!("/prompts?{field}{odd}"));
        gets(fixture, fields.flat_map(with_each))
    };
    each(case.clone(), Refused, queries).await?;
    case.wire().get("/prompts?limit=1").await?.status(200).map(drop)
}

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

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

type Sized = (usize, fn(&Fixture, usize) -> RawRequest);

fn sized(fixture: &Fixture, rows: &[Sized]) -> Vec<Sample> {
    let row = |(size, request): &Sized| (format!("of {size}"), request(fixture, *size).head());
    rows.iter().map(row).collect()
}

fn many_headers(fixture: &Fixture, count: usize) -> RawRequest {
    (0..count).fold(fixture.get(), |request, number| request.line(format!("X-Odd-{number}: a")))
}

fn long_query(fixture: &Fixture, length: usize) -> RawRequest {
    let path = format!("/vaults/{}?odd={}", fixture.vault, "a".repeat(length));
    fixture.case.raw_request(&Method::GET, &path)
}

fn long_header(fixture: &Fixture, length: usize) -> RawRequest {
    fixture.get().line(format!("X-Odd: {}", "a".repeat(length)))
}

fn long_key(fixture: &Fixture) -> Vec<Sample> {
    let right = &fixture.case.target().config.api_key;
    let long = format!("Authorization: Bearer {right}{}", "a".repeat(8 * KIB));
    let request = fixture.post().without("Authorization").line(long);
    vec![sample("a long key", request.json(&fixture.body()))]
}

async fn size_status(case: Case) -> Result {
    let rows: [(_, &[Sized]); 3] = [
        (Status(200), &[(64 * KIB, long_header), (90, many_headers), (60 * KIB, long_query)]),
        (Bodyless(431), &[(MIB, long_header), (101, many_headers)]),
        (Bodyless(414), &[(70 * KIB, long_query)]),
    ];
    let fixture = Fixture::new(&case).await?;
    for (expect, rows) in rows {
        for (what, request) in sized(&fixture, rows) {
            check::with_context(what, fixture.check(expect, &request).await)?;
        }
    }
    Ok(())
}
