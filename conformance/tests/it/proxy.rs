//! A proxy before a server, which may change paths on their way in and statuses
//! on their way out.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use http_body_util::{Either, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::header::HOST;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Version};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

/// What a proxy changes.
#[derive(Clone, Copy)]
pub(crate) struct Changes {
    /// Taken away from the beginning of each path; other paths are not found.
    pub(crate) prefix: &'static str,
    /// Whether the server has a path; others are not found.
    pub(crate) has: fn(&str) -> bool,
    /// The status of an answer.
    pub(crate) status: fn(&Method, &str, StatusCode) -> StatusCode,
}

/// A body that came from the server, or none.
type Body = Either<Incoming, Empty<Bytes>>;

/// Passes what comes in on to `to`, for as long as the test's runtime lives.
pub(crate) fn forward(listener: TcpListener, to: SocketAddr, changes: Changes) {
    let client: Arc<Client<HttpConnector, Incoming>> =
        Arc::new(Client::builder(TokioExecutor::new()).build_http());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let client = Arc::clone(&client);
            let service =
                service_fn(move |request| pass(Arc::clone(&client), request, to, changes));
            let http = hyper::server::conn::http1::Builder::new();
            tokio::spawn(http.serve_connection(TokioIo::new(stream), service));
        }
    });
}

async fn pass(
    client: Arc<Client<HttpConnector, Incoming>>,
    mut request: Request<Incoming>,
    to: SocketAddr,
    changes: Changes,
) -> Result<Response<Body>, Infallible> {
    // A proxy is a party of its own: what HTTP tells it to refuse never gets through.
    let hosts = request.headers().get_all(HOST).iter().count();
    if request.version() == Version::HTTP_11 && hosts != 1 {
        return Ok(empty(StatusCode::BAD_REQUEST));
    }
    let whole = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let path = whole.strip_prefix(changes.prefix).filter(|path| (changes.has)(path));
    let Some(path) = path else {
        return Ok(empty(StatusCode::NOT_FOUND));
    };
    let method = request.method().clone();
    *request.uri_mut() = format!("http://{to}{path}").parse().unwrap();
    let Ok(mut answer) = client.request(request).await else {
        // The server is there for as long as the test; what broke off is the request.
        return Ok(empty(StatusCode::BAD_REQUEST));
    };
    *answer.status_mut() = (changes.status)(&method, path, answer.status());
    Ok(answer.map(Either::Left))
}

/// An answer of the proxy's own.
fn empty(status: StatusCode) -> Response<Body> {
    let mut answer = Response::new(Either::Right(Empty::new()));
    *answer.status_mut() = status;
    answer
}
