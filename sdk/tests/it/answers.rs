//! The value of each call after a success.

use insta::assert_snapshot;
use promptarium::{
    Client, Error, GenerationJob, PromptId, Timestamp, VaultId, VaultPromptId, Visibility,
};
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::stub::{envelope, outcome, prompt};

const PROMPT: PromptId = PromptId::new(7);
const VAULT: VaultId = VaultId::new(3);
const MEMBERSHIP: VaultPromptId = VaultPromptId::new(21);

async fn decoded<C, T>(status: u16, data: Value, make: impl FnOnce(&Client) -> C) -> T
where
    C: IntoFuture<Output = Result<T, Error>>,
{
    let answer = ResponseTemplate::new(status).set_body_json(envelope(&data));
    outcome(answer, make).await.unwrap()
}

fn vault() -> Value {
    json!({
        "id": 3, "name": "Harbours", "description": "Boats", "slug": "harbours",
        "visibility": "private", "accessType": null, "isLocked": false, "coverImageUrl": null,
        "isSystem": false, "promptCount": 2,
        "createdAt": "2026-03-01T11:00:00.000000Z", "updatedAt": "2026-03-01T11:30:00.000000Z",
    })
}

#[tokio::test]
async fn prompt_calls_give_the_prompt() {
    let page = decoded(200, json!([prompt(7), prompt(8)]), |c| c.prompts().list()).await;
    assert_eq!(page.items.iter().map(|prompt| prompt.id.get()).collect::<Vec<_>>(), [7, 8]);
    assert_eq!(decoded(201, prompt(7), |c| c.prompts().create("t", "p")).await.id, PROMPT);
    assert_eq!(decoded(200, prompt(7), |c| c.prompts().get(PROMPT)).await.title, "Prompt 7");
    assert_eq!(decoded(200, prompt(7), |c| c.prompts().update(PROMPT)).await.vault_ids, [VAULT]);
    assert_eq!(decoded(200, prompt(7), |c| c.prompts().save(PROMPT, VAULT)).await.id, PROMPT);
    let gone = json!({ "id": 7, "deleted": true });
    let gone = decoded(200, gone, |c| c.prompts().delete(PROMPT)).await;
    assert_eq!((gone.id, gone.deleted), (PROMPT, true));
}

#[tokio::test]
async fn vault_calls_give_the_vault() {
    let all = decoded(200, json!([vault(), vault()]), |c| c.vaults().list()).await;
    assert_eq!(all.len(), 2);
    assert_eq!(decoded(201, vault(), |c| c.vaults().create("Harbours")).await.id, VAULT);
    assert_eq!(decoded(200, vault(), |c| c.vaults().get(VAULT)).await.slug, "harbours");
    let vault_now = decoded(200, vault(), |c| c.vaults().update(VAULT)).await;
    assert_eq!(vault_now.description.as_deref(), Some("Boats"));
    let copy = decoded(201, vault(), |c| c.vaults().fork(VAULT)).await;
    assert_eq!((copy.visibility, copy.prompt_count), (Visibility::Private, 2));
    let gone = json!({ "id": 3, "deleted": true });
    assert_eq!(decoded(200, gone, |c| c.vaults().delete(VAULT)).await.id, VAULT);
}

#[tokio::test]
async fn calls_on_the_contents_of_a_vault_give_the_membership() {
    let mut member = prompt(7);
    member["vaultPromptId"] = json!(21);
    member["isPinned"] = json!(true);
    let all = decoded(200, json!([member]), |c| c.vault(VAULT).list()).await;
    assert_eq!((all[0].id, all[0].vault_prompt_id, all[0].is_pinned), (PROMPT, MEMBERSHIP, true));

    let added = json!({ "added": 1, "vaultId": 3, "promptCount": 2 });
    let added = decoded(201, added, |c| c.vault(VAULT).add([PROMPT])).await;
    assert_eq!((added.added, added.vault_id, added.prompt_count), (1, VAULT, 2));

    let removed = json!({ "vaultPromptId": 21, "removed": true });
    let removed = decoded(200, removed, |c| c.vault(VAULT).remove(MEMBERSHIP)).await;
    assert_eq!((removed.vault_prompt_id, removed.removed), (MEMBERSHIP, true));

    let moved = json!({
        "promptId": 7, "sourceVaultId": 3, "targetVaultId": 4, "vaultPromptId": 22,
    });
    let target = VaultId::new(4);
    let moved = decoded(200, moved, |c| c.vault(VAULT).move_to(MEMBERSHIP, target)).await;
    assert_eq!((moved.prompt_id, moved.source_vault_id), (PROMPT, VAULT));
    assert_eq!((moved.target_vault_id, moved.vault_prompt_id), (target, VaultPromptId::new(22)));

    let state = |pinned: bool| json!({ "vaultPromptId": 21, "isPinned": pinned });
    let contents = |c: &Client| c.vault(VAULT);
    assert!(decoded(200, state(true), |c| contents(c).pin(MEMBERSHIP)).await.is_pinned);
    assert!(!decoded(200, state(false), |c| contents(c).unpin(MEMBERSHIP)).await.is_pinned);
}

#[tokio::test]
async fn a_deletion_may_be_answered_without_a_body_and_with_null() {
    async fn no_content<C, T>(make: impl Fn(&Client) -> C) -> T
    where
        C: IntoFuture<Output = Result<T, Error>>,
    {
        let null = ResponseTemplate::new(200).set_body_string(r#"{"data":null,"error":null}"#);
        outcome(null, &make).await.unwrap();
        outcome(ResponseTemplate::new(204), make).await.unwrap()
    }
    let gone = no_content(|c| c.prompts().delete(PROMPT)).await;
    assert_eq!((gone.id, gone.deleted), (PROMPT, true));
    assert_eq!(no_content(|c| c.vaults().delete(VAULT)).await.id, VAULT);
    assert!(no_content(|c| c.vault(VAULT).remove(MEMBERSHIP)).await.removed);
    assert!(!no_content(|c| c.vault(VAULT).unpin(MEMBERSHIP)).await.is_pinned);
}

#[tokio::test]
async fn absent_resources_are_none() {
    let absent = json!({ "data": null, "error": "no such prompt" });
    let absent = ResponseTemplate::new(404).set_body_json(absent);
    let prompt_opt = outcome(absent.clone(), |c| c.prompts().get_opt(PROMPT)).await.unwrap();
    assert!(prompt_opt.is_none());
    assert!(outcome(absent, |c| c.vaults().get_opt(VAULT)).await.unwrap().is_none());
    assert!(decoded(200, prompt(7), |c| c.prompts().get_opt(PROMPT)).await.is_some());
    let busy = ResponseTemplate::new(503);
    assert!(outcome(busy, |c| c.prompts().get_opt(PROMPT)).await.is_err());

    let mut member = prompt(7);
    member["vaultPromptId"] = json!(21);
    member["isPinned"] = json!(false);
    let find = |id| {
        let member = member.clone();
        decoded(200, json!([member]), move |c| c.vault(VAULT).find(PromptId::new(id)))
    };
    assert_eq!(find(7).await.unwrap().vault_prompt_id, MEMBERSHIP);
    assert!(find(8).await.is_none());
}

#[tokio::test]
async fn a_page_without_next_cursor_is_not_the_last_page() {
    let list = async |pagination: &str| {
        let body = format!(r#"{{"data":[],"error":null{pagination}}}"#);
        let answer = ResponseTemplate::new(200).set_body_string(body);
        outcome(answer, |c| c.prompts().list()).await
    };
    for last in ["", r#","pagination":null"#, r#","pagination":{"nextCursor":null}"#] {
        assert!(list(last).await.unwrap().next_cursor.is_none(), "{last}");
    }
    let error = list(r#","pagination":{"next_cursor":"c"}"#).await.unwrap_err();
    assert!(error.is_decode());
    let start =
        "GET /prompts: cannot decode response at `pagination`: missing field `nextCursor` (200 OK)";
    assert!(error.to_string().starts_with(start), "{error}");
}

#[tokio::test]
async fn a_queued_job_can_be_stored_with_what_is_known_of_its_output() {
    let accepted = json!({ "success": true, "clientJobId": "j", "providerRequestId": "r" });
    let queue = |vault: i64| {
        let accepted = accepted.clone();
        decoded(202, accepted, move |c| {
            let call = c.generations().create("local/plasma", "A harbour").client_job_id("j");
            call.vault(VaultId::new(vault)).batch_count(2)
        })
    };
    let before = Timestamp::now();
    let job = queue(77).await;
    let mut stored = serde_json::to_value(&job).unwrap();
    assert_eq!(serde_json::from_value::<GenerationJob>(stored.clone()).unwrap(), job);
    let mut time = |name: &str| {
        let time = stored["outputHint"][name].take();
        time.as_str().unwrap().parse::<Timestamp>().unwrap()
    };
    let (earliest, latest) = (time("earliest"), time("latest"));
    assert!(before <= latest && earliest <= Timestamp::now(), "{earliest} {before} {latest}");
    assert_snapshot!(stored, @r#"{"clientJobId":"j","outputHint":{"batchCount":2,"earliest":null,"latest":null,"prompt":"A harbour","vaultId":77},"providerRequestId":"r","statusUrl":null,"success":true}"#);

    // The time it was sent differs too.
    assert_ne!(queue(77).await, job);
    let plain: GenerationJob = serde_json::from_value(accepted).unwrap();
    assert!(serde_json::to_value(&plain).unwrap().get("outputHint").is_none());
}
