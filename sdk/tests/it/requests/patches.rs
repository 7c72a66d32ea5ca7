//! Each field of each patch by itself: these very bytes, and no other field.

use promptarium::{Change, Client, PromptType, VaultId, Visibility};

use crate::requests::{PROMPT, VAULT, body};
use crate::stub::wire;

macro_rules! sends {
    ($($make:expr => $bytes:literal),+ $(,)?) => {
        $(
            let make: fn(&Client) -> _ = $make;
            assert_eq!(body(&wire(make).await), $bytes);
        )+
    };
}

#[tokio::test]
async fn each_field_of_a_prompt_is_absent_or_a_value() {
    sends! {
        |client| client.prompts().update(PROMPT) => "{}",
        |client| client.prompts().update(PROMPT).title("t") => r#"{"title":"t"}"#,
        |client| client.prompts().update(PROMPT).title("") => r#"{"title":""}"#,
        |client| client.prompts().update(PROMPT).prompt("p") => r#"{"prompt":"p"}"#,
        |client| client.prompts().update(PROMPT).prompt_type(PromptType::Text) => r#"{"promptType":"text"}"#,
        |client| client.prompts().update(PROMPT).image("local/plasma") => r#"{"promptType":"image","modelId":"local/plasma"}"#,
        |client| client.prompts().update(PROMPT).video("local/plasma-video") => r#"{"promptType":"video","modelId":"local/plasma-video"}"#,
        |client| client.prompts().update(PROMPT).model_id("m") => r#"{"modelId":"m"}"#,
        |client| client.prompts().update(PROMPT).aspect_ratio("1:1") => r#"{"aspectRatio":"1:1"}"#,
        |client| client.prompts().update(PROMPT).vault(VaultId::new(4)) => r#"{"vaultId":4}"#,
        |client| client.prompts().update(PROMPT).image_url("https://h/a.png") => r#"{"imageUrl":"https://h/a.png"}"#,
        |client| client.prompts().update(PROMPT).reference_media_urls(["https://h/a"]) => r#"{"referenceMediaUrls":["https://h/a"]}"#,
        |client| client.prompts().update(PROMPT).reference_media_urls(Vec::<String>::new()) => r#"{"referenceMediaUrls":[]}"#,
    }
}

#[tokio::test]
async fn a_field_that_can_be_empty_is_absent_null_or_a_value() {
    sends! {
        |client| client.prompts().update(PROMPT).platform(Change::Leave) => "{}",
        |client| client.prompts().update(PROMPT).platform("web") => r#"{"platform":"web"}"#,
        |client| client.prompts().update(PROMPT).platform("") => r#"{"platform":""}"#,
        |client| client.prompts().update(PROMPT).platform(Change::Clear) => r#"{"platform":null}"#,
        |client| client.vaults().update(VAULT).description(Change::Leave) => "{}",
        |client| client.vaults().update(VAULT).description("d") => r#"{"description":"d"}"#,
        |client| client.vaults().update(VAULT).description("") => r#"{"description":""}"#,
        |client| client.vaults().update(VAULT).description(None::<&str>) => r#"{"description":null}"#,
        |client| client.vaults().update(VAULT).description(Some("d")) => r#"{"description":"d"}"#,
        |client| client.vaults().update(VAULT).description(Change::Clear) => r#"{"description":null}"#,
        |client| client.vaults().update(VAULT).clear_description() => r#"{"description":null}"#,
    }
}

#[tokio::test]
async fn each_field_of_a_vault_is_absent_or_a_value() {
    sends! {
        |client| client.vaults().update(VAULT) => "{}",
        |client| client.vaults().update(VAULT).name("n") => r#"{"name":"n"}"#,
        |client| client.vaults().update(VAULT).visibility(Visibility::Unlisted) => r#"{"visibility":"unlisted"}"#,
    }
}
