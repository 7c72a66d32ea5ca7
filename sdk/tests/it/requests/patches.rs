//! Each field of each patch: its bytes, and no other field. `None` never clears a field.

use promptarium::{Client, PromptType, VaultId, Visibility};

use crate::requests::{PROMPT, VAULT, body};
use crate::stub::wire;

macro_rules! sends {
    ($($make:expr => $bytes:literal),+ $(,)?) => {
        $(
            assert_eq!(body(&wire($make).await), $bytes);
        )+
    };
}

#[tokio::test]
async fn each_field_of_a_prompt_is_absent_or_a_value() {
    sends! {
        |client: &Client| client.prompts().update(PROMPT) => "{}",
        |client: &Client| client.prompts().update(PROMPT).title("t") => r#"{"title":"t"}"#,
        |client: &Client| client.prompts().update(PROMPT).title("") => r#"{"title":""}"#,
        |client: &Client| client.prompts().update(PROMPT).text("p") => r#"{"prompt":"p"}"#,
        |client: &Client| client.prompts().update(PROMPT).prompt_type(PromptType::Text) => r#"{"promptType":"text"}"#,
        |client: &Client| client.prompts().update(PROMPT).image("local/plasma") => r#"{"promptType":"image","modelId":"local/plasma"}"#,
        |client: &Client| client.prompts().update(PROMPT).video("local/plasma-video") => r#"{"promptType":"video","modelId":"local/plasma-video"}"#,
        |client: &Client| client.prompts().update(PROMPT).model_id("m") => r#"{"modelId":"m"}"#,
        |client: &Client| client.prompts().update(PROMPT).aspect_ratio("1:1") => r#"{"aspectRatio":"1:1"}"#,
        |client: &Client| client.prompts().update(PROMPT).vault(VaultId::new(4)) => r#"{"vaultId":4}"#,
        |client: &Client| client.prompts().update(PROMPT).image_url("https://h/a.png") => r#"{"imageUrl":"https://h/a.png"}"#,
        |client: &Client| client.prompts().update(PROMPT).reference_media_urls(["https://h/a"]) => r#"{"referenceMediaUrls":["https://h/a"]}"#,
        |client: &Client| client.prompts().update(PROMPT).reference_media_urls(Vec::<String>::new()) => r#"{"referenceMediaUrls":[]}"#,
    }
}

#[tokio::test]
async fn a_field_that_can_be_empty_is_absent_null_or_a_value() {
    sends! {
        |client: &Client| client.prompts().update(PROMPT).set_platform(None::<String>) => "{}",
        |client: &Client| client.prompts().update(PROMPT).platform("web") => r#"{"platform":"web"}"#,
        |client: &Client| client.prompts().update(PROMPT).platform("") => r#"{"platform":""}"#,
        |client: &Client| client.prompts().update(PROMPT).clear_platform() => r#"{"platform":null}"#,
        |client: &Client| client.vaults().update(VAULT).set_description(None::<String>) => "{}",
        |client: &Client| client.vaults().update(VAULT).description("d") => r#"{"description":"d"}"#,
        |client: &Client| client.vaults().update(VAULT).description("") => r#"{"description":""}"#,
        |client: &Client| client.vaults().update(VAULT).set_description(Some("d")) => r#"{"description":"d"}"#,
        |client: &Client| client.vaults().update(VAULT).clear_description() => r#"{"description":null}"#,
    }
}

#[tokio::test]
async fn each_field_of_a_vault_is_absent_or_a_value() {
    sends! {
        |client: &Client| client.vaults().update(VAULT) => "{}",
        |client: &Client| client.vaults().update(VAULT).name("n") => r#"{"name":"n"}"#,
        |client: &Client| client.vaults().update(VAULT).visibility(Visibility::Unlisted) => r#"{"visibility":"unlisted"}"#,
    }
}
