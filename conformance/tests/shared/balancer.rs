//! A balancer of a few lines: each request goes to the next replica, whatever
//! connection it came on, so that no two requests in a row meet the same one.
//!
//! It changes nothing on the way but what [`Changes`] says. Bodies stream in both directions,
//! every header stays as it is, `Host` among them.

use std::convert::Infallible;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::{Method, Request, Response, StatusCode, Uri, Version};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// An idle connection is given up long before a replica closes it: a request that
/// meets the closing would look like a fault of the replica.
const IDLE: Duration = Duration::from_secs(4);

#[derive(Clone, Copy)]
pub(crate) struct Changes {
    /// Path and query as the replicas get them; without one nothing is found.
    pub(crate) path: fn(&str) -> Option<&str>,
    pub(crate) status: fn(&Method, &str, StatusCode) -> StatusCode,
}

impl Changes {
    pub(crate) const NONE: Self = Self { path: |path| Some(path), status: |_, _, status| status };
}

/// A bound socket that forwards nothing yet: replicas must be told its address
/// before they start.
pub(crate) struct Socket(TcpListener);

/// A balancer at work, until it is dropped.
pub(crate) type Balancer = JoinSet<()>;

struct Round {
    replicas: Vec<SocketAddr>,
    turn: AtomicUsize,
    client: Client<HttpConnector, Incoming>,
    changes: Changes,
}

type Body = BoxBody<Bytes, hyper::Error>;

impl Socket {
    pub(crate) async fn bind() -> std::io::Result<Self> {
        TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.map(Self)
    }

    /// Such as `http://127.0.0.1:40123`.
    pub(crate) fn url(&self) -> std::io::Result<String> {
        Ok(format!("http://{}", self.0.local_addr()?))
    }

    /// Forwards to the replicas at these addresses, which share the requests.
    pub(crate) fn forward_to(self, replicas: &[SocketAddr], changes: Changes) -> Balancer {
        let mut client = Client::builder(TokioExecutor::new());
        let client = client.pool_idle_timeout(IDLE).pool_timer(TokioTimer::new()).build_http();
        let (replicas, turn) = (replicas.to_vec(), AtomicUsize::new(0));
        let round = Arc::new(Round { replicas, turn, client, changes });
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = self.0.accept().await {
                connections.spawn(serve(stream, Arc::clone(&round)));
                while connections.try_join_next().is_some() {}
            }
        });
        serving
    }
}

async fn serve(stream: TcpStream, round: Arc<Round>) {
    let forward = service_fn(|request| async { Ok::<_, Infallible>(round.forward(request).await) });
    // How a connection ends is between the scenario and its replica.
    let mut connection = http1::Builder::new();
    let _ =
        connection.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), forward).await;
}

impl Round {
    async fn forward(&self, mut request: Request<Incoming>) -> Response<Body> {
        let hosts = request.headers().get_all(HOST).iter().count();
        if request.version() == Version::HTTP_11 && hosts != 1 {
            // Else the client below would put in one of its own.
            return of_its_own(StatusCode::BAD_REQUEST, &"not one Host");
        }
        let whole = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let Some(path) = (self.changes.path)(&whole) else {
            return of_its_own(StatusCode::NOT_FOUND, &"no such path");
        };
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % self.replicas.len();
        let method = request.method().clone();
        let uri = Uri::builder().scheme("http").authority(self.replicas[turn].to_string());
        match uri.path_and_query(path).build() {
            Ok(uri) => *request.uri_mut() = uri,
            Err(error) => return of_its_own(StatusCode::BAD_REQUEST, &error),
        }
        match self.client.request(request).await {
            Ok(mut answer) => {
                *answer.status_mut() = (self.changes.status)(&method, path, answer.status());
                answer.map(BodyExt::boxed)
            }
            // The body broke off or was no body: that is the fault of the one who sent it.
            Err(error) if is_of_the_body(&error) => of_its_own(StatusCode::BAD_REQUEST, &error),
            Err(error) => of_its_own(StatusCode::BAD_GATEWAY, &error),
        }
    }
}

/// What was forwarded broke: then it is no fault of a replica.
fn is_of_the_body(error: &(dyn std::error::Error + 'static)) -> bool {
    let own = error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_user);
    own || error.source().is_some_and(is_of_the_body)
}

/// Says in its body who is speaking, so that nobody looks for it in a replica.
fn of_its_own(status: StatusCode, error: &dyn fmt::Debug) -> Response<Body> {
    let text = format!("the balancer of the test has no answer: {error:?}");
    let json = json!({ "data": null, "error": text, "details": { "body": "broke off" } });
    let body = Full::from(json.to_string()).map_err(|never| match never {}).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}
