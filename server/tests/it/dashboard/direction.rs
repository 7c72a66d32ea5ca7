//! Texts that turn the direction of what is around them.

use std::sync::Arc;

use async_trait::async_trait;
use promptarium_server::EmbeddedServer;
use promptarium_server::provider::{
    GenerationRequest, PollError, Progress, Provider, ProviderTicket, SubmitError,
};
use serde_json::json;

use super::{Browser, attribute};

/// Right-to-left override, which nothing ends.
const TURN: char = '\u{202e}';

/// Fails each request for a reason that turns.
struct TurningProvider;

#[async_trait]
impl Provider for TurningProvider {
    async fn submit(&self, _: &GenerationRequest) -> Result<ProviderTicket, SubmitError> {
        Ok(ProviderTicket { request_id: "r".into(), provider_state: "s".into() })
    }

    async fn poll(&self, _: &ProviderTicket, _: &GenerationRequest) -> Result<Progress, PollError> {
        Err(PollError::Permanent(format!("reason{TURN}")))
    }
}

/// Checks that each turning text in a page ends where its element ends; gives their number.
fn isolated(page: &str) -> usize {
    let turns = page.match_indices(TURN);
    turns
        .map(|(at, _)| {
            let (before, after) = page.split_at(at);
            let tag = &before[before.rfind('<').unwrap()..];
            let (tag, text) = tag.split_once('>').unwrap_or((tag, ""));
            let is_title = tag == "<title" && text.starts_with('\u{2068}');
            let is_title = is_title && after.split('<').next().unwrap().contains('\u{2069}');
            let is_isolated = tag == "<bdi" || tag.contains("dir=\"auto\"") || is_title;
            assert!(is_isolated, "{tag}>{text}{TURN} in {page}");
        })
        .count()
}

#[tokio::test]
async fn what_people_type_does_not_turn_the_text_around_it() {
    let key = "promptarium_live_a1_s=al\u{202e}ice";
    let builder = EmbeddedServer::builder().seed_key(key).provider(Arc::new(TurningProvider));
    let browser = Browser::on(builder.start().await.unwrap()).await;
    let turning = |text: &str| format!("{text}{TURN}");
    let vault = json!({ "name": turning("vault"), "description": turning("description") });
    let vault = browser.create("/vaults", vault).await["id"].clone();
    let prompt = json!({
        "title": turning("title"), "prompt": turning("prompt"), "platform": turning("platform"),
        "vaultId": vault, "promptType": "image", "modelId": turning("local/model"),
        "aspectRatio": turning("ratio"), "imageUrl": "https://example.com/a",
    });
    let prompt = browser.create("/prompts", prompt).await["id"].clone();
    let job = json!({ "modelId": turning("m"), "prompt": turning("p"), "aspectRatio": turning("r"),
        "clientJobId": turning("job") });
    browser.create("/generations", job).await;
    let jobs = browser.ended_jobs().await;
    let created = browser.post("/keys", "name=key%E2%80%AE").await;
    let id = attribute(&browser.page("/keys").await, "href=\"/keys/").to_owned();

    // Beside the account, which is in the header of each page.
    for (page, least) in [
        (created.body, 1),
        (jobs, 4),
        (browser.page("/").await, 0),
        (browser.page("/prompts").await, 3),
        (browser.page(&format!("/prompts/{prompt}")).await, 7),
        (browser.page("/vaults").await, 1),
        (browser.page(&format!("/vaults/{vault}")).await, 4),
        (browser.page("/keys").await, 2),
        (browser.page(&format!("/keys/{id}")).await, 1),
        (browser.page("/sessions").await, 0),
        (browser.get("/prompts?type=%E2%80%AE&vaultId=%E2%80%AE").await.body, 0),
        (browser.get("/prompts?cursor=%E2%80%AE").await.body, 0),
        (browser.get("/jobs?before=%E2%80%AE").await.body, 0),
        (browser.get("/keys/%E2%80%AE/revoke").await.body, 0),
        (browser.post("/keys", "name=n&scope=%E2%80%AE").await.body, 0),
    ] {
        assert!(isolated(&page) > least, "{page}");
    }
}
