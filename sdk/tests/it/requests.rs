//! The wire form of every request the client can send.

mod patches;
mod vaults;

use insta::assert_snapshot;
use promptarium::{AssetUrl, Client, ImageContentType, PromptId, PromptType};
use promptarium::{VaultId, VaultPromptId};
use serde_json::json;
use wiremock::ResponseTemplate;

use crate::stub::{KEY, answering, get, shown, wire};

const PROMPT: PromptId = PromptId::new(7);
const VAULT: VaultId = VaultId::new(3);
const MEMBERSHIP: VaultPromptId = VaultPromptId::new(21);

#[tokio::test]
async fn a_call_is_sent_only_when_it_is_awaited() {
    let server = answering(ResponseTemplate::new(500)).await;
    let call = get(&crate::stub::client(server.uri()));
    assert!(server.received_requests().await.unwrap().is_empty());
    let _ = call.clone().await;
    let _ = call.await;
    assert_eq!(server.received_requests().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_trailing_slash_of_the_base_url_makes_no_difference() {
    let server = answering(ResponseTemplate::new(500)).await;
    for (suffix, path) in [
        ("", "/prompts/7"),
        ("/", "/prompts/7"),
        ("/api/v1", "/api/v1/prompts/7"),
        ("/api/v1/", "/api/v1/prompts/7"),
        ("/behind/a%20proxy/v1", "/behind/a%20proxy/v1/prompts/7"),
    ] {
        let client = Client::new(format!("{}{suffix}", server.uri()), KEY).unwrap();
        let _ = get(&client).await;
        let requests = server.received_requests().await.unwrap();
        assert_eq!(requests.last().unwrap().url.path(), path, "{suffix}");
    }
}

#[tokio::test]
async fn the_user_agent_names_crate_and_program() {
    let server = answering(ResponseTemplate::new(400)).await;
    let builder = Client::builder().base_url(server.uri()).api_key(KEY);
    let _ = get(&builder.clone().build().unwrap()).await;
    let _ = get(&builder.user_agent("my-app/2.1").build().unwrap()).await;
    let requests = server.received_requests().await.unwrap();
    let own = format!("promptarium/{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(requests[0].headers["user-agent"], own);
    assert_eq!(requests[1].headers["user-agent"], format!("{own} my-app/2.1"));
}

#[tokio::test]
async fn a_ready_http_client_sends_the_same() {
    let server = answering(ResponseTemplate::new(500)).await;
    let ready = reqwest::Client::new();
    let client =
        Client::builder().base_url(server.uri()).api_key(KEY).http_client(ready).build().unwrap();
    let _ = get(&client).await;
    assert_snapshot!(shown(&server.received_requests().await.unwrap()[0]), @r"
    GET /prompts/7
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    ");
}

#[tokio::test]
async fn prompts_list() {
    assert_snapshot!(wire(|client| client.prompts().list()).await, @"
    GET /api/v1/prompts
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    ");
    let call = |client: &Client| {
        let list = client.prompts().list().page_size(100).vault(VAULT);
        list.prompt_type(PromptType::Video).search("\"é a\"").cursor("a+b/c=&d é")
    };
    assert_snapshot!(wire(call).await, @"
    GET /api/v1/prompts?limit=100&cursor=a%2Bb%2Fc%3D%26d+%C3%A9&vaultId=3&type=video&q=%22%C3%A9+a%22
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    ");
}

#[tokio::test]
async fn prompts_create() {
    let least = |client: &Client| client.prompts().create("Dusk", "A \"harbour\"\nat dusk ☾");
    assert_snapshot!(wire(least).await, @r#"
    POST /api/v1/prompts
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    content-type: application/json
    content-length: 54
    {"title":"Dusk","prompt":"A \"harbour\"\nat dusk ☾"}
    "#);
    let most = |client: &Client| {
        let call = client.prompts().create("Dusk", "A harbour").image("local/plasma");
        call.platform("poster")
            .vault(VAULT)
            .aspect_ratio("16:9")
            .image_url(AssetUrl::from("https://cdn.example/a.png"))
            .reference_media_urls(["https://cdn.example/b.png", "urn:c"])
    };
    assert_snapshot!(wire(most).await, @r#"
    POST /api/v1/prompts
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    content-type: application/json
    content-length: 234
    {"title":"Dusk","prompt":"A harbour","platform":"poster","promptType":"image","modelId":"local/plasma","aspectRatio":"16:9","vaultId":3,"imageUrl":"https://cdn.example/a.png","referenceMediaUrls":["https://cdn.example/b.png","urn:c"]}
    "#);
    let video = |client: &Client| client.prompts().create("t", "p").video("local/plasma-video");
    assert_snapshot!(body(&wire(video).await), @r#"{"title":"t","prompt":"p","promptType":"video","modelId":"local/plasma-video"}"#);
    let apart = |client: &Client| {
        client.prompts().create("t", "p").prompt_type(PromptType::Text).model_id("m/x")
    };
    assert_snapshot!(body(&wire(apart).await), @r#"{"title":"t","prompt":"p","promptType":"text","modelId":"m/x"}"#);
}

#[tokio::test]
async fn prompts_get() {
    assert_snapshot!(wire(get).await, @"
    GET /api/v1/prompts/7
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    ");
}

#[tokio::test]
async fn prompts_update() {
    let most = |client: &Client| {
        let call = client.prompts().update(PROMPT).title("Dawn").text("A quay");
        call.prompt_type(PromptType::Image)
            .platform("poster")
            .model_id("local/plasma")
            .aspect_ratio("1:1")
            .vault(VAULT)
            .image_url("https://cdn.example/a.png")
            .reference_media_urls(vec![String::from("urn:c")])
    };
    assert_snapshot!(wire(most).await, @r#"
    PATCH /api/v1/prompts/7
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    content-type: application/json
    content-length: 202
    {"title":"Dawn","prompt":"A quay","platform":"poster","promptType":"image","modelId":"local/plasma","aspectRatio":"1:1","vaultId":3,"imageUrl":"https://cdn.example/a.png","referenceMediaUrls":["urn:c"]}
    "#);
    let none = |client: &Client| client.prompts().update(PROMPT);
    assert_snapshot!(body(&wire(none).await), @"{}");
    let no_media = |client: &Client| none(client).reference_media_urls([""; 0]);
    assert_snapshot!(body(&wire(no_media).await), @r#"{"referenceMediaUrls":[]}"#);
}

#[tokio::test]
async fn prompts_delete() {
    assert_snapshot!(wire(|client| client.prompts().delete(PROMPT)).await, @"
    DELETE /api/v1/prompts/7
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    ");
}

#[tokio::test]
async fn prompts_save() {
    assert_snapshot!(wire(|client| client.prompts().save(PROMPT, VAULT)).await, @r#"
    POST /api/v1/prompts/7/save
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    content-type: application/json
    content-length: 13
    {"vaultId":3}
    "#);
}

#[tokio::test]
async fn generations_create() {
    let least = |client: &Client| {
        let call = client.generations().create("local/plasma", "A harbour");
        call.client_job_id("job-1")
    };
    assert_snapshot!(wire(least).await, @r#"
    POST /api/v1/generations
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    content-type: application/json
    content-length: 69
    {"modelId":"local/plasma","prompt":"A harbour","clientJobId":"job-1"}
    "#);
    let most = |client: &Client| {
        least(client)
            .video()
            .negative_prompt("fog")
            .image_input(AssetUrl::from("https://cdn.example/a.png"))
            .image_inputs([&AssetUrl::from("https://cdn.example/b.png")])
            .aspect_ratio("16:9")
            .batch_count(4)
            .parameters(json!({ "seed": 7, "steps": 20 }))
            .parameter("steps", 30)
            .vault(VAULT)
            .reference_image_urls(["https://cdn.example/c.png", "urn:d"])
            .image_edit_endpoint("local/edit")
    };
    assert_snapshot!(body(&wire(most).await), @r#"{"modelId":"local/plasma","prompt":"A harbour","clientJobId":"job-1","generationType":"video","negativePrompt":"fog","imageInput":"https://cdn.example/a.png","imageInputs":["https://cdn.example/b.png"],"aspectRatio":"16:9","batchCount":4,"parameters":{"seed":7,"steps":30},"vaultId":3,"referenceImageUrls":["https://cdn.example/c.png","urn:d"],"imageEditEndpointId":"local/edit"}"#);
    let one = |client: &Client| least(client).parameter("seed", 7).image_inputs([""; 0]);
    assert_snapshot!(body(&wire(one).await), @r#"{"modelId":"local/plasma","prompt":"A harbour","clientJobId":"job-1","imageInputs":[],"parameters":{"seed":7}}"#);
    let unknown = |client: &Client| least(client).generation_type("sculpture");
    assert_snapshot!(body(&wire(unknown).await), @r#"{"modelId":"local/plasma","prompt":"A harbour","clientJobId":"job-1","generationType":"sculpture"}"#);
}

#[tokio::test]
async fn generations_status() {
    assert_snapshot!(wire(|client| client.generations().status("a/../b?c")).await, @"
    GET /api/v1/generations/a%2F..%2Fb%3Fc/status
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    ");
    let job = |client: &Client| client.generations().status("job-1");
    assert_snapshot!(wire(job).await, @"
    GET /api/v1/generations/job-1/status
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    ");
}

#[tokio::test]
async fn uploads_slot() {
    let slot = |client: &Client| client.uploads().slot(ImageContentType::Png, 48_213);
    assert_snapshot!(wire(slot).await, @r#"
    POST /api/v1/uploads/images
    accept: application/json
    authorization: Bearer test_live_a1_s3cret
    content-type: application/json
    content-length: 40
    {"contentType":"image/png","size":48213}
    "#);
}

/// The last line of a request.
fn body(wire: &str) -> String {
    wire.lines().last().unwrap_or_default().to_owned()
}
