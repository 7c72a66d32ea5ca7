//! Paths and queries with escapes, control bytes and what is no UTF-8. An odd spelling may be
//! refused or read as the plain one; it never reaches another resource.

use http::Method;

use crate::scenario::{http, reference};
use crate::wire::raw::Received;
use crate::{Case, Failure, Scenario, check};

use super::Expect::{Answered, Refused, Status};
use super::{Fixture, Sample, answered, each, sample};

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
    reference! { "raw.path.as-written" ["HT-24"] [HttpOne]
        |case| each(case, Status(404), |fixture| gets(fixture, spellings(fixture.vault))),
        "An escaped path is not read as the plain one, in names, ids and slashes: 404 (S-80)" },
];

fn spellings(vault: i64) -> Vec<String> {
    let digits = vault.to_string();
    let (first, rest) = digits.split_at(1);
    vec![
        format!("/%76aults/{vault}"),
        format!("/vaults%2f{vault}"),
        format!("/vaults%2F{vault}"),
        format!("/vaults/%3{first}{rest}"),
        format!("/./vaults/{vault}"),
        format!("/vaults/../vaults/{vault}"),
        format!("/vaults/%2e%2e/vaults/{vault}"),
        format!("/%2e%2e/v1/vaults/{vault}"),
        format!("/vaults/{vault}/."),
        format!("/vaults\\{vault}"),
        format!("/vaults/{vault};a=b"),
        format!("/vaults/{vault}%20"),
        format!("/vaults/+{vault}"),
        format!("/vaults/0{vault}"),
    ]
}

fn gets(fixture: &Fixture, paths: impl IntoIterator<Item = String>) -> Vec<Sample> {
    let get = |path: &str| fixture.case.raw_request(&Method::GET, path).head();
    paths.into_iter().map(|path| sample(path.as_str(), get(&path))).collect()
}

async fn odd_spelling(case: Case) -> Result<(), Failure> {
    let fixture = Fixture::new(&case).await?;
    for (path, request) in gets(&fixture, spellings(fixture.vault)) {
        let received = fixture.send(request).await?.next().await?;
        let status = |received: &Received| match received {
            Received::Response(reply) => reply.status_code(),
            Received::Closed => 0,
        };
        // Some servers send a client on to the plain spelling.
        if matches!(status(&received), 301 | 307 | 308) {
            continue;
        }
        if let Received::Response(reply) = check::with_context(&path, answered(received))?
            && reply.status_code() < 300
        {
            check::with_context(&path, reply.equals("/data/id", fixture.vault))?;
        }
    }
    Ok(())
}

async fn no_other_thing(case: Case) -> Result<(), Failure> {
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

async fn no_text(case: Case) -> Result<(), Failure> {
    let queries = |fixture: &Fixture| {
        let fields = ["limit=5", "vaultId=1", "type=text"].into_iter();
        let with_each = |field| NO_TEXT.map(|odd| format!("/prompts?{field}{odd}"));
        gets(fixture, fields.flat_map(with_each))
    };
    each(case.clone(), Refused, queries).await?;
    case.wire().get("/prompts?limit=1").await?.status(200).map(drop)
}

async fn odd_cursor(case: Case) -> Result<(), Failure> {
    // A target that refuses everything proves nothing.
    case.wire().get("/prompts?limit=1").await?.status(200)?.array("/data")?;
    let cursors = |fixture: &Fixture| {
        let others = ["", "%20", "a%00b", "%f0%9f%98%80", "..%2f..", "'%22%3b--"];
        let cursors = NO_TEXT.into_iter().chain(others);
        gets(fixture, cursors.map(|odd| format!("/prompts?limit=1&cursor={odd}")))
    };
    each(case, Answered, cursors).await
}
