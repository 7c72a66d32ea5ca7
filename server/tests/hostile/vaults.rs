//! Forks of a large vault.

use futures::future::join_all;
use reqwest::Method;
use serde_json::json;

use crate::attacker::Attacker;
use crate::target::Target;

const FORKS: usize = 16;
/// The first prompts of the vault; each fork and its addition doubles them.
const FIRST: usize = 50;
/// 51,200 prompts, and 1,600 in a debug build, which is still more than what a short statement may
/// copy.
const DOUBLINGS: u32 = if cfg!(debug_assertions) { 5 } else { 10 };
/// Prompts that are added by one request.
const ADDED: usize = 50;

pub(crate) async fn forks(target: &Target) {
    let attacker = Attacker::of(target);
    let vault = attacker.vault(FIRST, "A harbour").await;
    for _ in 0..DOUBLINGS {
        let copy = attacker.post(&format!("/vaults/{vault}/fork"), &json!({})).await;
        let copies = attacker.get(&format!("/vaults/{}/prompts", copy["id"])).await;
        let ids: Vec<_> = copies.as_array().unwrap().iter().map(|copy| &copy["id"]).collect();
        for ids in ids.chunks(ADDED) {
            let added = json!({ "promptIds": ids });
            attacker.post(&format!("/vaults/{vault}/prompts"), &added).await;
        }
    }
    let path = format!("/vaults/{vault}/fork");
    let forks = (0..FORKS).map(|_| attacker.call(Method::POST, &path, "{}".to_owned()));
    let forks = join_all(forks).await;
    let forked = forks.iter().filter(|(status, _)| *status == 201).count();
    let refused = forks.iter().filter(|(status, _)| matches!(status, 400 | 503)).count();
    println!("{forked} forks were made and {refused} refused");
    assert!(forked > 0 && forked + refused == FORKS, "{forks:?}");
}
