//! Heads that are larger than anybody needs.

use http::Method;

use crate::scenario::{http, reference};
use crate::wire::raw::RawRequest;
use crate::{Case, Failure, Scenario, check};

use super::{Site, answered, bare};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    http! { "raw.size.header" ["HT-13"] [HttpOne] header,
        "A header of 64 KiB and one of 1 MiB are taken or refused, and others are served" },
    http! { "raw.size.headers" ["HT-13"] [HttpOne] headers,
        "A thousand headers and ten thousand are taken or refused, and others are served" },
    http! { "raw.size.first-line" ["HT-14"] [HttpOne] first_line,
        "A query of 64 KiB and one of 1 MiB are taken or refused, and others are served" },
    http! { "raw.size.key" ["HT-13"] [HttpOne] key,
        "A key of 8 KiB is answered 401, or refused for its size" },
    reference! { "raw.size.status" ["HT-13"] [HttpOne] status,
        "A head of 64 KiB is taken, of 1 MiB and of more than 100 lines 431, a longer address 414 \
         (S-80)" },
];

const KIB: usize = 1024;

fn lines(site: &Site, count: usize) -> RawRequest {
    (0..count).fold(site.get(), |draft, number| draft.line(format!("X-Odd-{number}: a")))
}

fn query(site: &Site, length: usize) -> RawRequest {
    let path = format!("/vaults/{}?odd={}", site.vault, "a".repeat(length));
    site.case.raw_request(&Method::GET, &path)
}

fn long(site: &Site, length: usize) -> RawRequest {
    site.get().line(format!("X-Odd: {}", "a".repeat(length)))
}

async fn all_answered(
    case: &Case,
    sizes: [usize; 2],
    draft: impl Fn(&Site, usize) -> RawRequest,
) -> Result<(), Failure> {
    let site = Site::new(case).await?;
    for size in sizes {
        let mut socket = site.socket().await?;
        socket.send(draft(&site, size).head()).await?;
        check::with_context(format!("of {size}"), answered(socket.next().await?, &socket))?;
        site.made().await?;
    }
    Ok(())
}

async fn header(case: Case) -> Result<(), Failure> {
    all_answered(&case, [64 * KIB, 1024 * KIB], long).await
}

async fn headers(case: Case) -> Result<(), Failure> {
    all_answered(&case, [1000, 10_000], lines).await
}

async fn first_line(case: Case) -> Result<(), Failure> {
    all_answered(&case, [64 * KIB, 1024 * KIB], query).await
}

async fn key(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let right = &case.target().config.api_key;
    let long = format!("Authorization: Bearer {right}{}", "a".repeat(8 * KIB));
    let request = site.post().without("Authorization").line(long).json(&site.body());
    site.refuses("a long key", &request).await.map(drop)
}

async fn status(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    for draft in [long(&site, 64 * KIB), lines(&site, 90), query(&site, 60 * KIB)] {
        let mut socket = site.socket().await?;
        socket.send(draft.head()).await?;
        socket.reply().await?.status(200)?;
    }
    for (draft, status) in
        [(long(&site, 1024 * KIB), 431), (lines(&site, 101), 431), (query(&site, 70 * KIB), 414)]
    {
        let mut socket = site.socket().await?;
        socket.send(draft.head()).await?;
        bare(&socket.next().await?, status)?;
    }
    Ok(())
}
