//! The commands about prompts and vaults.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{fs, pin::pin};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use promptarium::resources::VaultContents;
use promptarium::{Client, Prompt, Variable, Vault, VaultId, VaultPrompt};

use crate::app::{
    ABSENT, App, Column, FAILED, Failure, Result, USAGE, ask, can_ask, confirm, note,
};
use crate::args::{Filled, Members, Selection, VaultCommand};
use crate::config::variable;
use crate::document::{Document, save_in};
use crate::find;

const PROMPTS: [Column<Prompt>; 4] = [
    ("ID", |prompt| prompt.id.to_string()),
    ("TYPE", |prompt| prompt.prompt_type.to_string()),
    ("UPDATED", |prompt| prompt.updated_at.to_string().chars().take(10).collect()),
    ("TITLE", |prompt| prompt.title.clone()),
];

const VAULTS: [Column<Vault>; 4] = [
    ("ID", |vault| vault.id.to_string()),
    ("PROMPTS", |vault| vault.prompt_count.to_string()),
    ("VISIBILITY", |vault| vault.visibility.to_string()),
    ("NAME", |vault| vault.name.clone()),
];

/// Lists prompts: all, or those that have these words.
pub(crate) async fn list(app: &App, selection: Selection) -> Result {
    let (client, words) = (&app.client, selection.words.join(" "));
    let vault = find::vault_id(client, selection.vault.as_deref()).await?;
    let limit = if selection.limit == 0 { usize::MAX } else { selection.limit };
    let list = client.prompts().list().set_vault(vault).set_prompt_type(selection.prompt_type);
    let prompts: Vec<_> = match &*words {
        "" => list.max_items(limit).prefetch(true).collect().await?,
        words => find::search(list, words).await?.take(limit).try_collect().await?,
    };
    app.list(&prompts, &PROMPTS)?;
    match prompts.is_empty() && !words.is_empty() {
        true => Err(Failure::new(ABSENT, format!("no prompt has \"{words}\""))),
        false => Ok(()),
    }
}

pub(crate) async fn show(app: &App, text: &Filled) -> Result {
    let mut prompt = find::prompt(&app.client, &text.prompt).await?;
    if !app.json || !text.set.is_empty() {
        prompt.text = filled(&prompt, text)?;
    }
    app.item(&prompt, &prompt.text)
}

/// The programs that fill the clipboard, on one system or another.
const CLIPBOARDS: [&str; 5] =
    ["pbcopy", "wl-copy", "xclip -selection clipboard", "xsel --clipboard --input", "clip.exe"];

pub(crate) async fn copy(app: &App, text: &Filled) -> Result {
    let prompt = find::prompt(&app.client, &text.prompt).await?;
    let filled = filled(&prompt, text)?;
    let put = |line: &&str| {
        let mut words = line.split(' ');
        let mut command = Command::new(words.next()?);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let written = child.stdin.take()?.write_all(filled.as_bytes());
        (child.wait().ok()?.success() && written.is_ok()).then_some(())
    };
    if CLIPBOARDS.iter().find_map(put).is_some() {
        note(format!("\"{}\" is in the clipboard", prompt.title));
        return Ok(());
    }
    note("There is no clipboard here; this is the text:");
    app.item(&filled, &filled)
}

pub(crate) async fn new(app: &App, document: Document, given: Option<String>) -> Result {
    let client = &app.client;
    let found = stream::iter(&document.vaults).then(|name| find::vault(client, name));
    let vaults: Vec<_> = found.map_ok(|vault| vault.id).try_collect().await?;
    let create = async |document: Document| {
        save_in(client, document.create(client, &vaults).await?, &vaults).await
    };
    let prompt = match given.or_else(|| (!can_ask()).then(|| "-".to_owned())) {
        Some(given) => create(Document { text: text(&given)?, ..document }).await?,
        None => in_editor(&document, create).await?,
    };
    app.item(&prompt, prompt.id)
}

pub(crate) async fn rm(app: &App, names: &[String]) -> Result {
    let mut prompts = find::prompts(&app.client, names).await?;
    prompts.sort_by_key(|prompt| prompt.id);
    prompts.dedup_by_key(|prompt| prompt.id);
    let titles: Vec<_> = prompts.iter().map(|prompt| format!("\"{}\"", prompt.title)).collect();
    confirm(app.yes, &format!("Delete {}? This cannot be undone.", titles.join(", ")))?;
    for prompt in prompts {
        app.item(&app.client.prompts().delete(prompt.id).await?, prompt.id)?;
    }
    Ok(())
}

pub(crate) async fn edit(app: &App, name: &str, from: Option<PathBuf>) -> Result {
    let client = &app.client;
    let old = find::prompt(client, name).await?;
    let prompt = match from {
        Some(path) => {
            let file = fs::read_to_string(&path).map_err(Failure::file(path))?;
            Document::parse(&file)?.update(client, &old).await?
        }
        None => {
            let document = Document::new(&old, &[]);
            let save = async |edited: Document| {
                let now = client.prompts().get(old.id).await?;
                let question = "Somebody else has changed the prompt. Overwrite that?";
                confirm(app.yes || document.is_same(&now), question)?;
                edited.update(client, &now).await
            };
            in_editor(&document, save).await?
        }
    };
    app.item(&prompt, prompt.id)
}

/// Lets somebody edit the document, and stores the result. The file stays if that fails.
async fn in_editor(
    document: &Document,
    store: impl AsyncFnOnce(Document) -> Result<Prompt>,
) -> Result<Prompt> {
    if !can_ask() {
        let failure = Failure::new(USAGE, "an editor needs a terminal");
        return Err(failure.hint("promptarium edit PROMPT --from FILE needs none"));
    }
    let file = tempfile::Builder::new().prefix("prompt-").suffix(".md").tempfile()?;
    let (path, before) = (file.into_temp_path(), document.to_file());
    fs::write(&path, &before)?;
    // The first poll takes the signal over: Ctrl-C belongs to the editor.
    let _ = futures::poll!(pin!(tokio::signal::ctrl_c()));
    let default = if cfg!(windows) { "notepad" } else { "vi" };
    let editor = variable("VISUAL").or_else(|| variable("EDITOR")).unwrap_or(default.to_owned());
    // The variable may have arguments.
    let mut words = editor.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(default));
    let edited = match command.args(words).arg(&path).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let edited = edited.map_err(|it| Failure::new(FAILED, format!("{editor} (EDITOR): {it}")));
    let after = fs::read_to_string(&path).map_err(Failure::file(&path))?;
    if after == before {
        return edited.and(Err(Failure::new(FAILED, "nothing was changed")));
    }
    let stored = match edited.and_then(|()| Document::parse(&after)) {
        Ok(document) => store(document).await,
        Err(failure) => Err(failure),
    };
    if stored.is_err() {
        let path = path.keep().map_err(|error| Failure::from(error.error))?;
        note(format!("What you typed is in {}; edit takes it with --from", path.display()));
    }
    stored
}

pub(crate) async fn vault(app: &App, command: VaultCommand) -> Result {
    let client = &app.client;
    match command {
        VaultCommand::Ls => app.list(&client.vaults().list().await?, &VAULTS),
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

type Member = (VaultContents, VaultPrompt);

async fn member(client: &Client, vault: &str, prompt: &str) -> Result<Member> {
    let (vault, prompt) = (find::vault(client, vault).await?, find::prompt(client, prompt).await?);
    let contents = client.vault(vault.id);
    let text = || format!("prompt {} is not in the vault \"{}\"", prompt.id, vault.name);
    let member = contents.find(prompt.id).await?;
    Ok((contents, member.ok_or_else(|| Failure::new(ABSENT, text()))?))
}

/// The text of an argument: itself, `@FILE`, or `-` for standard input.
pub(crate) fn text(argument: &str) -> Result<String> {
    match argument.strip_prefix('@') {
        Some(path) => fs::read_to_string(path).map_err(Failure::file(path)),
        None if argument == "-" => Ok(io::read_to_string(io::stdin())?),
        None => Ok(argument.to_owned()),
    }
}

/// The text of a prompt with its variables replaced by the values of `--set name=value`. What no
/// value is given for is asked on a terminal.
fn filled(prompt: &Prompt, Filled { set, raw, .. }: &Filled) -> Result<String> {
    if *raw {
        return Ok(prompt.text.clone());
    }
    let wrong = |text: String| Failure::new(USAGE, text);
    let from_stdin = set.iter().filter(|pair| pair.ends_with("=-")).count();
    if from_stdin > 1 {
        return Err(wrong("--set: standard input can be one value only".to_owned()));
    }
    let (variables, mut values) = (prompt.variables(), BTreeMap::new());
    for pair in set {
        let no_value = || wrong(format!("--set: \"{pair}\" has no \"=\"; use NAME=VALUE"));
        let (name, value) = pair.split_once('=').ok_or_else(no_value)?;
        let Some(variable) = variables.iter().find(|it| it.name == name.trim()) else {
            let names: Vec<_> = variables.iter().map(|it| &*it.name).collect();
            let failure = wrong(format!("--set: the prompt has no variable \"{name}\""));
            return Err(failure.hint(format!("its variables: {}", names.join(", "))));
        };
        // A file ends with a line break that nobody means.
        let value = text(value)?.trim_end_matches(['\r', '\n']).to_owned();
        values.insert(&*variable.name, value);
    }
    // Standard input cannot be asked if it was a value.
    for Variable { name, default, .. } in variables.iter().filter(|_| can_ask() && from_stdin == 0)
    {
        if !values.contains_key(&**name) {
            let shown = default.as_ref().map(|it| format!(" [{it}]")).unwrap_or_default();
            let answer = Some(ask(&format!("{name}{shown}: "))?);
            let answer = answer.filter(|answer| !answer.is_empty() || default.is_none());
            values.extend(answer.map(|answer| (&**name, answer)));
        }
    }
    match &*prompt.missing(|name| values.contains_key(name)) {
        [] => Ok(prompt.filled(|name| values.get(name))),
        missing => Err(wrong(format!("no value for {}", missing.join(", ")))
            .hint("add --set \"NAME=VALUE\" for each, or --raw to leave them")),
    }
}
