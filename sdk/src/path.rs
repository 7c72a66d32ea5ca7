//! The paths of the API, relative to the base URL: templates, and functions that fill them in.
//!
//! A template has the parameter names of the specification, so a route table can use it as it is.

use std::fmt::Display;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::model::{JobId, PromptId, VaultId, VaultPromptId, WebhookId};

/// Declares a template and, if it has parameters, the function that fills it in.
macro_rules! paths {
    ($(
        $(#[$doc:meta])*
        $template:ident = $text:literal
        $(, $function:ident($($parameter:ident = $id:ident: $type:ty),+))?;
    )*) => {$(
        $(#[$doc])*
        pub const $template: &str = $text;

        $(
            #[doc = concat!("[`", stringify!($template), "`] with its parameters filled in.")]
            #[must_use]
            pub fn $function($($id: $type),+) -> String {
                format!($text, $($parameter = segment(&$id)),+)
            }
        )?
    )*};
}

paths! {
    PROMPTS = "/prompts";
    PROMPT = "/prompts/{promptId}", prompt(promptId = id: PromptId);
    PROMPT_SAVE = "/prompts/{promptId}/save", prompt_save(promptId = id: PromptId);
    VAULTS = "/vaults";
    VAULT = "/vaults/{vaultId}", vault(vaultId = id: VaultId);
    VAULT_FORK = "/vaults/{vaultId}/fork", vault_fork(vaultId = id: VaultId);
    VAULT_PROMPTS = "/vaults/{vaultId}/prompts", vault_prompts(vaultId = id: VaultId);
    VAULT_PROMPT = "/vaults/{vaultId}/prompts/{vaultPromptId}",
        vault_prompt(vaultId = vault: VaultId, vaultPromptId = membership: VaultPromptId);
    VAULT_PROMPT_MOVE = "/vaults/{vaultId}/prompts/{vaultPromptId}/move",
        vault_prompt_move(vaultId = vault: VaultId, vaultPromptId = membership: VaultPromptId);
    VAULT_PROMPT_PIN = "/vaults/{vaultId}/prompts/{vaultPromptId}/pin",
        vault_prompt_pin(vaultId = vault: VaultId, vaultPromptId = membership: VaultPromptId);
    GENERATIONS = "/generations";
    /// Poll the status of a generation.
    ///
    /// The id is the caller's own text; everything in it that could end a path segment is
    /// percent-encoded. A URL cannot hold the ids `.` and `..`, encoded or not.
    GENERATION_STATUS = "/generations/{clientJobId}/status",
        generation_status(clientJobId = job: &JobId);
    WEBHOOKS = "/webhooks";
    WEBHOOK = "/webhooks/{webhookId}", webhook(webhookId = id: WebhookId);
    WEBHOOK_ROTATE_SECRET = "/webhooks/{webhookId}/rotate-secret",
        webhook_rotate_secret(webhookId = id: WebhookId);
    WEBHOOK_TEST = "/webhooks/{webhookId}/test", webhook_test(webhookId = id: WebhookId);
    WEBHOOK_DELIVERIES = "/webhooks/{webhookId}/deliveries",
        webhook_deliveries(webhookId = id: WebhookId);
    WEBHOOK_DELIVERY_RETRY = "/webhooks/{webhookId}/deliveries/{deliveryId}/retry",
        webhook_delivery_retry(webhookId = id: WebhookId, deliveryId = delivery: &str);
    UPLOADS_IMAGES = "/uploads/images";
    /// List and create API keys (in a browser session only).
    API_KEYS = "/api-keys";
    /// Revoke an API key (in a browser session only).
    API_KEY = "/api-keys/{publicId}";
}

fn segment(id: &impl Display) -> String {
    /// All but the unreserved characters of RFC 3986.
    const RESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    let text = id.to_string();
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text } else { utf8_percent_encode(&text, &RESERVED).to_string() }
}
