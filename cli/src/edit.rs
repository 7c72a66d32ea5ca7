//! Prompts in an editor. What was typed is kept in a file until the service has stored it.

use std::fs;
use std::path::Path;
use std::process::Command;

use promptarium::{Client, Prompt};

use crate::document::Document;
use crate::failure::{Failure, Result};
use crate::find;
use crate::output::{Output, can_ask, confirm, note};

pub(crate) async fn edit(
    client: &Client,
    output: Output,
    name: &str,
    from: Option<&Path>,
) -> Result {
    let old = find::prompt(client, name).await?;
    let save = async |document: Document| save(client, &old, document).await;
    let prompt = match from {
        Some(path) => {
            let file = fs::read_to_string(path).map_err(Failure::file(path))?;
            let document = Document::parse(&file).map_err(Failure::usage)?;
            store(client, &old, &old, document).await?
        }
        None if can_ask() => {
            let document = Document { vaults: Vec::new(), ..Document::new(&old, &[]) };
            in_editor(&document, save).await?
        }
        None => {
            let failure = Failure::usage("edit needs a terminal");
            return Err(failure.hint("change the text with: promptarium edit PROMPT --from FILE"));
        }
    };
    output.item(&prompt, &format!("{}\n", prompt.id))
}

/// Stores the document, unless the prompt was changed while it was edited.
async fn save(client: &Client, old: &Prompt, document: Document) -> Result<Prompt> {
    let now = client.prompts().get(old.id).await?;
    if !Document::new(old, &[]).is_same(&now) {
        let question = "Somebody else changed the prompt in the meantime. Overwrite it?";
        confirm(false, question).map_err(|_| {
            Failure::failed("the prompt was changed in the meantime, and is as it was changed")
        })?;
    }
    store(client, old, &now, document).await
}

/// Changes what differs from the prompt that was edited, if it differs from the one of now.
async fn store(client: &Client, old: &Prompt, now: &Prompt, document: Document) -> Result<Prompt> {
    let mut update = client.prompts().update(old.id);
    if !document.title.is_empty() && document.title != now.title {
        update = update.title(document.title.clone());
    }
    if document.text != now.text {
        update = update.text(document.text.clone());
    }
    let prompt_type = document.prompt_type.as_deref().filter(|it| now.prompt_type != *it);
    update = update.set_prompt_type(prompt_type);
    Ok(match &document.platform {
        platform if *platform == now.platform => update.await?,
        Some(platform) => update.platform(platform).await?,
        None => update.clear_platform().await?,
    })
}

/// Lets somebody edit the document, and stores the result. The file stays if that fails.
pub(crate) async fn in_editor(
    document: &Document,
    store: impl AsyncFnOnce(Document) -> Result<Prompt>,
) -> Result<Prompt> {
    let failed = |error| Failure::failed(format!("no temporary file: {error}"));
    let file =
        tempfile::Builder::new().prefix("prompt-").suffix(".md").tempfile().map_err(failed)?;
    let path = file.into_temp_path();
    let before = document.to_file();
    fs::write(&path, &before).map_err(Failure::file(&path))?;
    // Ctrl-C belongs to the editor.
    let ignoring = tokio::spawn(tokio::signal::ctrl_c());
    tokio::task::yield_now().await;
    let edited = run_editor(&path);
    ignoring.abort();
    let after = fs::read_to_string(&path).map_err(Failure::file(&path))?;
    if after == before {
        return edited.and(Err(Failure::failed("nothing was changed")));
    }
    let stored = match (edited, Document::parse(&after)) {
        (Ok(()), Ok(document)) => store(document).await,
        (Ok(()), Err(problem)) => Err(Failure::failed(problem)),
        (Err(failure), _) => Err(failure),
    };
    stored.map_err(|failure| match path.keep() {
        Ok(path) => {
            note(format!("What you typed is in {}", path.display()));
            failure
        }
        Err(error) => Failure::failed(format!("{failure}\n  the file is lost: {}", error.error)),
    })
}

fn run_editor(path: &Path) -> Result {
    let variable =
        |name| std::env::var(name).ok().filter(|value: &String| !value.trim().is_empty());
    let default = if cfg!(windows) { "notepad" } else { "vi" };
    let editor =
        variable("VISUAL").or_else(|| variable("EDITOR")).unwrap_or_else(|| default.into());
    // The variable may have arguments.
    let mut words = editor.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(default));
    let status = command.args(words).arg(path).status();
    let hint = "set EDITOR to the program to use";
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::failed(format!("{editor}: {status}")).hint(hint)),
        Err(error) => Err(Failure::failed(format!("{editor}: {error}")).hint(hint)),
    }
}
