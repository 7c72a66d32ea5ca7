//! Filling an account over the API.

use http::Method;
use serde_json::json;

use crate::Result;
use crate::account::{Account, Marks, integer};

const ADDED_AT_ONCE: usize = 50;

/// An account with one vault that holds all its prompts.
pub(crate) async fn account(base: &str, key: &'static str, prompts: usize) -> Result<Account> {
    let mut account = Account::connect(base, key).await?;
    let mut vaults = [0; 2];
    for (vault, name) in vaults.iter_mut().zip(["Bench", "Saved"]) {
        let created = account.call(Method::POST, "/vaults", Some(json!({ "name": name }))).await?;
        *vault = integer(&created, "/data/id")?;
    }
    let [vault, second] = vaults;
    let mut ids = Vec::with_capacity(prompts);
    for n in 0..prompts {
        let body = json!({ "title": format!("Study {n}"), "prompt": "Still life, soft light" });
        ids.push(integer(&account.call(Method::POST, "/prompts", Some(body)).await?, "/data/id")?);
    }
    let path = format!("/vaults/{vault}/prompts");
    for ids in ids.chunks(ADDED_AT_ONCE) {
        account.call(Method::POST, &path, Some(json!({ "promptIds": ids }))).await?;
    }
    let listed = account.get(&path).await?;
    let member = integer(&listed, "/data/0/vaultPromptId")?;
    let deep = account.middle(prompts).await?;
    let all = ids[0]..ids[prompts - 1] + 1;
    account.marks = Marks { vault, second, prompt: ids[prompts / 2], member, prompts: all, deep };
    Ok(account)
}
