//! How clients reach the server, and how it notices changes of the library.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt as _;
use futures::stream::{self, BoxStream, StreamExt as _};
use promptarium::{PromptId, Timestamp};
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
    let listener = TcpListener::bind(address).await.map_err(&failed)?;
    let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
    let config = StreamableHttpServerConfig::default().with_allowed_origins(origins);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(library.clone()), sessions, config);
    let address = listener.local_addr()?;
    note(format!("MCP at http://{address}/mcp, for this machine only; Ctrl-C stops it"));
    // An event waits for no acknowledgement of the one before.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let router = Router::new().nest_service("/mcp", service);
    axum::serve(listener, router).await.map_err(failed)
}

type State = Vec<(PromptId, Timestamp)>;

impl Library {
    /// If changes of the prompts that are offered are watched: whether there is one, each time that
    /// they were looked at. The longer there is none the longer it waits, up to eight times the
    /// interval.
    pub(super) async fn changes(&self) -> Option<BoxStream<'static, bool>> {
        let interval = Duration::from_secs(self.options.watch?.into());
        let first = (self.clone(), interval, self.state().await);
        let look = move |(library, wait, seen): (Self, Duration, Option<State>)| async move {
            sleep(wait).await;
            let state = library.state().await;
            let has_changed = state.is_some() && state != seen;
            let longer = (wait * 3 / 2).min(interval * 8);
            let wait = if has_changed { interval } else { longer };
            Some((has_changed, (library, wait, state.or(seen))))
        };
        Some(stream::unfold(first, look).boxed())
    }

    async fn state(&self) -> Option<State> {
        let page = self.offered(None).await.ok()?;
        Some(page.items.iter().map(|prompt| (prompt.id, prompt.updated_at)).collect())
    }
}
