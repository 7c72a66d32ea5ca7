//! The way to a server with a fault in front of it. What the fault does not look
//! at is handed to the service as it came, byte for byte and piece by piece; what
//! it looks at goes to the same service over a second connection.

use std::fmt::Display;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, Method};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use promptarium_server::test_support::{self, ApiService, HttpService, ResponseBody};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::exchange::{ROOT, Request, Response, ids_of};
use crate::fault::Intercept;
use crate::front::Front;
use crate::heads;

/// How long a connection to the good server may lie unused: given up long before
/// that server closes it, for a request that meets the closing has no answer.
const IDLE: Duration = Duration::from_secs(4);
/// Where uploads go.
const STORAGE: &str = "/storage/";

/// The good server behind a fault.
#[derive(Clone)]
pub(crate) struct Upstream {
    address: SocketAddr,
    client: Client<HttpConnector, Full<Bytes>>,
}

#[derive(Clone)]
struct Door {
    app: Arc<ApiService>,
    /// What looks at requests, and where it sends them.
    front: Option<(Front, Upstream)>,
}

/// Listeners at work until this is dropped.
pub(crate) struct Serving(Vec<JoinHandle<()>>);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

/// Serves the app on `listener`, past what stands before it.
///
/// # Errors
/// If there is no port for the second way in.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Arc<ApiService>,
    how: Option<Intercept>,
) -> io::Result<Serving> {
    let (reread, silent_max) = match how {
        None => return Ok(Serving(vec![listen(listener, Door { app, front: None })])),
        Some(Intercept::Stream(reread)) => (reread, usize::MAX),
        Some(Intercept::Silent(max)) => (heads::first_head(Arc::new(|_| ())), max),
        Some(Intercept::Front(front)) => {
            let (address, behind) = behind(Arc::clone(&app)).await?;
            let client = Client::builder(TokioExecutor::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(IDLE)
                .build_http();
            let front = Some((front, Upstream { address, client }));
            return Ok(Serving(vec![behind, listen(listener, Door { app, front })]));
        }
    };
    let (address, behind) = behind(app).await?;
    let heads = heads::pass_on(listener, address, reread, silent_max);
    Ok(Serving(vec![behind, tokio::spawn(heads)]))
}

/// A second way in, that nobody but a fault uses.
async fn behind(app: Arc<ApiService>) -> io::Result<(SocketAddr, JoinHandle<()>)> {
    let inner = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = inner.local_addr()?;
    Ok((address, listen(inner, Door { app, front: None })))
}

fn listen(listener: TcpListener, door: Door) -> JoinHandle<()> {
    let (limits, quotas) = Default::default();
    tokio::spawn(async move {
        test_support::serve(listener, door, limits, quotas, std::future::pending()).await;
    })
}

impl HttpService for Door {
    async fn handle(
        &self,
        parts: &Parts,
        body: &mut Incoming,
        peer: IpAddr,
    ) -> test_support::Response {
        let (of_api, path) = below_root(parts.uri.path());
        let Some((front, upstream)) = &self.front else {
            return self.app.handle(parts, body, peer).await;
        };
        // A body of unknown length may be there to come slowly, or never to end, but
        // where files go it is a file in pieces.
        let whole = body.size_hint().exact().is_some() || path.starts_with(STORAGE);
        // The client below would put in a Host of its own.
        let whole = whole && parts.headers.get_all(HOST).iter().count() == 1;
        if !whole || parts.method == Method::HEAD || !front.looks_at(&parts.method, &path) {
            return self.app.handle(parts, body, peer).await;
        }
        let Ok(body) = body.collect().await else {
            return reply(Response::refusal(400, "The body broke off."));
        };
        let query = parts.uri.query().map(str::to_owned);
        let (method, headers) = (parts.method.clone(), parts.headers.clone());
        let body = body.to_bytes();
        let request = Request { method, path, of_api, query, headers, body };
        reply(front.respond(request, upstream.clone()).await)
    }
}

fn below_root(path: &str) -> (bool, String) {
    match path.strip_prefix(ROOT) {
        Some(below) => (true, below.to_owned()),
        None => (false, path.to_owned()),
    }
}

fn reply(response: Response) -> test_support::Response {
    let mut reply = test_support::Response::new(ResponseBody::Left(response.body.into()));
    *reply.status_mut() = response.status;
    *reply.headers_mut() = of_the_message(response.headers);
    reply
}

/// The headers without those that belong to one connection.
fn of_the_message(mut headers: HeaderMap) -> HeaderMap {
    for name in [CONNECTION, CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING] {
        headers.remove(name);
    }
    headers
}

impl Upstream {
    /// What the caller of `request` finds at another path.
    pub(crate) async fn get(&self, request: &Request, path: impl Into<String>) -> Response {
        self.send(&request.another(Method::GET, path)).await
    }

    /// The entries of a vault.
    pub(crate) async fn members(&self, request: &Request, vault: impl Display) -> Vec<Value> {
        self.list(request, format!("/vaults/{vault}/prompts")).await
    }

    /// Takes a prompt out of those of its vaults for which `from` holds.
    pub(crate) async fn take_out(
        &self,
        request: &Request,
        prompt: &Value,
        from: impl Fn(i64) -> bool,
    ) {
        let shown = self.get(request, format!("/prompts/{prompt}")).await.json();
        for vault in ids_of(&shown["data"], "vaultIds").into_iter().filter(|vault| from(*vault)) {
            for member in self.members(request, vault).await.iter().filter(|m| m["id"] == *prompt) {
                let id = &member["vaultPromptId"];
                self.delete(request, format!("/vaults/{vault}/prompts/{id}")).await;
            }
        }
    }

    /// The entries that the caller of `request` finds listed at another path.
    pub(crate) async fn list(&self, request: &Request, path: impl Into<String>) -> Vec<Value> {
        let listed = self.get(request, path).await.json();
        listed["data"].as_array().cloned().unwrap_or_default()
    }

    /// Deletes what is at another path.
    pub(crate) async fn delete(&self, request: &Request, path: impl Into<String>) -> Response {
        self.send(&request.another(Method::DELETE, path)).await
    }

    /// Sends an update of what is at another path.
    pub(crate) async fn patch(
        &self,
        request: &Request,
        path: impl Into<String>,
        body: &Value,
    ) -> Response {
        self.send(&request.another_with(Method::PATCH, path, body)).await
    }

    /// Sends a body to another path.
    pub(crate) async fn post(
        &self,
        request: &Request,
        path: impl Into<String>,
        body: &Value,
    ) -> Response {
        self.send(&request.another_with(Method::POST, path, body)).await
    }

    /// The good server's response.
    pub(crate) async fn send(&self, request: &Request) -> Response {
        match self.exchange(request).await {
            Ok(response) => response,
            // No scenario expects that, and nobody takes it for the server's.
            Err(error) => Response::refusal(599, &format!("the proxy has no response: {error}")),
        }
    }

    async fn exchange(
        &self,
        request: &Request,
    ) -> Result<Response, Box<dyn std::error::Error + Send + Sync>> {
        let root = if request.of_api { ROOT } else { "" };
        let query = request.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        let uri = format!("http://{}{root}{}{query}", self.address, request.path);
        let mut sent = http::Request::new(Full::new(request.body.clone()));
        *sent.method_mut() = request.method.clone();
        *sent.uri_mut() = uri.parse()?;
        *sent.headers_mut() = of_the_message(request.headers.clone());
        let (parts, body) = self.client.request(sent).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok(Response { status: parts.status, headers: parts.headers, body })
    }
}
