//! The commands about vaults.

use promptarium::{Client, Vault, VaultId, VaultPrompt};

use crate::args::VaultCommand;
use crate::failure::{Failure, Result};
use crate::find;
use crate::output::{Column, Output, confirm, note};

const COLUMNS: [Column<Vault>; 4] = [
    ("ID", |vault| vault.id.to_string()),
    ("PROMPTS", |vault| vault.prompt_count.to_string()),
    ("VISIBILITY", |vault| vault.visibility.to_string()),
    ("NAME", |vault| vault.name.clone()),
];

pub(crate) async fn run(client: &Client, output: Output, command: VaultCommand) -> Result {
    match command {
        VaultCommand::Ls => output.list(&client.vaults().list().await?, &COLUMNS),
        VaultCommand::New { name, description, visibility } => {
            let create = client.vaults().create(name).set_description(description);
            let vault = create.set_visibility(visibility).await?;
            output.item(&vault, &format!("{}\n", vault.id))
        }
        VaultCommand::Rm { vault, yes } => {
            let Vault { id, name, prompt_count, .. } = find::vault(client, &vault).await?;
            let question =
                format!("Delete the vault \"{name}\"? Its {prompt_count} prompts remain.");
            confirm(yes, &question)?;
            output.item(&client.vaults().delete(id).await?, &format!("{id}\n"))
        }
        VaultCommand::Add { vault, prompts } => {
            let vault = find::vault(client, &vault).await?;
            let mut ids = Vec::new();
            for prompt in &prompts {
                ids.push(find::prompt(client, prompt).await?.id);
            }
            for ids in ids.chunks(*promptarium::limits::ADDED_PROMPTS.end()) {
                let added = client.vault(vault.id).add(ids.iter().copied()).await?;
                output.item(&added, &format!("{}\n", added.prompt_count))?;
            }
            Ok(())
        }
        VaultCommand::Remove { vault, prompts } => {
            let vault = find::vault(client, &vault).await?;
            for prompt in &prompts {
                let member = member(client, &vault, prompt).await?;
                let removed = client.vault(vault.id).remove(member.vault_prompt_id).await?;
                output.item(&removed, &format!("{}\n", member.id))?;
            }
            Ok(())
        }
        VaultCommand::Move { prompt, from, to } => {
            let (from, to) = (find::vault(client, &from).await?, find::vault(client, &to).await?);
            let member = member(client, &from, &prompt).await?;
            let moved = client.vault(from.id).move_to(member.vault_prompt_id, to.id).await?;
            output.item(&moved, &format!("{}\n", moved.vault_prompt_id))
        }
        VaultCommand::Pin { vault, prompt, off } => {
            let vault = find::vault(client, &vault).await?;
            let (contents, member) =
                (client.vault(vault.id), member(client, &vault, &prompt).await?);
            let pin = if off {
                contents.unpin(member.vault_prompt_id)
            } else {
                contents.pin(member.vault_prompt_id)
            };
            output.item(&pin.await?, &format!("{}\n", member.id))
        }
        VaultCommand::Fork { id } => {
            let vault = client.vaults().fork(VaultId::new(id)).await?;
            note(format!("{} prompts are in the vault \"{}\"", vault.prompt_count, vault.name));
            output.item(&vault, &format!("{}\n", vault.id))
        }
    }
}

/// A prompt as a member of a vault.
async fn member(client: &Client, vault: &Vault, prompt: &str) -> Result<VaultPrompt> {
    let prompt = find::prompt(client, prompt).await?;
    let member = client.vault(vault.id).find(prompt.id).await?;
    let text = || format!("prompt {} is not in the vault \"{}\"", prompt.id, vault.name);
    member.ok_or_else(|| Failure::absent(text()))
}
