//! Paths and queries with escapes, control bytes and what is no UTF-8. An odd
//! spelling may be refused or read as the plain one; it never reaches another thing.

use http::Method;

use crate::scenario::{http, reference};
use crate::wire::raw::{Received, Socket};
use crate::{Case, Failure, Scenario, check, make};

use super::{answered, refused};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    http! { "raw.path.odd-spelling" ["HT-24"] [HttpOne] odd_spelling,
        "An oddly spelt path is refused or read as the plain one" },
    reference! { "raw.path.no-other-thing" ["VA-26"] [HttpOne] no_other_thing,
        "DELETE with something behind the id deletes nothing" },
    reference! { "raw.query.no-text" ["PG-04", "PR-17", "PR-18"] [HttpOne] no_text,
        "Queries that are no UTF-8 or escape nothing are out of range where there is a range" },
    http! { "raw.query.odd-cursor" ["HT-24"] [HttpOne] odd_cursor,
        "A cursor of odd bytes brings no fault of the server" },
    reference! { "raw.path.as-written" ["HT-24"] [HttpOne] as_written,
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

async fn ask(case: &Case, method: Method, path: &str) -> Result<(Received, Socket), Failure> {
    let mut socket = case.socket().await?;
    socket.send(case.raw_request(&method, path).head()).await?;
    let heard = socket.next().await?;
    Ok((heard, socket))
}

async fn odd_spelling(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    for path in spellings(vault) {
        let (heard, socket) = ask(&case, Method::GET, &path).await?;
        // Some servers send a client on to the plain spelling.
        if matches!(&heard, Received::Reply(reply) if matches!(reply.status_code(), 301 | 307 | 308))
        {
            continue;
        }
        if let Received::Reply(reply) = check::with_context(&path, answered(heard, &socket))?
            && reply.status_code() < 300
        {
            check::with_context(&path, reply.equals("/data/id", vault))?;
        }
    }
    Ok(())
}

async fn no_other_thing(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    for behind in
        ["%00", "%", "%zz", "%ff", "%0d%0a", "%2f", "%2fprompts", "%3f", ".0", "e0", ",1", "%c0%80"]
    {
        let path = format!("/vaults/{vault}{behind}");
        let (heard, socket) = ask(&case, Method::DELETE, &path).await?;
        check::with_context(&path, refused(heard, &socket))?;
        check::with_context(&path, wire.get(&format!("/vaults/{vault}")).await?.status(200))?;
    }
    Ok(())
}

const NO_TEXT: [&str; 6] = ["%ff", "%c3%28", "%ed%a0%80", "%", "%zz", "%00"];

async fn no_text(case: Case) -> Result<(), Failure> {
    for (field, value) in [("limit", "5"), ("vaultId", "1"), ("type", "text")] {
        for odd in NO_TEXT {
            let path = format!("/prompts?{field}={value}{odd}");
            let (heard, socket) = ask(&case, Method::GET, &path).await?;
            check::with_context(&path, refused(heard, &socket))?;
        }
    }
    case.wire().get("/prompts?limit=1").await?.status(200).map(drop)
}

async fn odd_cursor(case: Case) -> Result<(), Failure> {
    // A target that refuses everything proves nothing.
    case.wire().get("/prompts?limit=1").await?.status(200)?.array("/data")?;
    for odd in
        NO_TEXT.into_iter().chain(["", "%20", "a%00b", "%f0%9f%98%80", "..%2f..", "'%22%3b--"])
    {
        let path = format!("/prompts?limit=1&cursor={odd}");
        let (heard, socket) = ask(&case, Method::GET, &path).await?;
        check::with_context(&path, answered(heard, &socket))?;
    }
    Ok(())
}

async fn as_written(case: Case) -> Result<(), Failure> {
    let vault = make::vault(&case, &case.wire()).await?;
    for path in spellings(vault) {
        let (heard, _) = ask(&case, Method::GET, &path).await?;
        check::with_context(&path, super::said(heard)?.status(404))?;
    }
    Ok(())
}
