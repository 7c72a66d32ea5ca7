//! The script as a transport.

use std::future::pending;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame};

use super::answer::{Ends, Said, What};
use super::entry::{Entry, Reaction};
use super::{Answer, Script, SeenRequest, State};
use crate::transport::{self, Failure, Transport};

/// What no call tries again, and no service answers.
const UNEXPECTED: u16 = 501;

impl Transport for Script {
    fn send(
        &self,
        request: Request<transport::Body>,
    ) -> BoxFuture<'static, Result<Response<transport::Body>, Failure>> {
        let script = self.clone();
        Box::pin(async move { script.play(request).await })
    }
}

impl Script {
    async fn play(
        self,
        request: Request<transport::Body>,
    ) -> Result<Response<transport::Body>, Failure> {
        let (number, reaction) = self.take(SeenRequest::of(&request));
        if let Reaction::Answer(Answer { what: What::NoConnection, after }) = reaction {
            tokio::time::sleep(after).await;
            return Err(Failure::connecting(of_the_script(io::ErrorKind::ConnectionRefused)));
        }
        let body = request.into_body().collect().await?;
        let seen = self.keep(number, body);
        let Answer { what, after } = match reaction {
            Reaction::Answer(answer) => answer,
            Reaction::Ask(always) => always(&seen),
        };
        tokio::time::sleep(after).await;
        match what {
            What::Said(said) => Ok(incoming(&said)),
            What::NoConnection => {
                Err(Failure::connecting(of_the_script(io::ErrorKind::ConnectionRefused)))
            }
            What::HangUp => Err(Failure::exchanging(of_the_script(io::ErrorKind::ConnectionReset))),
            What::Never => pending().await,
            What::Wrong(text) => {
                let text = format!("the script has an answer to {seen} that is wrong: {text}");
                self.state().unexpected.push(text.clone());
                Ok(unexpected(text))
            }
        }
    }

    /// Notes that a request came, and decides how it is answered.
    fn take(&self, request: SeenRequest) -> (usize, Reaction) {
        let mut state = self.state();
        let mut fitting = state.entries.iter_mut().filter(|entry| entry.fits(&request));
        let reaction = fitting.find_map(Entry::next).unwrap_or_else(|| {
            let text = state.not_expected(&request);
            state.unexpected.push(text.clone());
            Reaction::Answer(Answer::error(UNEXPECTED, text))
        });
        state.seen.push(request);
        (state.seen.len() - 1, reaction)
    }

    fn keep(&self, number: usize, body: Bytes) -> SeenRequest {
        let request = &mut self.state().seen[number];
        request.body = body;
        request.clone()
    }
}

impl State {
    fn not_expected(&self, request: &SeenRequest) -> String {
        let left: Vec<_> = self.entries.iter().filter(|entry| entry.has_more()).collect();
        if left.is_empty() {
            return format!("the script expected nothing more, and not {request}");
        }
        let left: Vec<_> = left.iter().map(ToString::to_string).collect();
        format!("the script did not expect {request}, but {}", left.join(", "))
    }
}

fn of_the_script(kind: io::ErrorKind) -> io::Error {
    io::Error::new(kind, "the script says so")
}

fn unexpected(text: String) -> Response<transport::Body> {
    match Answer::error(UNEXPECTED, text).what {
        What::Said(said) => incoming(&said),
        _ => Response::default(),
    }
}

fn incoming(said: &Said) -> Response<transport::Body> {
    let whole = said.bytes();
    let (at, breaks) = match said.ends {
        Ends::Whole => (whole.len(), None),
        Ends::Broken(at) => (at, Some(true)),
        Ends::Stalled(at) => (at, Some(false)),
    };
    let start = whole.slice(..at.min(whole.len()));
    let mut response = Response::new(match breaks {
        None => transport::Body::full(start),
        Some(breaks) => transport::Body::new(Start { start: Some(start), breaks }),
    });
    // What is no status counts as 500.
    *response.status_mut() =
        StatusCode::from_u16(said.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = said.headers.clone();
    response
}

/// The start of a body, after which the connection breaks or nothing more comes.
struct Start {
    start: Option<Bytes>,
    breaks: bool,
}

impl Body for Start {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        match self.start.take() {
            Some(start) if !start.is_empty() => Poll::Ready(Some(Ok(Frame::data(start)))),
            _ if self.breaks => {
                let broken = of_the_script(io::ErrorKind::UnexpectedEof);
                Poll::Ready(Some(Err(Failure::exchanging(broken))))
            }
            _ => Poll::Pending,
        }
    }
}
