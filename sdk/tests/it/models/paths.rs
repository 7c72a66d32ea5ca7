//! Paths: filled templates, and ids that stay one segment.

use percent_encoding::percent_decode_str;
use promptarium::path;
use promptarium::{JobId, PromptId, VaultId, VaultPromptId, WebhookId};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use url::Url;

#[test]
fn a_path_is_its_template_with_the_ids_filled_in() {
    let (prompt, vault, member) = (PromptId::new(7), VaultId::new(3), VaultPromptId::new(21));
    let job = JobId::from("a/../b?c#% é");
    for (template, built) in [
        (path::PROMPT, path::prompt(prompt)),
        (path::PROMPT_SAVE, path::prompt_save(prompt)),
        (path::VAULT, path::vault(vault)),
        (path::VAULT_FORK, path::vault_fork(vault)),
        (path::VAULT_PROMPTS, path::vault_prompts(vault)),
        (path::VAULT_PROMPT, path::vault_prompt(vault, member)),
        (path::VAULT_PROMPT_MOVE, path::vault_prompt_move(vault, member)),
        (path::VAULT_PROMPT_PIN, path::vault_prompt_pin(vault, member)),
        (path::GENERATION_STATUS, path::generation_status(&job)),
        (path::WEBHOOK, path::webhook(WebhookId::new(5))),
        (path::WEBHOOK_TEST, path::webhook_test(WebhookId::new(5))),
        (path::WEBHOOK_DELIVERIES, path::webhook_deliveries(WebhookId::new(5))),
        (path::WEBHOOK_ROTATE_SECRET, path::webhook_rotate_secret(WebhookId::new(5))),
        (path::WEBHOOK_DELIVERY_RETRY, path::webhook_delivery_retry(WebhookId::new(5), "a/b")),
    ] {
        let filled = template
            .replace("{promptId}", "7")
            .replace("{vaultId}", "3")
            .replace("{vaultPromptId}", "21")
            .replace("{webhookId}", "5")
            .replace("{deliveryId}", "a%2Fb")
            .replace("{clientJobId}", "a%2F..%2Fb%3Fc%23%25%20%C3%A9");
        assert_eq!(built, filled);
    }
}

/// Any text but those that a segment of a URL cannot hold, often of characters with a meaning in a
/// URL.
fn job_text() -> impl Strategy<Value = String> {
    let dangerous: Vec<char> = "/\\?#%.:@;=&+ \t\n2eE~é\0".chars().collect();
    let texts = prop_oneof![vec(any::<char>(), 1..40), vec(select(dangerous), 1..8),];
    let texts = texts.prop_map(String::from_iter);
    texts.prop_filter("no segment at all", |text| !matches!(text.as_str(), "." | ".."))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000, failure_persistence: None, ..Default::default()
    })]

    /// As the client sends it: after the base URL, through a URL parser, which removes dot
    /// segments.
    #[test]
    fn a_job_id_is_one_segment_that_decodes_to_itself(text in job_text()) {
        let path = path::generation_status(&JobId::from(text.as_str()));
        let url = Url::parse(&format!("https://prompts.example/api/v1{path}")).unwrap();
        prop_assert_eq!(url.path(), format!("/api/v1{path}"));
        prop_assert_eq!((url.query(), url.fragment()), (None, None));
        let segments: Vec<_> = url.path_segments().unwrap().collect();
        let [api, v1, generations, job, status] = segments[..] else {
            return Err(TestCaseError::fail(format!("{segments:?}")));
        };
        prop_assert_eq!([api, v1, generations, status], ["api", "v1", "generations", "status"]);
        prop_assert_eq!(percent_decode_str(job).decode_utf8().unwrap(), text);
    }
}
