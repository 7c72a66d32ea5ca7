//! What a key without `prompts:write` may do. The rules name the writes to
//! prompts and vaults; that it may read, and may write nothing else, is the
//! reference server's choice.

use crate::scenario::reference;
use crate::scenarios::endpoints::{self, Ids};
use crate::{Case, Failure, Scenario, check, make};

#[rustfmt::skip]
pub(super) const ALL: &[Scenario] = &[
    reference! { "auth.scope.reads" ["AU-01"] [ReadOnlyKey] reads,
        "A key without prompts:write reads all that the account's other keys read (S-48, S-50)" },
];

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
