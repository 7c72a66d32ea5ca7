//! Prompts that are made into a vault while it goes.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use promptarium::{PromptId, VaultId};
use promptarium_server::store::{NewPrompt, SharedPrompt};

use crate::fault::{Fault, fault};
use crate::shared::Shared;
use crate::store::{FaultyStore, Good, Result, in_store};

/// So long a prompt is being made: a deletion at the same moment comes in between.
const UNDER_WAY: Duration = Duration::from_millis(150);

const DELETE: &str = "DELETE /vaults/*";

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault! { "races.made-into-deleted" ["PR-27"]
        in_store(DELETE, Births::default()),
        "Prompts that are being made into a vault as it is deleted still name it." },
];

/// Prompts and the vaults that they were made into.
#[derive(Default)]
struct Births {
    under_way: Shared<Vec<(PromptId, VaultId)>>,
    named: Shared<Vec<(PromptId, VaultId)>>,
}

#[async_trait]
impl FaultyStore for Births {
    async fn create_prompt(&self, good: Good<'_>, new: NewPrompt) -> Result<SharedPrompt> {
        let vault = new.vault;
        let prompt = good.create_prompt(new).await?;
        if let Some(vault) = vault {
            let birth = (prompt.id, vault);
            self.under_way.with(|births| births.push(birth));
            tokio::time::sleep(UNDER_WAY).await;
            self.under_way.with(|births| births.retain(|one| *one != birth));
        }
        Ok(prompt)
    }

    async fn delete_vault(&self, good: Good<'_>, id: VaultId) -> Result {
        // Those that come a little later are also under way by then.
        tokio::time::sleep(UNDER_WAY / 2).await;
        good.delete_vault(id).await?;
        let births = self.under_way.with(|births| births.clone());
        self.named.with(|named| named.extend(births.iter().filter(|(_, vault)| *vault == id)));
        Ok(())
    }

    async fn prompt(&self, good: Good<'_>, id: PromptId) -> Result<SharedPrompt> {
        let mut prompt = good.prompt(id).await?;
        let named = self.named.with(|named| named.clone());
        let vaults = named.iter().filter(|(prompt, _)| *prompt == id).map(|(_, vault)| *vault);
        Arc::make_mut(&mut prompt).vault_ids.extend(vaults);
        Ok(prompt)
    }
}
