//! Methods in the wrong case, that nobody knows, and the answer to `HEAD`.

use http::Method;

use crate::scenario::{http, reference};
use crate::wire::raw::Received;
use crate::{Case, Failure, Scenario, check, make};

use super::{Site, answered};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    http! { "raw.method.case" ["HT-15"] [HttpOne] case_matters,
        "A method in small letters is another method: it is not carried out" },
    http! { "raw.method.unknown" ["HT-16"] [HttpOne] unknown,
        "Methods nobody knows are refused" },
    http! { "raw.method.override" ["HT-19"] override_ignored,
        "A method in a header does not take the place of the one in the first line" },
    http! { "raw.method.head" ["HT-17"] [HttpOne] head,
        "The answer to HEAD has no body, so that the next answer can be read" },
    reference! { "raw.method.status" ["ER-01"] [HttpOne] status,
        "Unknown methods and those in small letters are 405 (S-61)" },
];

async fn case_matters(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    for method in ["post", "Post", "pOST"] {
        let first = String::from_utf8_lossy(&site.post().head()).into_owned();
        let line = first.lines().next().unwrap_or_default().replacen("POST", method, 1);
        site.refuses(method, &site.post().first(line).json(&site.body())).await?;
    }
    Ok(())
}

async fn unknown(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    for method in ["BREW", "POSTX", "MKCOL", "PROPFIND", "X"] {
        let first = String::from_utf8_lossy(&site.post().head()).into_owned();
        let line = first.lines().next().unwrap_or_default().replacen("POST", method, 1);
        site.refuses(method, &site.post().first(line).json(&site.body())).await?;
    }
    Ok(())
}

async fn override_ignored(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let vault = make::vault(&case, &wire).await?;
    let path = format!("/vaults/{vault}");
    for name in ["x-http-method-override", "x-http-method", "x-method-override"] {
        let call = wire.call(Method::GET, &path).header(name, "DELETE");
        call.send().await?.status_in(200..=499)?;
        check::with_context(name, wire.get(&path).await?.status(200))?;
        let call = wire.call(Method::GET, &format!("{path}?_method=DELETE"));
        call.send().await?.status_in(200..=499)?;
        check::with_context("_method", wire.get(&path).await?.status(200))?;
    }
    Ok(())
}

async fn head(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let mut seen = 0;
    for path in ["/prompts", "/vaults", "/vaults/0"] {
        let mut socket = site.socket().await?;
        socket.send(case.raw_request(&Method::HEAD, path).head()).await?;
        socket.expect_no_body();
        if let Received::Reply(reply) = socket.next().await? {
            reply.ensure(
                reply.status_code() < 500,
                "no fault of the server",
                reply.status_code(),
            )?;
            socket.send(site.get().head()).await?;
            if let Received::Reply(next) = answered(socket.next().await?, &socket)?
                && next.status_code() < 300
            {
                check::with_context("the answer after HEAD", next.equals("/data/id", site.vault))?;
                seen += 1;
            }
        }
    }
    if seen == 0 {
        return Err(Failure::blocked("no connection went on after the answer to HEAD"));
    }
    Ok(())
}

async fn status(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    for method in ["get", "BREW"] {
        let first = String::from_utf8_lossy(&site.get().head()).into_owned();
        let line = first.lines().next().unwrap_or_default().replacen("GET", method, 1);
        let mut socket = site.socket().await?;
        socket.send(site.get().first(line).head()).await?;
        socket.reply().await?.status(405)?;
    }
    Ok(())
}
