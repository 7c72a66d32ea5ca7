//! How clients reach the server, and how it notices changes of the library.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, BoxStream, StreamExt as _};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use promptarium::{Page, Prompt, PromptId, Timestamp};
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio_pipes};
use tokio::net::TcpListener;
use tokio::time::sleep;

use super::Library;
use crate::failure::{FAILED, Failure, Result, USAGE};
use crate::output::note;

/// Serves the client that started this program, until it closes standard input.
pub(super) async fn stdio(library: Library) -> Result {
    let failed = |error: &dyn Error| Failure::new(FAILED, format!("MCP: {error}"));
    match library.serve(stdio_pipes()).await {
        Ok(running) => running.waiting().await.map(drop).map_err(|error| failed(&error)),
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(failed(&error)),
    }
}

/// Serves clients of this machine. A page of another origin in a browser is refused.
pub(super) async fn http(library: Library, address: SocketAddr) -> Result {
    if !address.ip().is_loopback() {
        let text = format!("--http: {address} is not a loopback address");
        return Err(Failure::new(USAGE, text)
            .hint("use 127.0.0.1:PORT; whoever reaches it has your key's rights"));
    }
    let failed = |error| Failure::new(FAILED, format!("--http: {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
    let config = StreamableHttpServerConfig::default().with_allowed_origins(origins);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(library.clone()), sessions, config);
    let address = listener.local_addr()?;
    note(format!("MCP at http://{address}/mcp, for this machine only; Ctrl-C stops it"));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // The client has gone, or there are too many connections for now.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        // An event waits for no acknowledgement of the one before.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let connection = auto::Builder::new(TokioExecutor::new());
            // A connection that breaks is the client's affair.
            let _ = connection.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

type State = Vec<(PromptId, Timestamp)>;

impl Library {
    /// If changes of the prompts that are offered are watched: whether there is one, each time that
    /// they were looked at. The longer there is none the longer it waits, up to eight times the
    /// interval.
    pub(super) fn changes(&self) -> Option<BoxStream<'static, bool>> {
        let interval = Duration::from_secs(self.options.watch?.into());
        let look = move |(library, wait, seen): (Self, Duration, Option<State>)| async move {
            sleep(wait).await;
            let page = library.offered(None).await.ok();
            let ids =
                |page: Page<Prompt>| page.items.iter().map(|it| (it.id, it.updated_at)).collect();
            let state = page.map(ids);
            let has_changed = seen.is_some() && state.is_some() && state != seen;
            let longer = (wait * 3 / 2).clamp(interval, interval * 8);
            let wait = if has_changed { interval } else { longer };
            Some((has_changed, (library, wait, state.or(seen))))
        };
        Some(stream::unfold((self.clone(), Duration::ZERO, None), look).boxed())
    }
}
