//! What is in a vault: the listing, and the calls that put prompts in, take
//! them out, move them and pin them.

pub(crate) mod listing;
pub(crate) mod membership;
pub(crate) mod moves;
pub(crate) mod race;

use crate::scenarios::prelude::*;

/// A new vault with prompts. The id of no membership is that of its prompt: where both are the
/// same number, one that is taken for the other does not show.
async fn vault_with_distinct_ids(case: &Case, count: usize) -> Result<(Vault, Vec<Member>)> {
    let mut tries = 0;
    loop {
        let vault = case.vault().await?;
        let members = vault.fill(count).await?;
        tries += 1;
        if tries == 8 || members.iter().all(|member| member.id != member.prompt.id) {
            return Ok((vault, members));
        }
        // Prompts are ahead of memberships by one more the next time.
        case.prompt().await?;
    }
}
