//! Every call of the SDK on prompts, vaults and contents, where the target refuses it.

use futures::future::BoxFuture;
use promptarium::{Client, Error, PromptId, VaultId, VaultPromptId};
use promptarium_conformance::{Case, Scenario};
use serde_json::json;

use super::{Result, Sdk, check, expect_error, sdk};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    sdk! { Core "sdk.calls.deleted" ["ER-09"] deleted,
        "Every call on what was deleted is a not-found error" },
    sdk! { Core "sdk.calls.foreign" ["ER-10"] [OtherAccount] foreign,
        "Every call on what another account has is a not-found error" },
    sdk! { Core "sdk.calls.unknown-key" ["AU-05"] unknown_key,
        "Every call with an unknown key is an authentication error" },
    sdk! { Core "sdk.calls.read-only" ["AU-07", "AU-08"] [ReadOnlyKey] read_only,
        "Writes with a key without the scope are authentication errors" },
    sdk! { Core "sdk.calls.invalid" ["ER-06", "LI-02", "LI-06", "LI-08"] invalid,
        "A value out of range is an invalid-request error" },
    sdk! { Core "sdk.errors.message" ["ER-01"] message,
        "An error has the status and the text of the wire" },
    sdk! { Reference "sdk.errors.fields" ["ER-03"] fields,
        "An error has the field messages of the wire (S-60)" },
    sdk! { Reference "sdk.errors.request-id" ["EN-03"] request_id,
        "An error has the request id (S-69)" },
];

const NOT_FOUND: (&str, fn(&Error) -> bool) = ("is_not_found", Error::is_not_found);
const UNAUTHORIZED: (&str, fn(&Error) -> bool) = ("is_unauthorized", Error::is_unauthorized);
const INVALID: (&str, fn(&Error) -> bool) = ("is_invalid", Error::is_invalid);

/// What calls name.
#[derive(Clone, Copy)]
struct Ids {
    prompt: PromptId,
    vault: VaultId,
    membership: VaultPromptId,
    /// A vault and a prompt of the caller.
    own: (VaultId, PromptId),
}

type Call = (&'static str, bool, BoxFuture<'static, std::result::Result<(), Error>>);

/// Every call that names a prompt, a vault or a membership, with whether it needs the scope
/// according to the specification.
fn calls(client: &Client, ids: Ids) -> Vec<Call> {
    let Ids { prompt, vault, membership, own: (target, loose) } = ids;
    let (prompts, vaults) = (client.prompts(), client.vaults());
    let contents = client.vault(vault);
    macro_rules! calls {
        ($($name:literal $writes:literal $call:expr;)+) => {
            vec![$(($name, $writes, {
                let call = $call;
                Box::pin(async move { call.await.map(drop) })
            })),+]
        };
    }
    calls! {
        "prompts.get" false prompts.get(prompt);
        "prompts.update" true prompts.update(prompt).title("t");
        "prompts.save" false prompts.save(prompt, target);
        "vaults.get" false vaults.get(vault);
        "vaults.update" true vaults.update(vault).name("n");
        "contents.list" false contents.list();
        "contents.add" false contents.add([loose]);
        "contents.pin" false contents.pin(membership);
        "contents.unpin" false contents.unpin(membership);
        "contents.move_to" false contents.move_to(membership, target);
        "contents.remove" false contents.remove(membership);
        "prompts.delete" true prompts.delete(prompt);
        "vaults.delete" true vaults.delete(vault);
    }
}

async fn ids(case: &Case, other: bool) -> Result<Ids> {
    let owner = if other { case.other_account() } else { case.clone() };
    let vault = owner.vault().await?;
    let [member] = vault.filled().await?;
    let own = (case.vault().await?.id, case.prompt().await?.id);
    Ok(Ids {
        prompt: PromptId::new(member.prompt.id),
        vault: VaultId::new(vault.id),
        membership: VaultPromptId::new(member.id),
        own: (VaultId::new(own.0), PromptId::new(own.1)),
    })
}

async fn all(calls: Vec<Call>, expected: (&'static str, fn(&Error) -> bool)) -> Result {
    for (name, _, call) in calls {
        expect_error(name, call.await, expected)?;
    }
    Ok(())
}

async fn deleted(case: Case) -> Result {
    let (ids, wire) = (ids(&case, false).await?, case.wire());
    wire.delete(&format!("/prompts/{}", ids.prompt)).await?.status(200)?;
    wire.delete(&format!("/vaults/{}", ids.vault)).await?.status(200)?;
    let client = case.sdk()?;
    expect_error("vaults.fork", client.vaults().fork(ids.vault).await, NOT_FOUND)?;
    all(calls(&client, ids), NOT_FOUND).await
}

async fn foreign(case: Case) -> Result {
    let ids = ids(&case, true).await?;
    all(calls(&case.sdk()?, ids), NOT_FOUND).await
}

async fn unknown_key(case: Case) -> Result {
    let ids = ids(&case, false).await?;
    let mut key = case.target().config().api_key.clone();
    let last = key.pop();
    key.push(if last == Some('x') { 'y' } else { 'x' });
    let client = case.sdk_as(&key)?;
    let (prompts, vaults) = (client.prompts(), client.vaults());
    expect_error("prompts.list", prompts.list().page().await, UNAUTHORIZED)?;
    let first = prompts.list().items().next().await.transpose();
    expect_error("prompts.items", first, UNAUTHORIZED)?;
    expect_error("prompts.create", prompts.create(case.name("p"), "p").await, UNAUTHORIZED)?;
    expect_error("vaults.list", vaults.list().await, UNAUTHORIZED)?;
    expect_error("vaults.create", vaults.create(case.name("v")).await, UNAUTHORIZED)?;
    expect_error("vaults.fork", vaults.fork(ids.vault).await, UNAUTHORIZED)?;
    all(calls(&client, ids), UNAUTHORIZED).await
}

async fn read_only(case: Case) -> Result {
    let ids = ids(&case, false).await?;
    let key = case.target().config().read_only_api_key.clone();
    let client = case.sdk_as(&key.unwrap_or_default())?;
    let create = client.prompts().create(case.name("p"), "p").await;
    expect_error("prompts.create", create, UNAUTHORIZED)?;
    let create = client.vaults().create(case.name("v")).await;
    expect_error("vaults.create", create, UNAUTHORIZED)?;
    all(calls(&client, ids).into_iter().filter(|(_, writes, _)| *writes).collect(), UNAUTHORIZED)
        .await
}

async fn invalid(case: Case) -> Result {
    let (client, ids) = (case.sdk()?, ids(&case, false).await?);
    let (prompts, vaults, long) = (client.prompts(), client.vaults(), "a".repeat(121));
    expect_error("a long title", prompts.create(&*long, "p").await, INVALID)?;
    expect_error("an empty text", prompts.create(case.name("p"), "").await, INVALID)?;
    let audio = prompts.create("No such type", "p").prompt_type("audio").await;
    expect_error("an unknown type", audio, INVALID)?;
    let renamed = prompts.update(ids.prompt).title(&*long).await;
    expect_error("a new long title", renamed, INVALID)?;
    expect_error("a long name", vaults.create(&*long).await, INVALID)?;
    expect_error("a new empty name", vaults.update(ids.vault).name("").await, INVALID)?;
    let contents = client.vault(ids.vault);
    expect_error("no prompts", contents.add(Vec::<PromptId>::new()).await, INVALID)?;
    for size in [0, 101] {
        let mut items = prompts.list().page_size(size).items();
        expect_error("a page size", items.next().await.transpose(), INVALID)?;
        check::ensure(items.next().await.is_none(), "the end after an error", "more")?;
    }
    Ok(())
}

async fn message(case: Case) -> Result {
    let absent = PromptId::new(i64::from(i32::MAX) - 1);
    let wire = case.wire().get(&format!("/prompts/{absent}")).await?;
    let error = expect_error("get", case.sdk()?.prompts().get(absent).await, NOT_FOUND)?;
    check::equal("the message", &error.message(), &Some(wire.string("/error")?))?;
    let status = error.status().map(|status| status.as_u16());
    check::equal("the status", &status, &Some(wire.status_code()))
}

async fn fields(case: Case) -> Result {
    let ratio = "a".repeat(21);
    let body = json!({ "title": "", "prompt": "", "aspectRatio": ratio });
    let wire = case.wire().post("/prompts", body).await?;
    let call = case.sdk()?.prompts().create("", "").aspect_ratio(ratio);
    let error = expect_error("create", call.await, INVALID)?;
    for field in ["title", "prompt", "aspectRatio"] {
        let text = wire.status(400)?.string(&format!("/details/{field}"))?;
        check::equal(field, &error.field_error(field).as_deref(), &Some(text))?;
    }
    check::equal("the number of fields", &error.field_errors().count(), &3)
}

async fn request_id(case: Case) -> Result {
    let absent = PromptId::new(i64::MAX);
    let error = expect_error("get", case.sdk()?.prompts().get(absent).await, NOT_FOUND)?;
    let id = error.request_id().unwrap_or_default();
    check::ensure(!id.is_empty(), "a request id", "none")
}
