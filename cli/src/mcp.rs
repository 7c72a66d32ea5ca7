//! The library for AI clients: a server of the Model Context Protocol.

mod menu;
mod resources;
mod serve;
mod tools;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use promptarium::{Client, Prompt, VaultId};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CompletionInfo, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SubscriptionFilter,
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
    /// The addresses of pictures that were named to the client, which it may read.
    pictures: Arc<Mutex<HashSet<String>>>,
}

const INSTRUCTIONS: &str = "A library of prompts. Its menu offers the pinned prompts, or those of \
    one vault; the prompt \"library\" takes the title of any other. search_prompts finds prompts by \
    words and get_prompt returns one with its variables filled in.";

pub(crate) async fn run(client: &Client, options: Mcp) -> Result {
    let vault = find::vault_id(client, options.vault.as_deref()).await?;
    let address = options.http;
    let pictures = Arc::default();
    let library = Library { client: client.clone(), vault, options, pictures };
    match address {
        Some(address) => serve::http(library, address).await,
        None => serve::stdio(library).await,
    }
}

impl Library {
    /// Remembers the pictures of a prompt, which the client may read now.
    fn show(&self, prompt: &Prompt) {
        let mut pictures = self.pictures.lock().unwrap_or_else(PoisonError::into_inner);
        pictures.extend(prompt.images.iter().map(|image| image.url.to_string()));
    }
}

/// An error of the protocol: the request is wrong (absent or ambiguous), or cannot be served now.
fn protocol_error(failure: impl Into<Failure>) -> ErrorData {
    let failure = failure.into();
    match failure.code {
        2 | 4 => ErrorData::invalid_params(failure.to_string(), None),
        _ => ErrorData::internal_error(failure.to_string(), None),
    }
}

type Answer<T> = std::result::Result<T, ErrorData>;
type Request = RequestContext<RoleServer>;

impl ServerHandler for Library {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .build();
        if let Some(prompts) = &mut capabilities.prompts {
            prompts.list_changed = self.options.watch.map(|_| true);
        }
        let server = Implementation::new("promptarium", env!("CARGO_PKG_VERSION"));
        let info =
            ServerConfig::new(capabilities).with_server_info(server.with_title("Promptarium"));
        info.with_instructions(INSTRUCTIONS)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Request,
    ) -> Answer<ListPromptsResult> {
        let cursor = request.and_then(|request| request.cursor);
        let page = self.offered(cursor.clone()).await.map_err(protocol_error)?;
        let mut prompts: Vec<_> = page.items.iter().map(menu::entry).collect();
        if cursor.is_none() {
            prompts.insert(0, menu::any_prompt());
        }
        let mut result = ListPromptsResult::with_all_items(prompts);
        result.next_cursor = page.next_cursor.map(|cursor| cursor.to_string());
        Ok(result.with_cache_scope(CacheScope::Private))
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
        let values = self.completions(name, &request.argument).await.map_err(protocol_error)?;
        let has_more = values.len() > CompletionInfo::MAX_VALUES;
        let values = values.into_iter().take(CompletionInfo::MAX_VALUES).collect();
        let info = CompletionInfo::with_pagination(values, None, has_more);
        Ok(CompleteResult::new(info.map_err(|error| ErrorData::internal_error(error, None))?))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Request,
    ) -> Answer<ListToolsResult> {
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

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Request,
    ) -> Answer<ListResourcesResult> {
        let page = self.offered(request.and_then(|request| request.cursor)).await;
        let page = page.map_err(protocol_error)?;
        page.items.iter().for_each(|prompt| self.show(prompt));
        let pictures = page.items.iter().flat_map(resources::pictures).collect();
        let mut result = ListResourcesResult::with_all_items(pictures);
        result.next_cursor = page.next_cursor.map(|cursor| cursor.to_string());
        Ok(result.with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Request,
    ) -> Answer<ReadResourceResponse> {
        Ok(self.picture(&request.uri).await?.into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let Some(mut changes) = self.changes().await {
            let peer = context.peer;
            tokio::spawn(async move {
                while changes.next(|| peer.is_transport_closed()).await
                    && peer.notify_prompt_list_changed().await.is_ok()
                {}
            });
        }
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.options.watch.map(|_| SubscriptionFilter::builder().prompts_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Answer<()> {
        if let Some(mut changes) = self.changes().await {
            let sink = context.sink();
            let telling = async {
                while changes.next(|| false).await
                    && sink.notify_prompt_list_changed().await.is_ok()
                {}
            };
            tokio::select! {
                () = telling => {}
                () = context.cancelled() => {}
            }
        }
        Ok(())
    }
}
