//! Requests that no HTTP client would send, byte by byte. What HTTP leaves to the
//! server is open here too; what no server may do is carry out a request it should
//! refuse, answer twice, answer with a fault of its own, or stop serving others.

mod bodies;
mod chunks;
mod head;
mod host;
mod json;
mod lengths;
mod methods;
mod pace;
mod place;
mod sizes;

use std::time::Duration;

use http::Method;
use serde_json::json;

use crate::ledger::Resource;
use crate::target::Auth;
use crate::wire::Reply;
use crate::wire::raw::{RawRequest, Received, Socket};
use crate::{Case, Failure, Scenario, check, make};

pub(super) const ALL: &[&[Scenario]] = &[
    lengths::ALL,
    chunks::ALL,
    bodies::ALL,
    head::ALL,
    host::ALL,
    sizes::ALL,
    place::ALL,
    methods::ALL,
    pace::ALL,
    json::ALL,
];

/// A vault of this scenario's own that prompts are made in, so that whatever a
/// request makes, asked for or not, is found there and deleted.
struct Site {
    case: Case,
    vault: i64,
}

impl Site {
    async fn new(case: &Case) -> Result<Self, Failure> {
        let vault = make::vault(case, &case.wire()).await?;
        case.track(&Auth::Main, Resource::Fork(vault));
        Ok(Self { case: case.clone(), vault })
    }

    /// The body that makes one prompt in the vault.
    fn body(&self) -> String {
        let title = self.case.name("prompt");
        json!({ "title": title, "prompt": "A lighthouse", "vaultId": self.vault }).to_string()
    }

    /// A request that makes a prompt, still without its body.
    fn post(&self) -> RawRequest {
        self.case.raw_request(&Method::POST, "/prompts")
    }

    /// The same with a body of JSON that is still to be framed.
    fn typed(&self) -> RawRequest {
        self.post().line("Content-Type: application/json")
    }

    /// A request that reads the vault.
    fn get(&self) -> RawRequest {
        self.case.raw_request(&Method::GET, &format!("/vaults/{}", self.vault))
    }

    /// How many prompts were made, asked on a connection that has seen nothing odd.
    async fn made(&self) -> Result<usize, Failure> {
        Ok(make::contents(&self.case.wire(), self.vault).await?.len())
    }

    async fn socket(&self) -> Result<Socket, Failure> {
        self.case.socket().await
    }

    /// Sends the request on a connection of its own; it must not be carried out, nor
    /// whatever could be taken for a second one in it.
    async fn refuses(&self, what: &str, bytes: &[u8]) -> Result<Received, Failure> {
        let mut socket = self.socket().await?;
        socket.send(bytes).await?;
        let heard = check::with_context(what, refused(socket.next().await?, &socket))?;
        check::with_context(what, over(socket).await)?;
        check::with_context(what, self.is_empty().await)?;
        Ok(heard)
    }

    async fn is_empty(&self) -> Result<(), Failure> {
        check::equal("the number of prompts that were made", &self.made().await?, &0)
    }
}

/// Carries an attempt out on a site of its own, again if the target was busy: a
/// socket sends nothing twice by itself (S-62).
async fn served<F>(case: &Case, attempt: impl Fn(Site) -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
{
    for pause in [100, 400, 1600] {
        match attempt(Site::new(case).await?).await {
            Err(failure) if failure.got.contains("status 429") => {
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
            ended => return ended,
        }
    }
    attempt(Site::new(case).await?).await
}

/// Refused, by an answer that puts it on the request or without one.
fn refused(heard: Received, socket: &Socket) -> Result<Received, Failure> {
    match &heard {
        Received::Closed => {}
        Received::Reply(reply) if is_refusal(reply.status_code()) => {}
        Received::Reply(reply) => {
            let got = format!("status {}", reply.status_code());
            return Err(socket.failure("a status of 400 to 499 or the end of the connection", got));
        }
    }
    Ok(heard)
}

/// 4xx, and the two of the 5xx that say the request asks for what is not spoken here.
fn is_refusal(status: u16) -> bool {
    matches!(status, 400..=499 | 501 | 505)
}

/// Carried out or refused: any answer that is no fault of the server.
fn answered(heard: Received, socket: &Socket) -> Result<Received, Failure> {
    match &heard {
        Received::Reply(reply) if (200..300).contains(&reply.status_code()) => Ok(heard),
        _ => refused(heard, socket),
    }
}

/// Nothing more is carried out on this connection.
async fn over(mut socket: Socket) -> Result<(), Failure> {
    socket.finish().await;
    loop {
        match socket.next().await? {
            Received::Closed => return Ok(()),
            heard => refused(heard, &socket)?,
        };
    }
}

/// What the reference server says where a connection tells nothing else: this
/// status, and then the end. hyper writes such an answer, without a body.
fn bare(heard: &Received, status: u16) -> Result<(), Failure> {
    match heard {
        Received::Reply(reply) => {
            reply.status(status)?;
            reply.ensure(reply.body().is_empty(), "no body", "one").map(drop)
        }
        Received::Closed => Err(Failure::failed(format!("status {status}"), "the end")),
    }
}

/// The answer, which must be there.
fn said(heard: Received) -> Result<Reply, Failure> {
    match heard {
        Received::Reply(reply) => Ok(reply),
        Received::Closed => Err(Failure::failed("an answer", "the end of the connection")),
    }
}

/// A body in one chunk.
fn chunked(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}

/// Head and body one after the other.
fn with(head: &RawRequest, body: impl AsRef<[u8]>) -> Vec<u8> {
    [head.head(), body.as_ref().to_vec()].concat()
}
