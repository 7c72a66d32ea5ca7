//! What is in a vault: the listing, and the calls that put prompts in, take
//! them out, move them and pin them.

mod add;
mod listing;
mod membership;
mod moves;
mod race;

use super::prelude::*;

pub(super) const ALL: &[&[Scenario]] =
    &[membership::ALL, listing::ALL, add::ALL, moves::ALL, race::ALL];

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
