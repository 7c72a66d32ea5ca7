//! Stores the prompts of files, each once, also if it is killed and started again.

mod read;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::{StreamExt as _, stream};
use promptarium::durable::Journal;
use promptarium::{Client, Prompt, PromptType, Vault, VaultId, limits};
use serde_json::{Value, json};

use crate::config::state_folder;
use crate::document::Document;
use crate::failure::{ABSENT, FAILED, Failure, Result};
use crate::find;
use crate::media::digest;
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

/// What is going to be done.
#[derive(Default)]
struct Plan {
    /// Each with the prompt that it changes, or without for a new one.
    documents: Vec<(Document, Option<Prompt>)>,
    unchanged: usize,
    /// Where something is left out, and why.
    left_out: Vec<String>,
}

pub(crate) async fn import(app: &App, arguments: &Import) -> Result {
    let Plan { documents, unchanged, left_out } = plan(&app.client, arguments).await?;
    let changed = documents.iter().filter(|(_, old)| old.is_some()).count();
    let new = documents.len() - changed;
    note(format!("{new} new prompts, {changed} changed, {unchanged} already stored"));
    for (document, _) in documents.iter().take(3) {
        let start = document.text.chars().take(60).collect::<String>();
        note(one_line(&format!("  {}: {start}", document.title)));
    }
    note(format!("{} left out", left_out.len()));
    left_out.iter().take(5).for_each(|line| note(one_line(&format!("  {line}"))));
    let mut failures = Vec::new();
    if !documents.is_empty() {
        confirm(arguments.yes, "Go on?")?;
        failures = store(&app.client, arguments, &documents).await?;
    }
    let (failed, left_out) = (failures.len(), left_out.len());
    let counts = json!({ "new": new, "changed": changed, "unchanged": unchanged,
        "leftOut": left_out, "failed": failed });
    app.item(&counts, format!("{} prompts are stored", documents.len() - failed))?;
    if documents.is_empty() && unchanged == 0 {
        return Err(Failure::new(FAILED, "there is nothing to store"));
    }
    let Some(first) = failures.first() else { return Ok(()) };
    let text = format!("{failed} prompts are not stored; the first: {first}");
    Err(Failure::new(FAILED, text).hint("the same command goes on with what is missing"))
}

/// Stores the documents and returns what failed. The journal stays: the same file stores nothing
/// twice later.
async fn store(
    client: &Client,
    arguments: &Import,
    documents: &[(Document, Option<Prompt>)],
) -> Result<Vec<String>> {
    let path = journal_of(client, &arguments.path)?;
    if arguments.again && path.exists() {
        fs::remove_file(&path)?;
    }
    let settle = Duration::from_secs(arguments.settle);
    let journal = Journal::open(client, &path).await?.with_settle(settle);
    let (known, mut vaults) = (client.vaults().list().await?, HashMap::<_, VaultId>::new());
    let new = documents.iter().filter(|(_, old)| old.is_none());
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
    let bar = progress(Some(documents.len() as u64), "[{bar:40}] {pos} of {len}, {eta} left");
    let (journal, vaults, bar) = (&journal, &vaults, &bar);
    let storing = stream::iter(documents).map(async |(document, old)| {
        let stored = match old {
            Some(old) => document.clone().update(client, old).await,
            None => {
                let vaults = document.vaults.iter().filter_map(|name| vaults.get(name).copied());
                document.create(client, &vaults.collect::<Vec<_>>(), Some(journal)).await
            }
        };
        bar.inc(1);
        (&document.title, stored)
    });
    let (mut storing, mut failures) = (storing.buffer_unordered(AT_ONCE), Vec::new());
    let mut in_a_row = 0;
    while let Some((title, stored)) = storing.next().await {
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
    let is_export = sources.iter().flat_map(|(_, document)| document).any(|it| it.id.is_some());
    let prompts = match is_export {
        true => client.prompts().list().prefetch(true).collect().await?,
        false => Vec::new(),
    };
    let known: HashMap<_, _> = prompts.into_iter().map(|prompt| (prompt.id, prompt)).collect();
    let journal = fs::read_to_string(journal_of(client, &arguments.path)?).unwrap_or_default();
    let lines = journal.lines().filter(|_| !arguments.again).map(serde_json::from_str::<Value>);
    let done = lines.flatten().filter(|line| line["event"] == "done");
    let done: HashSet<_> = done.filter_map(|line| Some(line["key"].as_str()?.to_owned())).collect();
    let (mut plan, mut seen) = (Plan::default(), HashSet::new());
    let ids = sources.iter().filter_map(|(_, document)| document.as_ref().ok()?.id);
    let ids: Vec<_> = ids.collect();
    for (place, document) in sources {
        let checked = document.and_then(|mut document| {
            document.vaults = arguments.vault.clone().map_or(document.vaults, |vault| vec![vault]);
            if document.prompt_type() != PromptType::Text && document.model.is_none() {
                document.model.clone_from(&arguments.model);
            }
            let old = document.id.and_then(|id| known.get(&id));
            check(&document, old)?;
            if let Some(old) = old.filter(|old| !document.is_same(old))
                && ids.iter().filter(|id| **id == old.id).count() > 1
            {
                let text = format!("another file has the id {} too", old.id);
                return Err(Failure::new(FAILED, text).hint("without it, it is a new prompt"));
            }
            Ok((document, old.cloned()))
        });
        match checked {
            Err(problem) => plan.left_out.push(format!("{place}: {problem}")),
            Ok((document, Some(old))) if document.is_same(&old) => plan.unchanged += 1,
            Ok(change @ (_, Some(_))) => plan.documents.push(change),
            Ok((new, _)) if !seen.insert(new.key()) => {
                plan.left_out.push(format!("{place}: the same as one before it"));
            }
            // In several vaults, it may not yet be in all of them.
            Ok((new, _)) if new.vaults.len() < 2 && done.contains(&new.key()) => {
                plan.unchanged += 1;
            }
            Ok(new) => plan.documents.push(new),
        }
    }
    Ok(plan)
}

/// Whether a document can be stored.
fn check(document: &Document, old: Option<&Prompt>) -> Result {
    let no = |text: String| Err(Failure::new(FAILED, text));
    for (what, text, allowed) in [
        ("text", &document.text, limits::PROMPT_TEXT_CHARS),
        ("title", &document.title, limits::PROMPT_TITLE_CHARS),
    ] {
        let (count, most) = (text.chars().count(), allowed.end());
        if !allowed.contains(&count) {
            return no(format!("the {what} has {count} characters; it needs 1 to {most}"));
        }
    }
    let (kind, time) = (document.prompt_type(), document.updated_at);
    match old {
        _ if !PromptType::KNOWN.contains(&kind) => no(format!("there is no type \"{kind}\"")),
        None if kind != PromptType::Text && document.model.is_none() => {
            no("image and video prompts need --model".into())
        }
        Some(old) if time.is_some_and(|time| time != old.updated_at) && !document.is_same(old) => {
            no("somebody has changed the prompt since the export".into())
        }
        _ => Ok(()),
    }
}
