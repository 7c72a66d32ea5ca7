//! Stores the prompts of files, each once, also if it is killed and started again.

mod read;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::{StreamExt as _, stream};
use promptarium::durable::Journal;
use promptarium::{Client, Prompt, PromptId, PromptType, Vault, VaultId, limits};
use serde_json::{Value, json};

use crate::config::state_folder;
use crate::document::{Document, digest, plain};
use crate::failure::{ABSENT, FAILED, Failure, Result};
use crate::find;
use crate::output::{App, confirm, note, one_line, progress};

/// Requests at the same time, whose lines the journal writes to the disk together.
const AT_ONCE: usize = 32;

#[derive(clap::Args)]
pub(crate) struct Import {
    /// The folder or file.
    path: PathBuf,
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
    /// Put all of them in this vault, which is made if there is none.
    #[arg(long)]
    vault: Option<String>,
    /// The model of image and video prompts, which need one.
    #[arg(long)]
    model: Option<String>,
    /// Also store what an earlier import of this file has stored.
    #[arg(long)]
    again: bool,
    /// Seconds after which a request of a run that was killed cannot arrive any more.
    #[arg(long, default_value_t = 30, hide = true)]
    settle: u64,
}

/// A document, with the prompt that it changes, or without for a new one.
type Change = (Document, Option<Prompt>);

/// What is going to be done.
#[derive(Default)]
struct Plan {
    changes: Vec<Change>,
    unchanged: usize,
    /// Where something is left out, and why.
    left_out: Vec<String>,
}

pub(crate) async fn import(app: &App, arguments: &Import) -> Result {
    let Plan { changes, unchanged, left_out } = plan(&app.client, arguments).await?;
    let changed = changes.iter().filter(|(_, old)| old.is_some()).count();
    let new = changes.len() - changed;
    note(format!("{new} new prompts, {changed} changed, {unchanged} already stored"));
    for (document, _) in changes.iter().take(3) {
        let start = document.text.chars().take(60).collect::<String>();
        note(one_line(&format!("  {}: {start}", document.title)));
    }
    note(format!("{} left out", left_out.len()));
    left_out.iter().take(5).for_each(|line| note(one_line(&format!("  {line}"))));
    let mut failures = Vec::new();
    if !changes.is_empty() {
        confirm(arguments.yes, "Go on?")?;
        failures = store(&app.client, arguments, &changes).await?;
    }
    let (failed, left_out) = (failures.len(), left_out.len());
    let counts = json!({ "new": new, "changed": changed, "unchanged": unchanged,
        "leftOut": left_out, "failed": failed });
    app.item(&counts, format!("{} prompts are stored", changes.len() - failed))?;
    match failures.first() {
        None if changes.is_empty() && unchanged == 0 => {
            Err(Failure::new(FAILED, "there is nothing to store"))
        }
        None => Ok(()),
        Some(first) => {
            let text = format!("{failed} prompts are not stored; the first: {first}");
            Err(Failure::new(FAILED, text).hint("the same command goes on with what is missing"))
        }
    }
}

/// Stores the documents and returns what failed. The journal stays: the same file stores nothing
/// twice later.
async fn store(client: &Client, arguments: &Import, changes: &[Change]) -> Result<Vec<String>> {
    let path = journal_of(client, &arguments.path)?;
    if arguments.again && path.exists() {
        fs::remove_file(&path)?;
    }
    let settle = Duration::from_secs(arguments.settle);
    let journal = Journal::open(client, &path).await?.with_settle(settle);
    let (known, mut vaults) = (client.vaults().list().await?, HashMap::<_, VaultId>::new());
    let new = changes.iter().filter(|(_, old)| old.is_none());
    for name in new.flat_map(|(document, _)| &document.vaults) {
        if vaults.contains_key(name) {
            continue;
        }
        // A number in a file is a name; the argument may be an id.
        let is_id = |it: &&Vault| arguments.vault.is_some() && it.id.to_string() == *name;
        let vault = match (find::named(known.clone(), name), known.iter().find(is_id)) {
            (Err(failure), Some(vault)) if failure.code == ABSENT => vault.clone(),
            (Err(failure), None) if failure.code == ABSENT => {
                journal.run(format!("vault {name}"), client.vaults().create(name)).await?
            }
            (found, _) => found?,
        };
        vaults.insert(name.clone(), vault.id);
    }
    let bar = progress(Some(changes.len() as u64), "[{bar:40}] {pos} of {len}, {eta} left");
    let (journal, vaults, mut failures) = (&journal, &vaults, Vec::new());
    let storing = stream::iter(changes).map(async |(document, old)| {
        let stored = match old {
            Some(old) => document.clone().update(client, old).await,
            None => {
                let vaults = document.vaults.iter().filter_map(|name| vaults.get(name).copied());
                document.create(client, &vaults.collect::<Vec<_>>(), Some(journal)).await
            }
        };
        (&document.title, stored)
    });
    let (mut storing, mut in_a_row) = (storing.buffer_unordered(AT_ONCE), 0);
    while let Some((title, stored)) = storing.next().await {
        bar.inc(1);
        match stored {
            Ok(_) => in_a_row = 0,
            // The server is away, or the key was revoked.
            Err(failure) if failure.is_general && in_a_row == AT_ONCE => return Err(failure),
            Err(failure) => {
                in_a_row += usize::from(failure.is_general);
                failures.push(format!("{title}: {failure}"));
            }
        }
    }
    bar.finish_and_clear();
    Ok(failures)
}

/// The journal of the imports of this file.
fn journal_of(client: &Client, path: &Path) -> Result<PathBuf> {
    let place = path.canonicalize().map_err(Failure::file(path))?;
    let name = digest(&format!("{}\n{}", client.base_url(), place.display())) + ".journal";
    Ok(state_folder("imports")?.join(name))
}

/// Decides what to do with each document.
async fn plan(client: &Client, arguments: &Import) -> Result<Plan> {
    let sources = read::sources(&arguments.path, client.base_url())?;
    let ids: Vec<_> = sources.iter().filter_map(|(_, it)| it.as_ref().ok()?.id).collect();
    let prompts = match ids.is_empty() {
        true => Vec::new(),
        false => client.prompts().list().prefetch(true).collect().await?,
    };
    let known: HashMap<_, _> = prompts.into_iter().map(|prompt| (prompt.id, prompt)).collect();
    let journal = fs::read_to_string(journal_of(client, &arguments.path)?).unwrap_or_default();
    let lines = journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let done = lines.filter(|line| line["event"] == "done" && !arguments.again);
    let done: HashSet<_> = done.map(|line| plain(&line["key"])).collect();
    let (mut plan, mut seen) = (Plan::default(), HashSet::new());
    for (place, document) in sources {
        let checked = document.and_then(|mut document| {
            document.vaults = arguments.vault.clone().map_or(document.vaults, |vault| vec![vault]);
            if document.prompt_type() != PromptType::Text && document.model.is_none() {
                document.model.clone_from(&arguments.model);
            }
            let old = document.id.and_then(|id| known.get(&id));
            check(&document, old, &ids)?;
            Ok((document, old.cloned()))
        });
        match checked {
            Err(problem) => plan.left_out.push(format!("{place}: {problem}")),
            Ok((document, Some(old))) if document.is_same(&old) => plan.unchanged += 1,
            Ok(change @ (_, Some(_))) => plan.changes.push(change),
            Ok((new, _)) if !seen.insert(new.key()) => {
                plan.left_out.push(format!("{place}: the same as one before it"));
            }
            // In several vaults, it may not yet be in all of them.
            Ok((new, _)) if new.vaults.len() < 2 && done.contains(&new.key()) => {
                plan.unchanged += 1;
            }
            Ok(new) => plan.changes.push(new),
        }
    }
    Ok(plan)
}

/// Whether a document can be stored, or why not.
fn check(
    document: &Document,
    old: Option<&Prompt>,
    ids: &[PromptId],
) -> std::result::Result<(), String> {
    for (what, text, allowed) in [
        ("text", &document.text, limits::PROMPT_TEXT_CHARS),
        ("title", &document.title, limits::PROMPT_TITLE_CHARS),
    ] {
        let (count, most) = (text.chars().count(), allowed.end());
        if !allowed.contains(&count) {
            return Err(format!("the {what} has {count} characters; it needs 1 to {most}"));
        }
    }
    let (kind, time) = (document.prompt_type(), document.updated_at);
    match old {
        _ if !PromptType::KNOWN.contains(&kind) => Err(format!("there is no type \"{kind}\"")),
        None if kind != PromptType::Text && document.model.is_none() => {
            Err("image and video prompts need --model".to_owned())
        }
        Some(old) if !document.is_same(old) && time.is_some_and(|time| time != old.updated_at) => {
            Err("somebody has changed the prompt since the export".to_owned())
        }
        Some(old)
            if !document.is_same(old) && ids.iter().filter(|it| **it == old.id).count() > 1 =>
        {
            Err(format!("another file has the id {} too; without it, it is a new prompt", old.id))
        }
        _ => Ok(()),
    }
}
