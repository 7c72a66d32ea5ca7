//! What the scenarios of this folder share: requests that no HTTP client would send, byte by byte,
//! and what must become of each of them. None may be carried out that should be refused, answered
//! twice or with a server error, or keep others from being served.

use std::fmt::Display;

pub(crate) use crate::prelude::*;
pub(crate) use crate::socket::{RawRequest, Received, Socket};

/// A request as it is sent, and what a failure calls it.
pub(crate) type Sample = (String, Vec<u8>);

#[derive(Clone, Copy)]
pub(crate) enum Expect {
    /// Refused by a status or by the end of the connection. Nothing is created, also not by what
    /// could be taken for a second request in it.
    Refused,
    /// It breaks off, and nothing is created.
    Ignored,
    Status(u16),
    /// Refused by a response that passes this check.
    RefusedBy(fn(&ApiResponse) -> Result),
}

/// A request for each of these values, which is also its name.
pub(crate) fn samples<V: Display>(
    values: impl IntoIterator<Item = V>,
    request: impl Fn(&V) -> Vec<u8>,
) -> Vec<Sample> {
    let sample = |value: V| (value.to_string().escape_debug().to_string(), request(&value));
    values.into_iter().map(sample).collect()
}

/// Sends each request on a connection of its own. Others are served after each of them.
pub(crate) async fn each(
    case: Case,
    expect: Expect,
    requests: fn(&Fixture) -> Vec<Sample>,
) -> Result {
    let fixture = Fixture::new(&case).await?;
    for (what, bytes) in requests(&fixture) {
        check::with_context(what, fixture.check(expect, &bytes).await)?;
        fixture.created().await?;
    }
    Ok(())
}

/// A vault of this scenario's own that prompts are created in, so that whatever a request
/// creates, asked for or not, is found there and deleted.
pub(crate) struct Fixture {
    pub(crate) case: Case,
    pub(crate) vault: i64,
    /// JSON that creates a prompt in the vault.
    pub(crate) body: String,
}

impl Fixture {
    pub(crate) async fn new(case: &Case) -> Result<Self> {
        let vault = case.vault().await?.id;
        case.adopt_vault(vault);
        let title = case.name("prompt");
        let body = json!({ "title": title, "prompt": "A lighthouse", "vaultId": vault });
        Ok(Self { case: case.clone(), vault, body: body.to_string() })
    }

    /// A request that creates a prompt, still without its body.
    pub(crate) fn post(&self) -> RawRequest {
        RawRequest::new(&self.case, &Method::POST, "/prompts")
    }

    /// The same with a JSON body that still needs a length or chunks.
    pub(crate) fn typed(&self) -> RawRequest {
        self.post().line("Content-Type: application/json")
    }

    pub(crate) fn whole_post(&self) -> Vec<u8> {
        self.post().json(&self.body)
    }

    pub(crate) fn get(&self) -> RawRequest {
        self.request(&Method::GET, &format!("/vaults/{}", self.vault))
    }

    pub(crate) fn request(&self, method: &Method, path: &str) -> RawRequest {
        RawRequest::new(&self.case, method, path)
    }

    /// How many prompts were created, asked on a connection that has seen nothing odd.
    pub(crate) async fn created(&self) -> Result<usize> {
        Ok(self.case.vault_at(self.vault).members().await?.len())
    }

    pub(crate) async fn has_created(&self, expected: usize) -> Result {
        check::equal("the number of prompts created", &self.created().await?, &expected)
    }

    pub(crate) async fn send(&self, bytes: impl AsRef<[u8]>) -> Result<Socket> {
        let mut socket = Socket::open(&self.case).await?;
        socket.send(bytes).await?;
        Ok(socket)
    }

    pub(crate) async fn check(&self, expect: Expect, bytes: &[u8]) -> Result {
        let mut socket = self.send(bytes).await?;
        match expect {
            Expect::Ignored => {}
            Expect::Status(status) => return socket.response().await?.status(status).map(drop),
            Expect::Refused => refused(socket.next().await?)?,
            Expect::RefusedBy(check) => check(&socket.response().await?)?,
        }
        nothing_follows(socket).await?;
        self.has_created(0).await
    }
}

/// Refused, by a response that says so or without one.
fn refused(received: Received) -> Result {
    match received {
        Received::Response(reply) => reply.status_in(400..=499).map(drop),
        Received::Closed => Ok(()),
    }
}

/// Nothing more is carried out on this connection.
pub(crate) async fn nothing_follows(mut socket: Socket) -> Result {
    socket.finish().await;
    loop {
        match socket.next().await? {
            Received::Closed => return Ok(()),
            response => refused(response)?,
        }
    }
}
