//! Malformed requests: the statuses of our server.

use crate::scenarios::http::framing::status;
use crate::scenarios::http::head::status as head_status;
use crate::scenarios::http::pace::status as pace_status;
use crate::scenarios::http::paths::{
    KIB, MIB, NO_TEXT, Sized, gets, long_header, long_query, many_headers, sized, spellings,
};
use crate::scenarios::http::raw::Expect::{Bodyless, Refused, Status};
use crate::scenarios::http::raw::{Fixture, each, unless_busy};
use crate::scenarios::prelude::*;

#[rustfmt::skip]
pub(crate) const ALL: &[Scenario] = &[
    reference! { "raw.body.status" ["HT-01", "HT-03", "EN-02"] ("S-80") [HttpOne] status,
        "Faulty lengths and codings are 400 without a body, chunks 400 naming body, types 415" },
    reference! { "raw.head.status" ["HT-06", "HT-09", "HT-10", "ER-01"] ("S-61", "S-80") [HttpOne]
        head_status,
        "A malformed head is 400 without a body, a faulty Host 400, an unknown method 405" },
    reference! { "raw.pace.many-waiting" ["VA-21"] [HttpOne] |case| unless_busy(case, beside_many),
        "Fifty idle connections do not keep others from being served" },
    reference! { "raw.pace.status" ["HT-20"] ("S-80") [HttpOne] pace_status,
        "A slow request is 201, two sent ahead are both answered, a wrong key is 401 at once" },
    reference! { "raw.path.no-other-thing" ["VA-26"] [HttpOne] no_other_thing,
        "DELETE with something behind the id deletes nothing" },
    reference! { "raw.query.no-text" ["PG-04", "PR-17", "PR-18"] [HttpOne] no_text,
        "Queries that are no UTF-8 or escape nothing are out of range where there is a range" },
    reference! { "raw.path.as-written" ["HT-24"] ("S-80") [HttpOne]
        |case| each(case, Status(404), |fixture| gets(fixture, spellings(fixture.vault))),
        "An escaped path is not read as the plain one, in names, ids and slashes: 404" },
    reference! { "raw.size.status" ["HT-13"] ("S-80") [HttpOne] size_status,
        "A head of 64 KiB is taken, of 1 MiB and of more than 100 lines 431, a longer address 414" },
];

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

async fn no_text(case: Case) -> Result {
    let queries = |fixture: &Fixture| {
        let fields = ["limit=5", "vaultId=1", "type=text"].into_iter();
        let with_each = |field| NO_TEXT.map(|odd| format!("/prompts?{field}{odd}"));
        gets(fixture, fields.flat_map(with_each))
    };
    each(case.clone(), Refused, queries).await?;
    case.wire().get("/prompts?limit=1").await?.status(200).map(drop)
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
