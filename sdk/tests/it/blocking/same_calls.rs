//! Every call there is, made in both ways: they say the same on the wire, and fail with
//! the same words.

use futures::executor::block_on;
use promptarium::{Client, ImageContentType, PromptId, PromptType, RetryPolicy};
use promptarium::{GenerationType, VaultId, VaultPromptId, Visibility, blocking};
use serde_json::json;
use std::time::Duration;
use wiremock::{MockServer, ResponseTemplate};

use super::requests;
use crate::stub::{answering, shown};

const PROMPT: PromptId = PromptId::new(7);
const VAULT: VaultId = VaultId::new(3);
const MEMBERSHIP: VaultPromptId = VaultPromptId::new(21);

struct Both {
    server: MockServer,
    runtime: tokio::runtime::Runtime,
    awaited: Client,
    blocking: blocking::Client,
}

impl Both {
    fn new() -> Self {
        let refusal = json!({ "data": null, "error": "no", "details": {} });
        let server = block_on(answering(ResponseTemplate::new(400).set_body_json(refusal)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (awaited, blocking) = (crate::stub::client(server.uri()), super::client(&server));
        Self { server, runtime, awaited, blocking }
    }

    fn seen(&self) -> Vec<String> {
        requests(&self.server).iter().map(shown).collect()
    }
}

/// Makes a call in both ways.
macro_rules! same {
    ($both:ident, $client:ident => $call:expr) => {{
        let before = $both.seen().len();
        let $client = &$both.awaited;
        let call = $call;
        let awaited = $both.runtime.block_on(call.send()).unwrap_err();
        let $client = &$both.blocking;
        let blocked = $call.send().unwrap_err();
        assert_eq!(awaited.to_string(), blocked.to_string());
        let [awaited, blocked] = &$both.seen()[before..] else { panic!("two calls") };
        assert_eq!(awaited, blocked);
    }};
}

#[test]
fn prompts() {
    let both = Both::new();
    same!(both, c => c.prompts().list());
    same!(both, c => {
        let list = c.prompts().list().page_size(9).vault(VAULT).prompt_type(PromptType::Image);
        list.from_cursor("b")
    });
    same!(both, c => c.prompts().create("t", "p").platform("x"));
    same!(both, c => {
        let create = c.prompts().create("t", "p").image("local/plasma").aspect_ratio("1:1");
        create.vault(VAULT).image_url("https://cdn.example/a").reference_media_urls(["u"])
    });
    same!(both, c => c.prompts().create("t", "p").video("m"));
    same!(both, c => c.prompts().get(PROMPT));
    same!(both, c => {
        let update = c.prompts().update(PROMPT).title("t").prompt("p").clear_platform();
        update.prompt_type(PromptType::Text).model_id("m")
    });
    same!(both, c => c.prompts().update(PROMPT).platform("x"));
    same!(both, c => c.prompts().delete(PROMPT));
    same!(both, c => c.prompts().save(PROMPT, VAULT));
}

#[test]
fn vaults_and_what_is_in_them() {
    let both = Both::new();
    same!(both, c => c.vaults().list());
    same!(both, c => {
        c.vaults().create("n").description("d").visibility(Visibility::Unlisted)
    });
    same!(both, c => c.vaults().get(VAULT));
    same!(both, c => c.vaults().update(VAULT).name("n").clear_description());
    same!(both, c => c.vaults().delete(VAULT));
    same!(both, c => c.vaults().fork(VAULT));
    same!(both, c => c.vault(VAULT).prompts().list());
    same!(both, c => c.vault(VAULT).prompts().add([PROMPT]));
    same!(both, c => c.vault(VAULT).prompts().remove(MEMBERSHIP));
    same!(both, c => c.vault(VAULT).prompts().move_to(MEMBERSHIP, VAULT));
    same!(both, c => c.vault(VAULT).prompts().pin(MEMBERSHIP));
    same!(both, c => c.vault(VAULT).prompts().unpin(MEMBERSHIP));
}

#[test]
fn generations_and_uploads() {
    let both = Both::new();
    same!(both, c => {
        let create = c.generations().create("m", "p").client_job_id("j").video();
        let create = create.generation_type(GenerationType::Image).negative_prompt("n");
        let create = create.image_input("u").image_inputs(["u"]).aspect_ratio("1:1");
        let create = create.batch_count(2).parameters(json!({})).parameter("seed", 1);
        create.vault(VAULT).reference_image_urls(["u"]).image_edit_endpoint("e")
    });
    same!(both, c => c.generations().status("j"));
    same!(both, c => {
        assert_eq!(c.generations().job("j").id().as_str(), "j");
        c.generations().job("j").status()
    });
    same!(both, c => c.uploads().slot(ImageContentType::Png, 9));
}

#[test]
fn unknown_endpoints_and_options_of_a_call() {
    let both = Both::new();
    same!(both, c => c.get("/usage").query("month", 11));
    same!(both, c => c.post("/usage").json(&json!({ "a": 1 })).repeatable());
    same!(both, c => c.put("/usage"));
    same!(both, c => c.patch("/usage"));
    same!(both, c => c.delete("/usage"));
    same!(both, c => c.request("PURGE".parse().unwrap(), "/usage"));
    same!(both, c => {
        let call = c.prompts().get(PROMPT).header("x-trace", "t").retry(RetryPolicy::never());
        call.timeout(Duration::from_secs(3600)).request_timeout(Duration::from_secs(3600))
    });
}
