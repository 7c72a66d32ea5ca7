//! What a key without `prompts:write` may do. The rules name the writes to
//! prompts and vaults; that it may read, and may write nothing else, is the
//! reference server's choice.

use http::Method;
use serde_json::json;

use crate::scenario::{core, reference};
use crate::scenarios::endpoints::{self, Endpoint, Ids};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    core! { "auth.scope.create-prompt" ["AU-07"] [ReadOnlyKey] create_prompt,
        "Creating a prompt without prompts:write is answered 401" },
    core! { "auth.scope.update-prompt" ["AU-07"] [ReadOnlyKey] update_prompt,
        "Updating a prompt without prompts:write is answered 401" },
    core! { "auth.scope.delete-prompt" ["AU-07"] [ReadOnlyKey] delete_prompt,
        "Deleting a prompt without prompts:write is answered 401" },
    core! { "auth.scope.prompts-unchanged" ["AU-07"] [ReadOnlyKey] prompts_unchanged,
        "What a key without prompts:write tries on prompts changes nothing" },
    core! { "auth.scope.create-vault" ["AU-08"] [ReadOnlyKey] create_vault,
        "Creating a vault without prompts:write is answered 401" },
    core! { "auth.scope.update-vault" ["AU-08"] [ReadOnlyKey] update_vault,
        "Updating a vault without prompts:write is answered 401" },
    core! { "auth.scope.delete-vault" ["AU-08"] [ReadOnlyKey] delete_vault,
        "Deleting a vault without prompts:write is answered 401" },
    core! { "auth.scope.vaults-unchanged" ["AU-08"] [ReadOnlyKey] vaults_unchanged,
        "What a key without prompts:write tries on vaults changes nothing" },
    reference! { "auth.scope.reads" ["AU-01"] [ReadOnlyKey] reads,
        "A key without prompts:write reads all that the account's other keys read (S-48, S-50)" },
    reference! { "auth.scope.other-writes" ["AU-07", "AU-08"] [ReadOnlyKey] other_writes,
        "Save, fork, add, remove, move, pin and unpin need prompts:write and else change nothing \
         (S-51)" },
];

const PROMPT: &str = "/prompts/{promptId}";
const VAULT: &str = "/vaults/{vaultId}";

async fn create_prompt(case: Case) -> Result<(), Failure> {
    refused(&case, Method::POST, "/prompts").await
}

async fn update_prompt(case: Case) -> Result<(), Failure> {
    refused(&case, Method::PATCH, PROMPT).await
}

async fn delete_prompt(case: Case) -> Result<(), Failure> {
    refused(&case, Method::DELETE, PROMPT).await
}

async fn create_vault(case: Case) -> Result<(), Failure> {
    refused(&case, Method::POST, "/vaults").await
}

async fn update_vault(case: Case) -> Result<(), Failure> {
    refused(&case, Method::PATCH, VAULT).await
}

async fn delete_vault(case: Case) -> Result<(), Failure> {
    refused(&case, Method::DELETE, VAULT).await
}

async fn refused(case: &Case, method: Method, template: &str) -> Result<(), Failure> {
    let ids = Ids::make(case, &case.wire()).await?;
    let endpoint = endpoints::one(case, &ids, &method, template)?;
    endpoint.send(&case.read_only()).await?.status(401)?;
    Ok(())
}

async fn prompts_unchanged(case: Case) -> Result<(), Failure> {
    let (wire, reader) = (case.wire(), case.read_only());
    let ids = Ids::make(&case, &wire).await?;
    let before = ids.state(&wire).await?;
    // A prompt that was made after all shows in the vault it was made for.
    let body = json!({ "title": case.name("prompt"), "prompt": "p", "vaultId": ids.target });
    reader.post("/prompts", body).await?;
    tried(&case, &ids, |endpoint| endpoint.template == PROMPT && !endpoint.reads()).await?;
    check::equal("what was there", &ids.state(&wire).await?, &before)
}

async fn vaults_unchanged(case: Case) -> Result<(), Failure> {
    let (wire, reader) = (case.wire(), case.read_only());
    let ids = Ids::make(&case, &wire).await?;
    let before = ids.state(&wire).await?;
    let name = case.name("vault");
    reader.post("/vaults", json!({ "name": name })).await?;
    tried(&case, &ids, |endpoint| endpoint.template == VAULT && !endpoint.reads()).await?;
    check::equal("what was there", &ids.state(&wire).await?, &before)?;
    let vaults = wire.get("/vaults").await?;
    let made = vaults.array("/data")?.iter().any(|vault| vault["name"] == json!(name));
    vaults.ensure(!made, "no vault of the refused name", "one")?;
    Ok(())
}

async fn reads(case: Case) -> Result<(), Failure> {
    let ids = Ids::make(&case, &case.wire()).await?;
    let (wire, reader) = (case.wire(), case.read_only());
    for endpoint in endpoints::all(&case, &ids) {
        if endpoint.reads() {
            let reply = endpoint.send(&reader).await?;
            reply.status(200)?;
            // The lists of the whole account change under other scenarios.
            if endpoint.names_prompt() || endpoint.names_vault() {
                let same = reply.json()? == endpoint.send(&wire).await?.json()?;
                reply.ensure(same, "the answer that the account's other key gets", "another")?;
            }
        }
    }
    let filtered = reader.get(&format!("/prompts?vaultId={}", ids.vault)).await?;
    let got = filtered.status(200)?.integers("/data", "id")?;
    check::equal("prompts of the vault", &got.len(), &make::contents(&wire, ids.vault).await?.len())
}

async fn other_writes(case: Case) -> Result<(), Failure> {
    let wire = case.wire();
    let ids = Ids::make(&case, &wire).await?;
    wire.patch(&format!("/vaults/{}", ids.vault), json!({ "visibility": "public" })).await?;
    let before = ids.state(&wire).await?;
    for endpoint in endpoints::all(&case, &ids) {
        let stated = [PROMPT, VAULT, "/prompts", "/vaults"].contains(&endpoint.template);
        if !endpoint.reads() && !stated {
            endpoint.send(&case.read_only()).await?.status(401)?;
        }
    }
    check::equal("what was there", &ids.state(&wire).await?, &before)
}

/// Sends some of the endpoints with the key that may only read, whatever the answer.
async fn tried(case: &Case, ids: &Ids, these: fn(&Endpoint) -> bool) -> Result<(), Failure> {
    for endpoint in endpoints::all(case, ids).iter().filter(|endpoint| these(endpoint)) {
        endpoint.send(&case.read_only()).await?;
    }
    Ok(())
}
