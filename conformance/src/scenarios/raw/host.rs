//! Whom a request is meant for: `Host`, whole addresses in the first line, and
//! versions of HTTP (RFC 9112, sections 2.3 and 3.2).

use std::time::Duration;

use http::Method;
use tokio::time::timeout;

use crate::scenario::{http, reference};
use crate::wire::raw::{RawRequest, Received};
use crate::{Case, Failure, Scenario, check};

use super::{Site, answered, over, served};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    http! { "raw.host.missing" ["HT-10"] [HttpOne] missing,
        "An HTTP/1.1 request without Host is not carried out" },
    http! { "raw.host.two" ["HT-10"] [HttpOne] two,
        "A request with two Host headers is not carried out" },
    http! { "raw.host.no-host" ["HT-10"] [HttpOne] no_host,
        "A request whose Host cannot be one is not carried out" },
    http! { "raw.host.absolute" ["HT-11"] [HttpOne] absolute,
        "A first line with the whole address is read as the path alone" },
    http! { "raw.host.http-1-0" ["HT-12"] [HttpOne] http_1_0,
        "HTTP/1.0 is answered, and the connection ends with the answer unless it was asked to \
         stay" },
    reference! { "raw.host.status" ["HT-10", "ER-01"] [HttpOne] status,
        "No Host, two and a faulty one are 400 with the error body; HTTP/1.0 needs none (S-80)" },
];

/// How soon a connection ends on which nothing is expected any more. Servers give those
/// that may go on more than this.
const ENDS: Duration = Duration::from_secs(5);

const FAULTY: [&str; 4] = ["Host: a b", "Host: a/b", "Host: [::1", "Host: a@b:1"];

fn first_line(draft: &RawRequest) -> String {
    let head = draft.head();
    let end = head.iter().position(|byte| *byte == b'\r').unwrap_or(head.len());
    String::from_utf8_lossy(&head[..end]).into_owned()
}

async fn missing(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    site.refuses("no Host", &site.post().without("Host").json(&site.body())).await.map(drop)
}

async fn two(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let request = site.post().line("Host: other.example").json(&site.body());
    site.refuses("two Hosts", &request).await.map(drop)
}

async fn no_host(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    for line in FAULTY {
        let request = site.post().without("Host").line(line).json(&site.body());
        site.refuses(line, &request).await?;
    }
    Ok(())
}

async fn absolute(case: Case) -> Result<(), Failure> {
    served(&case, whole_address).await
}

async fn whole_address(site: Site) -> Result<(), Failure> {
    let base = site.case.target().base_url();
    let line = format!("GET {base}/vaults/{} HTTP/1.1", site.vault);
    let mut socket = site.socket().await?;
    socket.send(site.get().first(line).head()).await?;
    socket.reply().await?.status(200)?.equals("/data/id", site.vault).map(drop)
}

async fn http_1_0(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let line = first_line(&site.get()).replace("HTTP/1.1", "HTTP/1.0");
    let mut socket = site.socket().await?;
    socket.send(site.get().first(line).head()).await?;
    if let Received::Reply(reply) = answered(socket.next().await?, &socket)? {
        let told = reply.headers().get("transfer-encoding").is_none();
        reply.ensure(told, "no chunks in an answer to HTTP/1.0", "chunks")?;
        match timeout(case.scaled(ENDS), socket.next()).await {
            Ok(Ok(Received::Closed)) => {}
            Ok(Ok(Received::Reply(second))) => {
                return Err(second.failure("one answer", "a second one"));
            }
            Ok(Err(failure)) => return Err(failure),
            Err(_) => return Err(reply.failure("the end of the connection", "it stays open")),
        }
    }
    Ok(())
}

async fn status(case: Case) -> Result<(), Failure> {
    let site = Site::new(&case).await?;
    let faulty = FAULTY.map(|line| site.get().without("Host").line(line));
    let others = [site.get().without("Host"), site.get().line("Host: other.example")];
    for draft in faulty.into_iter().chain(others) {
        let mut socket = site.socket().await?;
        socket.send(draft.head()).await?;
        let reply = socket.reply().await?;
        let named = reply.status(400)?.string("/error")?.contains("Host");
        check::ensure(named, "a text that names Host", "another")?;
        over(socket).await?;
    }
    let line = first_line(&site.get()).replace("HTTP/1.1", "HTTP/1.0");
    let old = case.raw_request(&Method::GET, "").first(line).without("Host");
    let mut socket = site.socket().await?;
    socket.send(old.head()).await?;
    socket.reply().await?.status(200).map(drop)
}
