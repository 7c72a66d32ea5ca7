//! The library for AI clients: a server of the Model Context Protocol.

mod library;

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::serve::ListenerExt as _;
use promptarium::{AssetUrl, Client, Prompt, VaultId};
use rmcp::model::{
    self, CompleteRequestParams, CompleteResult, ListPromptsResult, ListResourcesResult,
    ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, ServerInitializeError, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio_pipes};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::json;
use tokio::net::TcpListener;
use url::Url;

use crate::app::{ABSENT, FAILED, Failure, INTERRUPTED, Result, USAGE, note};
use crate::args::Mcp;
use crate::document::plain;
use crate::find;

type Pinned = HashMap<VaultId, (Instant, Vec<Prompt>)>;

/// The library as one client sees it.
#[derive(Clone)]
struct Library {
    client: Client,
    /// The vault whose prompts are offered; otherwise the pinned ones.
    vault: Option<VaultId>,
    options: Mcp,
    /// The pinned prompts of each vault, and when they were read.
    pinned: Arc<tokio::sync::Mutex<Pinned>>,
    /// The addresses of pictures that were named to the client, which it may read.
    pictures: Arc<Mutex<HashSet<String>>>,
}

const INSTRUCTIONS: &str = "A library of prompts. Its menu offers the pinned prompts, or those of \
    one vault; the prompt \"library\" takes the title of any other. search_prompts finds prompts by \
    words, and get_prompt returns one with its variables filled in.";

pub(crate) async fn run(client: Client, options: Mcp) -> Result {
    let vault = find::vault_id(&client, options.vault.as_deref()).await?;
    let (pinned, pictures, http) = (Arc::default(), Arc::default(), options.http);
    let library = Library { client, vault, options, pinned, pictures };
    if let Some(address) = http {
        return serve_http(library, address).await;
    }
    // The client that started this program, until it closes standard input.
    let ended = match library.serve(stdio_pipes()).await {
        Ok(running) => running.waiting().await.map(drop).map_err(|error| error.to_string()),
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    };
    ended.map_err(|error| Failure::new(FAILED, format!("MCP: {error}")))
}

/// Serves clients of this machine. A page of another origin in a browser is refused.
async fn serve_http(library: Library, address: SocketAddr) -> Result {
    if !address.ip().is_loopback() {
        let text = format!("--http: {address} is not a loopback address");
        let hint = "use 127.0.0.1:PORT; whoever reaches it has your key's rights";
        return Err(Failure::new(USAGE, text).hint(hint));
    }
    let failed = |error| Failure::new(FAILED, format!("--http: {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
    let config = StreamableHttpServerConfig::default().with_allowed_origins(origins);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(library.clone()), sessions, config);
    let address = listener.local_addr()?;
    note(format!("MCP at http://{address}/mcp, for this machine only; Ctrl-C stops it"));
    // An event waits for no acknowledgement of the one before.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, Router::new().nest_service("/mcp", service)).await.map_err(failed)
}

impl From<Failure> for ErrorData {
    fn from(failure: Failure) -> Self {
        match failure.code {
            USAGE | ABSENT => Self::invalid_params(failure.to_string(), None),
            _ => Self::internal_error(failure.to_string(), None),
        }
    }
}

type Answer<T> = std::result::Result<T, ErrorData>;
type Request = rmcp::service::RequestContext<RoleServer>;
type Paged = Option<model::PaginatedRequestParams>;

impl Library {
    /// Tells each change of the prompts that are offered, if they are watched, until nobody listens.
    /// The longer there is none the longer it waits, up to eight times the interval.
    async fn watch<F: Future>(&self, tell: impl Fn() -> F, is_over: impl Fn() -> bool) {
        let Some(interval) = self.options.watch else { return };
        let interval = Duration::from_secs(interval.into());
        let (mut wait, mut seen) = (interval, self.state().await);
        while !is_over() {
            tokio::time::sleep(wait).await;
            wait = (wait * 3 / 2).min(interval * 8);
            let state = self.state().await;
            if state.is_some() && state != seen {
                (wait, seen) = (interval, state);
                tell().await;
            }
        }
    }
}

impl ServerHandler for Library {
    fn get_info(&self) -> ServerConfig {
        let builder = ServerCapabilities::builder().enable_completions().enable_prompts();
        let mut capabilities = builder.enable_resources().enable_tools().build();
        if let Some(prompts) = &mut capabilities.prompts {
            prompts.list_changed = self.options.watch.map(|_| true);
        }
        let server = model::Implementation::new("promptarium", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    async fn list_prompts(&self, request: Paged, _: Request) -> Answer<ListPromptsResult> {
        let cursor = request.and_then(|request| request.cursor);
        let any = cursor.is_none().then(library::any_prompt);
        let (prompts, next_cursor) = self.offered(cursor).await?;
        let entries = any.into_iter().chain(prompts.iter().map(library::entry)).collect();
        Ok(ListPromptsResult { next_cursor, ..ListPromptsResult::with_all_items(entries) })
    }

    async fn get_prompt(
        &self,
        request: model::GetPromptRequestParams,
        _: Request,
    ) -> Answer<model::GetPromptResponse> {
        let arguments = request.arguments.unwrap_or_default();
        let prompt = self.named(&request.name, &arguments).await?;
        let missing = prompt.missing(|name| arguments.contains_key(name)).join(", ");
        if !missing.is_empty() && request.name != library::ANY {
            return Err(Failure::new(USAGE, format!("a value is missing for: {missing}")).into());
        }
        let text = prompt.filled(|name| arguments.get(name).map(plain));
        let message = model::PromptMessage::new_text(model::Role::User, text);
        let result = model::GetPromptResult::new(vec![message]);
        Ok(result.with_description(prompt.title).into())
    }

    async fn complete(&self, request: CompleteRequestParams, _: Request) -> Answer<CompleteResult> {
        let name = request.r#ref.as_prompt_name().unwrap_or_default();
        let mut values = self.completions(name, &request.argument).await?;
        let has_more = values.len() > model::CompletionInfo::MAX_VALUES;
        values.truncate(model::CompletionInfo::MAX_VALUES);
        let info = model::CompletionInfo::with_pagination(values, None, has_more);
        Ok(CompleteResult::new(info.unwrap_or_default()))
    }

    async fn list_tools(&self, _: Paged, _: Request) -> Answer<model::ListToolsResult> {
        Ok(model::ListToolsResult::with_all_items(library::all(self.options.write)))
    }

    async fn call_tool(
        &self,
        request: model::CallToolRequestParams,
        context: Request,
    ) -> Answer<model::CallToolResponse> {
        let name = &*request.name;
        if !library::all(true).iter().any(|tool| tool.name == name) {
            return Err(ErrorData::invalid_params(format!("there is no tool \"{name}\""), None));
        }
        let arguments = request.arguments.unwrap_or_default();
        let result = tokio::select! {
            result = self.answer(name, arguments, &context) => result,
            () = context.ct.cancelled() => Err(Failure::new(INTERRUPTED, "cancelled")),
        };
        let told = |it: Failure| vec![model::ContentBlock::text(it.to_string())];
        Ok(result.unwrap_or_else(|it| model::CallToolResult::error(told(it))).into())
    }

    async fn list_resources(&self, request: Paged, _: Request) -> Answer<ListResourcesResult> {
        let (prompts, next_cursor) = self.offered(request.and_then(|it| it.cursor)).await?;
        let pictures = prompts.iter().flat_map(|prompt| self.pictures(prompt)).collect();
        Ok(ListResourcesResult { next_cursor, ..ListResourcesResult::with_all_items(pictures) })
    }

    /// Reads a picture that was named to the client, or is at the server itself, and nothing else: a
    /// client could be talked into requests to any host.
    async fn read_resource(
        &self,
        model::ReadResourceRequestParams { uri, .. }: model::ReadResourceRequestParams,
        _: Request,
    ) -> Answer<model::ReadResourceResponse> {
        let is_named = self.pictures.lock().is_ok_and(|named| named.contains(&uri));
        let origin = |url: &str| Url::parse(url).ok().map(|url| url.origin());
        if !is_named && origin(&uri).is_none_or(|it| Some(it) != origin(self.client.base_url())) {
            let data = Some(json!({ "uri": uri }));
            return Err(ErrorData::resource_not_found("no prompt has this picture", data));
        }
        let (data, media_type) = self.download(&AssetUrl::from(&*uri)).await?;
        let contents = model::ResourceContents::blob(data, uri).with_mime_type(media_type);
        Ok(model::ReadResourceResult::new(vec![contents]).into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (library, peer) = (self.clone(), context.peer);
        tokio::spawn(async move {
            let tell = || peer.notify_prompt_list_changed();
            library.watch(tell, || peer.is_transport_closed()).await;
        });
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.options.watch.map(|_| SubscriptionFilter::builder().prompts_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Answer<()> {
        let tell = || context.sink().notify_prompt_list_changed();
        tokio::select! {
            () = context.cancelled() => Ok(()),
            () = self.watch(tell, || false) => Ok(()),
        }
    }
}
