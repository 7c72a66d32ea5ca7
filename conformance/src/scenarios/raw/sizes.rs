//! Heads that are larger than anybody needs.

use http::Method;

use super::Expect::{Answered, Bodyless, Refused, Status};
use super::{Fixture, Sample, each, sample};
use crate::scenario::{http, reference};
use crate::wire::raw::RawRequest;
use crate::{Case, Failure, Scenario, check};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    http! { "raw.size.header" ["HT-13"] [HttpOne]
        |case| each(case, Answered, |fixture| sized(fixture, &[(64 * KIB, long_header), (MIB, long_header)])),
        "A header of 64 KiB and one of 1 MiB are taken or refused, and others are served" },
    http! { "raw.size.headers" ["HT-13"] [HttpOne]
        |case| each(case, Answered, |fixture| sized(fixture, &[(1000, many_headers), (10_000, many_headers)])),
        "A thousand headers and ten thousand are taken or refused, and others are served" },
    http! { "raw.size.first-line" ["HT-14"] [HttpOne]
        |case| each(case, Answered, |fixture| sized(fixture, &[(64 * KIB, long_query), (MIB, long_query)])),
        "A query of 64 KiB and one of 1 MiB are taken or refused, and others are served" },
    http! { "raw.size.key" ["HT-13"] [HttpOne] |case| each(case, Refused, long_key),
        "A key of 8 KiB is answered 401, or refused for its size" },
    reference! { "raw.size.status" ["HT-13"] [HttpOne] size_status,
        "A head of 64 KiB is taken, of 1 MiB and of more than 100 lines 431, a longer address 414 \
         (S-80)" },
];

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// A request of a size.
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

async fn size_status(case: Case) -> Result<(), Failure> {
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
