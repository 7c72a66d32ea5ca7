//! The commands about vaults.

use promptarium::resources::VaultContents;
use promptarium::{Client, Vault, VaultId, VaultPrompt};

use crate::args::{Members, VaultCommand};
use crate::failure::{ABSENT, Failure, Result};
use crate::find;
use crate::output::{App, Column, confirm};

const COLUMNS: [Column<Vault>; 4] = [
    ("ID", |vault| vault.id.to_string()),
    ("PROMPTS", |vault| vault.prompt_count.to_string()),
    ("VISIBILITY", |vault| vault.visibility.to_string()),
    ("NAME", |vault| vault.name.clone()),
];

pub(crate) async fn run(app: &App, command: VaultCommand) -> Result {
    let client = &app.client;
    match command {
        VaultCommand::Ls => app.list(&client.vaults().list().await?, &COLUMNS),
        VaultCommand::New { name, description, visibility } => {
            let create = client.vaults().create(name).set_description(description);
            let vault = create.set_visibility(visibility).await?;
            app.item(&vault, vault.id)
        }
        VaultCommand::Rm { vault } => {
            let Vault { id, name, prompt_count, .. } = find::vault(client, &vault).await?;
            let question = format!("Delete the vault \"{name}\"? Its {prompt_count} prompts stay.");
            confirm(app.yes, &question)?;
            app.item(&client.vaults().delete(id).await?, id)
        }
        VaultCommand::Add(Members { vault, prompts }) => {
            let vault = find::vault(client, &vault).await?;
            let prompts = find::prompts(client, &prompts).await?;
            let added = client.vault(vault.id).add(prompts.iter().map(|prompt| prompt.id)).await?;
            app.item(&added, added.prompt_count)
        }
        VaultCommand::Remove(Members { vault, prompts }) => {
            for prompt in &prompts {
                let (vault, member) = member(client, &vault, prompt).await?;
                app.item(&vault.remove(member.vault_prompt_id).await?, member.id)?;
            }
            Ok(())
        }
        VaultCommand::Move { prompt, from, to } => {
            let to = find::vault(client, &to).await?.id;
            let (from, member) = member(client, &from, &prompt).await?;
            app.item(&from.move_to(member.vault_prompt_id, to).await?, member.id)
        }
        VaultCommand::Pin { vault, prompt, off } => {
            let (vault, member) = member(client, &vault, &prompt).await?;
            let id = member.vault_prompt_id;
            app.item(&if off { vault.unpin(id) } else { vault.pin(id) }.await?, member.id)
        }
        VaultCommand::Fork { id } => {
            let vault = client.vaults().fork(VaultId::new(id)).await?;
            app.item(&vault, vault.id)
        }
    }
}

/// A prompt as a member of a vault.
async fn member(
    client: &Client,
    vault: &str,
    prompt: &str,
) -> Result<(VaultContents, VaultPrompt)> {
    let (vault, prompt) = (find::vault(client, vault).await?, find::prompt(client, prompt).await?);
    let contents = client.vault(vault.id);
    let text = || format!("prompt {} is not in the vault \"{}\"", prompt.id, vault.name);
    let member = contents.find(prompt.id).await?;
    Ok((contents, member.ok_or_else(|| Failure::new(ABSENT, text()))?))
}
