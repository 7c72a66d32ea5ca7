//! Stores the prompts of files, each once, also if it is killed and started again.

mod read;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::{StreamExt as _, stream};
use promptarium::durable::Journal;
use promptarium::{Client, Prompt, PromptType, limits};
use serde_json::{Value, json};

use crate::app::{ABSENT, App, FAILED, Failure, Result, confirm, note, one_line, progress};
use crate::config::state_folder;
use crate::document::{Document, digest, plain, save_in};
use crate::find;

/// Requests at the same time, whose lines the journal writes to the disk together.
const AT_ONCE: usize = 32;

#[derive(clap::Args)]
pub(crate) struct Import {
    /// The folder or file.
    path: PathBuf,
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

pub(crate) async fn import(app: &App, arguments: &Import) -> Result {
    let (changes, unchanged, left_out) = decide(&app.client, arguments).await?;
    let changed = changes.iter().filter(|(_, old)| old.is_some()).count();
    let new = changes.len() - changed;
    let first = changes.iter().map(|(it, _)| format!("{}: {:.60}", it.title, it.text));
    note(format!("{new} new prompts, {changed} changed, {unchanged} already stored"));
    first.take(3).for_each(|line| note(format!("  {}", one_line(&line))));
    note(format!("{} left out", left_out.len()));
    left_out.iter().take(5).for_each(|line| note(format!("  {}", one_line(line))));
    let mut failures = Vec::new();
    if !changes.is_empty() {
        confirm(app.yes, "Go on?")?;
        failures = store(&app.client, arguments, &changes).await?;
    }
    let (failed, stored) = (failures.len(), changes.len() - failures.len());
    let counts = json!({ "new": new, "changed": changed, "unchanged": unchanged,
        "leftOut": left_out.len(), "failed": failed });
    app.item(&counts, format!("{stored} prompts are stored"))?;
    let Some(first) = failures.first() else {
        let nothing = Failure::new(FAILED, "there is nothing to store");
        return if changes.is_empty() && unchanged == 0 { Err(nothing) } else { Ok(()) };
    };
    let text = format!("{failed} prompts are not stored; the first: {first}");
    Err(Failure::new(FAILED, text).hint("the same command goes on with what is missing"))
}

/// Stores the documents and returns what failed. The journal stays: the same file stores nothing
/// twice later.
async fn store(client: &Client, arguments: &Import, changes: &[Change]) -> Result<Vec<String>> {
    let path = journal_of(client, &arguments.path)?;
    if arguments.again && path.exists() {
        fs::remove_file(&path)?;
    }
    let settle = Duration::from_secs(arguments.settle);
    let journal = &Journal::open(client, &path).await?.with_settle(settle);
    let (known, mut vaults) = (client.vaults().list().await?, HashMap::new());
    let new = changes.iter().filter(|(_, old)| old.is_none());
    for name in new.flat_map(|(document, _)| &document.vaults).collect::<BTreeSet<_>>() {
        // A number in a file is a name; the argument may be an id.
        let found = match arguments.vault {
            Some(_) => find::vault(client, name).await,
            None => find::named(known.clone(), name),
        };
        let vault = match found {
            Err(failure) if failure.code == ABSENT => {
                journal.run(format!("vault {name}"), client.vaults().create(name)).await?
            }
            found => found?,
        };
        vaults.insert(name, vault.id);
    }
    let bar = progress(Some(changes.len() as u64), "[{bar:40}] {pos} of {len}, {eta} left");
    let vaults = &vaults;
    let storing = stream::iter(changes).map(async |(document, old)| {
        let vaults = document.vaults.iter().filter_map(|name| vaults.get(name).copied());
        let vaults: Vec<_> = vaults.collect();
        let create = async || {
            let create = document.create(client, &vaults);
            save_in(client, journal.run(document.key(), create).await?, &vaults).await
        };
        let stored = match old {
            Some(old) => document.update(client, old).await,
            None => create().await,
        };
        (&document.title, stored)
    });
    let (mut storing, mut in_a_row) = (storing.buffer_unordered(AT_ONCE), 0);
    let mut failures = Vec::new();
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

fn journal_of(client: &Client, path: &Path) -> Result<PathBuf> {
    let place = path.canonicalize().map_err(Failure::file(path))?;
    let name = digest(&format!("{}\n{}", client.base_url(), place.display())) + ".journal";
    Ok(state_folder("imports")?.join(name))
}

/// What is stored, how many prompts are already, and what is left out and why.
async fn decide(client: &Client, arguments: &Import) -> Result<(Vec<Change>, u32, Vec<String>)> {
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
    let mut seen = HashSet::new();
    let mut decide = |mut document: Document| {
        if let Some(vault) = &arguments.vault {
            document.vaults = vec![vault.clone()];
        }
        let kind = document.prompt_type();
        if kind != PromptType::Text {
            document.model = document.model.or_else(|| arguments.model.clone());
        }
        let (texts, titles) = (limits::PROMPT_TEXT_CHARS, limits::PROMPT_TITLE_CHARS);
        for (what, text, allowed) in
            [("text", &document.text, texts), ("title", &document.title, titles)]
        {
            let (count, most) = (text.chars().count(), allowed.end());
            if !allowed.contains(&count) {
                return Err(format!("the {what} has {count} characters; it needs 1 to {most}"));
            }
        }
        let key = document.key();
        match document.id.and_then(|id| known.get(&id)) {
            _ if !PromptType::KNOWN.contains(&kind) => Err(format!("there is no type \"{kind}\"")),
            Some(old) if document.is_same(old) => Ok(None),
            Some(old) if ids.iter().filter(|id| **id == old.id).count() > 1 => {
                Err(format!("another file has the id {} too; without it, it is new", old.id))
            }
            Some(old) if document.updated_at.is_some_and(|time| time != old.updated_at) => {
                Err("somebody has changed the prompt since the export".to_owned())
            }
            Some(old) => Ok(Some((document, Some(old.clone())))),
            None if kind != PromptType::Text && document.model.is_none() => {
                Err("image and video prompts need --model".to_owned())
            }
            None if !seen.insert(key.clone()) => Err("the same as one before it".to_owned()),
            // In several vaults, it may not yet be in all of them.
            None if document.vaults.len() < 2 && done.contains(&key) => Ok(None),
            None => Ok(Some((document, None))),
        }
    };
    let (mut changes, mut unchanged, mut left_out) = (Vec::new(), 0, Vec::new());
    for (place, document) in sources {
        match document.and_then(&mut decide) {
            Ok(Some(change)) => changes.push(change),
            Ok(None) => unchanged += 1,
            Err(problem) => left_out.push(format!("{place}: {problem}")),
        }
    }
    Ok((changes, unchanged, left_out))
}
