//! The library for AI clients: a server of the Model Context Protocol.

mod menu;
mod pictures;
mod serve;
mod tools;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use futures::StreamExt as _;
use promptarium::{Client, Page, Prompt, VaultId};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CompletionInfo, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourcesResult as Resources, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::args::Mcp;
use crate::failure::{Failure, Result};
use crate::find;

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

type Pinned = HashMap<VaultId, (Instant, Vec<Prompt>)>;

const INSTRUCTIONS: &str = "A library of prompts. Its menu offers the pinned prompts, or those of \
    one vault; the prompt \"library\" takes the title of any other. search_prompts finds prompts by \
    words, and get_prompt returns one with its variables filled in.";

pub(crate) async fn run(client: Client, options: Mcp) -> Result {
    let vault = find::vault_id(&client, options.vault.as_deref()).await?;
    let http = options.http;
    let (pinned, pictures) = (Arc::default(), Arc::default());
    let library = Library { client, vault, options, pinned, pictures };
    match http {
        Some(address) => serve::http(library, address).await,
        None => serve::stdio(library).await,
    }
}

/// An error of the protocol: the request is wrong, or cannot be served now.
fn protocol_error(failure: impl Into<Failure>) -> ErrorData {
    let failure = failure.into();
    match failure.code {
        2 | 4 => ErrorData::invalid_params(failure.to_string(), None),
        _ => ErrorData::internal_error(failure.to_string(), None),
    }
}

type Answer<T> = std::result::Result<T, ErrorData>;
type Request = RequestContext<RoleServer>;
type Paged = Option<PaginatedRequestParams>;

impl Library {
    /// The page at the cursor of the request, and the cursor of the next.
    async fn page(&self, cursor: Option<String>) -> Answer<(Vec<Prompt>, Option<String>)> {
        let Page { items, next_cursor, .. } = self.offered(cursor).await.map_err(protocol_error)?;
        Ok((items, next_cursor.map(|cursor| cursor.to_string())))
    }
}

impl ServerHandler for Library {
    fn get_info(&self) -> ServerConfig {
        let builder = ServerCapabilities::builder().enable_completions().enable_prompts();
        let mut capabilities = builder.enable_resources().enable_tools().build();
        if let Some(prompts) = &mut capabilities.prompts {
            prompts.list_changed = self.options.watch.map(|_| true);
        }
        let server = Implementation::new("promptarium", env!("CARGO_PKG_VERSION"));
        let server = server.with_title("Promptarium");
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    async fn list_prompts(&self, request: Paged, _: Request) -> Answer<ListPromptsResult> {
        let cursor = request.and_then(|request| request.cursor);
        let any = cursor.is_none().then(menu::any_prompt);
        let (prompts, next_cursor) = self.page(cursor).await?;
        let entries = any.into_iter().chain(prompts.iter().map(menu::entry)).collect();
        let result = ListPromptsResult::with_all_items(entries);
        let result = result.with_cache_scope(CacheScope::Private);
        Ok(ListPromptsResult { next_cursor, ..result })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Request,
    ) -> Answer<GetPromptResponse> {
        let arguments = request.arguments.unwrap_or_default();
        Ok(self.filled(&request.name, &arguments).await.map_err(protocol_error)?.into())
    }

    async fn complete(&self, request: CompleteRequestParams, _: Request) -> Answer<CompleteResult> {
        let Some(name) = request.r#ref.as_prompt_name() else {
            return Ok(CompleteResult::default());
        };
        let mut values = self.completions(name, &request.argument).await.map_err(protocol_error)?;
        let has_more = values.len() > CompletionInfo::MAX_VALUES;
        values.truncate(CompletionInfo::MAX_VALUES);
        let info = CompletionInfo::with_pagination(values, None, has_more);
        Ok(CompleteResult::new(info.map_err(|error| ErrorData::internal_error(error, None))?))
    }

    async fn list_tools(&self, _: Paged, _: Request) -> Answer<ListToolsResult> {
        let tools = ListToolsResult::with_all_items(tools::all(self.options.write));
        Ok(tools.with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Request,
    ) -> Answer<CallToolResponse> {
        self.call(request, context).await.map(Into::into)
    }

    async fn list_resources(&self, request: Paged, _: Request) -> Answer<Resources> {
        let (prompts, next_cursor) = self.page(request.and_then(|request| request.cursor)).await?;
        let pictures = prompts.iter().flat_map(|prompt| self.pictures(prompt)).collect();
        let result = Resources::with_all_items(pictures);
        let result = result.with_cache_scope(CacheScope::Private);
        Ok(Resources { next_cursor, ..result })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Request,
    ) -> Answer<ReadResourceResponse> {
        self.read_picture(&request.uri).await.map(Into::into)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Some(mut changes) = self.changes() else { return };
        tokio::spawn(async move {
            while let Some(has_changed) = changes.next().await
                && !context.peer.is_transport_closed()
            {
                if has_changed {
                    let _ = context.peer.notify_prompt_list_changed().await;
                }
            }
        });
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.options.watch.map(|_| SubscriptionFilter::builder().prompts_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Answer<()> {
        let Some(changes) = self.changes() else { return Ok(()) };
        let changes = changes.filter(|has_changed| std::future::ready(*has_changed));
        tokio::select! {
            () = context.cancelled() => {}
            () = changes.for_each(async |_| {
                let _ = context.sink().notify_prompt_list_changed().await;
            }) => {}
        }
        Ok(())
    }
}
