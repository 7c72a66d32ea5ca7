//! Clients that do not read their responses.

use serde_json::json;

use crate::attacker::Attacker;
use crate::client::request;
use crate::target::{ATTACKER, Target};

/// The most characters of a prompt, four bytes each.
const LARGEST_TEXT: usize = 15_000;
const PAGE: usize = 100;
const PAGE_READERS: usize = 150;
/// More than what the buffers of two sockets hold. A debug build takes seconds to write 30 times
/// 300 prompts.
const VAULT: usize = if cfg!(debug_assertions) { 100 } else { 300 };
const VAULT_READERS: usize = 30;

pub(crate) async fn pages(target: &Target) {
    let body = json!({ "title": "t", "prompt": "😀".repeat(LARGEST_TEXT) });
    let attacker = Attacker::of(target);
    for _ in 0..PAGE {
        attacker.post("/prompts", &body).await;
    }
    let page = request(ATTACKER, "GET", &format!("/prompts?limit={PAGE}"), None);
    let (sent, refused) = target.unread(&page, PAGE_READERS, &[429, 503]).await;
    println!("{sent} pages were sent and {refused} refused");
}

pub(crate) async fn vaults(target: &Target) {
    let vault = Attacker::of(target).vault(VAULT, &"😀".repeat(LARGEST_TEXT)).await;
    let list = request(ATTACKER, "GET", &format!("/vaults/{vault}/prompts"), None);
    let (sent, refused) = target.unread(&list, VAULT_READERS, &[429, 503]).await;
    println!("{sent} vaults were sent and {refused} refused");
}
