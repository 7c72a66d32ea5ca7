//! Stores the prompts of files, each once, also if it is killed and started again.

mod read;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use futures::{StreamExt as _, stream};
use promptarium::durable::Journal;
use promptarium::{Client, Prompt, PromptId, PromptType, Vault, VaultId, limits};
use serde_json::json;

use self::read::Source;
use crate::config::state_folder;
use crate::document::Document;
use crate::export::ORIGIN;
use crate::failure::{Failure, Result};
use crate::media::digest;
use crate::output::{Output, confirm, note, progress};

/// Requests at the same time.
const AT_ONCE: usize = 8;

pub(crate) struct Options {
    pub(crate) yes: bool,
    pub(crate) vault: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) again: bool,
}

/// What is going to be done.
#[derive(Default)]
struct Plan {
    new: Vec<Document>,
    changed: Vec<(PromptId, Document)>,
    unchanged: usize,
    /// Where something is left out, and why.
    left_out: Vec<String>,
}

pub(crate) async fn import(
    client: &Client,
    output: Output,
    path: &Path,
    options: Options,
) -> Result {
    let sources = read::sources(path)?;
    let plan = plan(client, path, sources, &options).await?;
    plan.show();
    let Plan { new, changed, unchanged, left_out } = plan;
    if new.is_empty() && changed.is_empty() {
        return output.item(&json!({ "stored": 0, "changed": 0 }), "Nothing to do.\n");
    }
    confirm(options.yes, "Go on?")?;
    let place = path.canonicalize().map_err(Failure::file(path))?;
    let name = digest(&format!("{}\n{}", client.base_url(), place.display()));
    let journal = state_folder("imports")?.join(name + ".journal");
    if options.again && journal.exists() {
        fs::remove_file(&journal).map_err(Failure::file(&journal))?;
    }
    let journal = Journal::open(client, &journal).await?;
    let vaults = make_vaults(client, &journal, &new).await?;
    let bar = progress(
        Some((new.len() + changed.len()) as u64),
        "[{bar:40}] {pos} of {len}, {eta} left",
        "",
    );
    let model = options.model.as_deref();
    let stored = stream::iter(&new)
        .map(|document| async {
            let ids: Vec<_> =
                document.vaults.iter().filter_map(|name| vaults.get(name).copied()).collect();
            let created = create(client, &journal, document, &ids, model).await;
            bar.inc(1);
            created.map_err(|failure| format!("{}: {failure}", document.title))
        })
        .buffer_unordered(AT_ONCE);
    let changing = stream::iter(&changed)
        .map(|(id, document)| async {
            let changed = change(client, *id, document).await;
            bar.inc(1);
            changed.map_err(|failure| format!("{}: {failure}", document.title))
        })
        .buffer_unordered(AT_ONCE);
    let failures: Vec<_> =
        stored.chain(changing).filter_map(|it| async { it.err() }).collect().await;
    bar.finish_and_clear();
    let (new, changed, failed) = (new.len(), changed.len(), failures.len());
    let counts = json!({ "new": new, "changed": changed, "unchanged": unchanged,
        "leftOut": left_out.len(), "failed": failed });
    output.item(&counts, &format!("{} prompts are stored\n", new + changed - failed))?;
    match failures.first() {
        None => Ok(()),
        Some(first) => {
            let failure = Failure::failed(format!("{failed} failed; the first: {first}"));
            Err(failure.hint("the same command goes on with what is missing"))
        }
    }
}

/// Decides what to do with each document.
async fn plan(
    client: &Client,
    path: &Path,
    sources: Vec<Source>,
    options: &Options,
) -> Result<Plan> {
    let origin = fs::read_to_string(path.join(ORIGIN)).unwrap_or_default();
    let mut known = HashMap::new();
    if origin.trim() == client.base_url() {
        let mut prompts = client.prompts().list().prefetch(true).items();
        while let Some(prompt) = prompts.try_next().await? {
            known.insert(prompt.id, prompt);
        }
    }
    let (mut plan, mut seen) = (Plan::default(), HashSet::new());
    for Source { place, document } in sources {
        let problem = match document {
            Err(problem) => problem,
            Ok(mut document) => {
                if let Some(vault) = &options.vault {
                    document.vaults = vec![vault.clone()];
                }
                let prompt = document.id.and_then(|id| known.get(&id));
                match problem(&document, prompt, options.model.is_some()) {
                    Some(problem) => problem,
                    None if prompt.is_some_and(|prompt| document.is_same(prompt)) => {
                        plan.unchanged += 1;
                        continue;
                    }
                    None if let Some(prompt) = prompt => {
                        plan.changed.push((prompt.id, document));
                        continue;
                    }
                    None if seen.insert(key(&document)) => {
                        plan.new.push(document);
                        continue;
                    }
                    None => "the same as one before it".to_owned(),
                }
            }
        };
        plan.left_out.push(format!("{place}: {problem}"));
    }
    Ok(plan)
}

/// Why a document cannot be stored.
fn problem(document: &Document, prompt: Option<&Prompt>, has_model: bool) -> Option<String> {
    let (title, text) = (document.title.chars().count(), document.text.chars().count());
    if text == 0 {
        return Some("it has no text".into());
    }
    if !limits::PROMPT_TEXT_CHARS.contains(&text) {
        return Some(format!("the text has {text} characters, and 15000 are allowed"));
    }
    if !limits::PROMPT_TITLE_CHARS.contains(&title) {
        return Some(format!("the title has {title} characters, and 1 to 120 are allowed"));
    }
    let is_known = PromptType::KNOWN.contains(&document.prompt_type());
    if !is_known {
        return Some(format!("there is no type \"{}\"", document.prompt_type()));
    }
    match prompt {
        None if document.prompt_type() != PromptType::Text && !has_model => {
            Some("image and video prompts need --model".into())
        }
        Some(prompt)
            if document.updated_at.is_some_and(|time| time != prompt.updated_at)
                && !document.is_same(prompt) =>
        {
            Some("the prompt was changed at the server since the export".into())
        }
        _ => None,
    }
}

impl Plan {
    fn show(&self) {
        note(format!(
            "{} new prompts, {} changed, {} unchanged",
            self.new.len(),
            self.changed.len(),
            self.unchanged
        ));
        for document in self.new.iter().chain(self.changed.iter().map(|(_, it)| it)).take(3) {
            let text: String = document.text.chars().take(60).collect();
            note(format!("  {}: {}", document.title, crate::output::one_line(&text)));
        }
        if !self.left_out.is_empty() {
            note(format!("{} left out:", self.left_out.len()));
            self.left_out.iter().take(5).for_each(|line| note(format!("  {line}")));
        }
    }
}

/// The vaults that the documents name, by name; those that are missing are made.
async fn make_vaults(
    client: &Client,
    journal: &Journal,
    documents: &[Document],
) -> Result<HashMap<String, VaultId>> {
    let by_name = |vault: Vault| (vault.name, vault.id);
    let mut vaults: HashMap<_, _> =
        client.vaults().list().await?.into_iter().map(by_name).collect();
    for name in documents.iter().flat_map(|document| &document.vaults) {
        if !vaults.contains_key(name) {
            let vault = journal.run(format!("vault {name}"), client.vaults().create(name)).await?;
            vaults.insert(name.clone(), vault.id);
        }
    }
    Ok(vaults)
}

async fn create(
    client: &Client,
    journal: &Journal,
    document: &Document,
    vaults: &[VaultId],
    model: Option<&str>,
) -> Result {
    let create = client.prompts().create(&document.title, &document.text);
    let create = create.set_prompt_type(Some(document.prompt_type()));
    let create = create.set_platform(document.platform.as_deref());
    let model = model.filter(|_| document.prompt_type() != PromptType::Text);
    let create = create.set_model_id(model).set_vault(vaults.first().copied());
    let id = journal.run(key(document), create).await?.id;
    if let [_, others @ ..] = vaults
        && !others.is_empty()
    {
        let now = client.prompts().get(id).await?.vault_ids;
        for vault in others.iter().filter(|vault| !now.contains(vault)) {
            client.prompts().save(id, *vault).await?;
        }
    }
    Ok(())
}

async fn change(client: &Client, id: PromptId, document: &Document) -> Result {
    let update = client.prompts().update(id).title(&document.title).text(&document.text);
    let update = update.set_prompt_type(Some(document.prompt_type()));
    match &document.platform {
        Some(platform) => update.platform(platform).await?,
        None => update.clear_platform().await?,
    };
    Ok(())
}

/// The name of the step that stores this document.
fn key(document: &Document) -> String {
    let Document { title, text, platform, vaults, .. } = document;
    digest(&format!("{title}\n{text}\n{platform:?}\n{}\n{vaults:?}", document.prompt_type()))
}
