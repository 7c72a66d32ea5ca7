//! What a caller may do after its key was revoked or its session has ended: nothing.

use std::sync::Arc;

use super::jobs::{claim, new, queued};
use super::{StoreUnderTest, contract_tests, named, named_key, new_prompt};
use crate::domain::{PromptKind, PromptPatch, PromptQuery, VaultPatch};
use crate::store::{Result, StoreError};

contract_tests! {
    every_method_refuses_a_revoked_key_and_an_ended_session_and_changes_nothing
}

impl StoreUnderTest {
    /// All data of accounts as text.
    async fn all_data(&self) -> String {
        let super::Kind::Memory(store) = &self.kind else {
            let all = "SELECT string_agg(line, E'\\n' ORDER BY line) FROM (
                SELECT vault::text FROM vault UNION ALL SELECT prompt::text FROM prompt
                UNION ALL SELECT vault_prompt::text FROM vault_prompt
                UNION ALL SELECT job::text FROM job UNION ALL SELECT due_job::text FROM due_job
                UNION ALL SELECT (public_id, revoked_at)::text FROM api_key
            ) AS lines (line)";
            return self.sql().await.query_one(all, &[]).await.unwrap().get(0);
        };
        store.all_data()
    }
}

async fn every_method_refuses_a_revoked_key_and_an_ended_session_and_changes_nothing(
    db: Arc<StoreUnderTest>,
) {
    let (alice, store) = (db.caller("alice").await, &db.store);
    let prompt = db.prompt(&alice, None).await.id;
    let vault = db.public(&alice, &[prompt]).await;
    queued(&**store, &alice, "j").await;
    let member = db.contents(&alice, vault).await[0].membership;
    store.create_api_key(&alice, named_key("other")).await.unwrap();
    store.create_api_key(&alice, named_key("revoked")).await.unwrap();
    let revoked = store.find_key("revoked", &[7; 32]).await.unwrap().unwrap().caller();
    let (ended, going) = (db.session("alice", 1).await, db.session("alice", 2).await.id);
    store.confirm_key(&revoked).await.unwrap();
    store.confirm_key(&ended.caller()).await.unwrap();
    store.revoke_api_key(&alice, "revoked").await.unwrap();
    store.end_session(&alice, ended.id).await.unwrap();
    let before = db.all_data().await;

    let page = |vault, kind| PromptQuery { vault, kind, after: None, limit: 3 };
    let (kind, in_vault) = (Some(PromptKind::Text), Some(vault));
    let new_prompt = |vault| new_prompt(PromptKind::Text, vault);
    let title = || PromptPatch { title: Some("x".into()), ..PromptPatch::default() };
    let name = || VaultPatch { name: Some("x".into()), ..VaultPatch::default() };
    for caller in [revoked, ended.caller()] {
        let results: [Result<()>; 34] = [
            store.create_prompt(&caller, new_prompt(None)).await.map(drop),
            store.create_prompt(&caller, new_prompt(in_vault)).await.map(drop),
            store.prompt(&caller, prompt).await.map(drop),
            store.prompt_inputs(&caller, prompt).await.map(drop),
            store.list_prompts(&caller, page(None, None)).await.map(drop),
            store.list_prompts(&caller, page(None, kind)).await.map(drop),
            store.list_prompts(&caller, page(in_vault, None)).await.map(drop),
            store.list_prompts(&caller, page(in_vault, kind)).await.map(drop),
            store.update_prompt(&caller, prompt, title()).await.map(drop),
            store.update_prompt(&caller, prompt, PromptPatch::default()).await.map(drop),
            store.save_prompt(&caller, prompt, vault).await.map(drop),
            store.delete_prompt(&caller, prompt).await,
            store.vaults(&caller).await.map(drop),
            store.newest_vaults(&caller, 3).await.map(drop),
            store.vault(&caller, vault).await.map(drop),
            store.create_vault(&caller, named("Sky")).await.map(drop),
            store.update_vault(&caller, vault, name()).await.map(drop),
            store.update_vault(&caller, vault, VaultPatch::default()).await.map(drop),
            store.fork_vault(&caller, vault).await.map(drop),
            store.delete_vault(&caller, vault).await,
            store.contents(&caller, vault).await.map(drop),
            store.add_prompts(&caller, vault, &[prompt]).await.map(drop),
            store.remove_membership(&caller, vault, member).await,
            store.move_membership(&caller, vault, member, vault).await.map(drop),
            store.set_pinned(&caller, vault, member, true).await,
            store.reserve_job(&caller, new("j", 1, None)).await.map(drop),
            store.reserve_job(&caller, new("k", 1, in_vault)).await.map(drop),
            store.job(&caller, "j").await.map(drop),
            store.sessions(&caller).await.map(drop),
            store.end_session(&caller, going).await,
            store.create_api_key(&caller, named_key("k")).await.map(drop),
            store.api_keys(&caller).await.map(drop),
            store.revoke_api_key(&caller, "other").await.map(drop),
            store.confirm_key(&caller).await,
        ];
        for (number, result) in results.iter().enumerate() {
            assert!(matches!(result, Err(StoreError::KeyRevoked)), "{number}: {result:?}");
        }
    }
    assert_eq!(db.all_data().await, before);
    assert!(store.find_session([1; 32]).await.unwrap().is_none());
    assert!(claim(&**store).await.is_some(), "a job that was accepted before continues");
}
