//! Prompts in an editor. What was typed is kept in a file until the service has stored it.

use std::fs;
use std::path::Path;
use std::process::Command;

use promptarium::Prompt;

use crate::config::variable;
use crate::document::Document;
use crate::failure::{FAILED, Failure, Result, USAGE};
use crate::find;
use crate::output::{App, can_ask, confirm, note};

pub(crate) async fn edit(app: &App, name: &str, from: Option<&Path>) -> Result {
    let client = &app.client;
    let old = find::prompt(client, name).await?;
    let prompt = match from {
        Some(path) => {
            let file = fs::read_to_string(path).map_err(Failure::file(path))?;
            Document::parse(&file)?.update(client, &old).await?
        }
        None if can_ask() => {
            let save = async |document: Document| {
                let now = client.prompts().get(old.id).await?;
                let is_same = Document::new(&old, &[]).is_same(&now);
                confirm(is_same, "Somebody else has changed the prompt. Overwrite that?")?;
                document.update(client, &now).await
            };
            in_editor(&Document::new(&old, &[]), save).await?
        }
        None => {
            let failure = Failure::new(USAGE, "an editor needs a terminal");
            return Err(failure.hint("promptarium edit PROMPT --from FILE needs none"));
        }
    };
    app.item(&prompt, prompt.id)
}

/// Lets somebody edit the document, and stores the result. The file stays if that fails.
pub(crate) async fn in_editor(
    document: &Document,
    store: impl AsyncFnOnce(Document) -> Result<Prompt>,
) -> Result<Prompt> {
    let file = tempfile::Builder::new().prefix("prompt-").suffix(".md").tempfile()?;
    let (path, before) = (file.into_temp_path(), document.to_file());
    fs::write(&path, &before)?;
    // Ctrl-C belongs to the editor.
    let ignoring = tokio::spawn(tokio::signal::ctrl_c());
    tokio::task::yield_now().await;
    let edited = run_editor(&path);
    ignoring.abort();
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

fn run_editor(path: &Path) -> Result {
    let default = if cfg!(windows) { "notepad" } else { "vi" };
    let editor = variable("VISUAL").or_else(|| variable("EDITOR")).unwrap_or(default.to_owned());
    // The variable may have arguments.
    let mut words = editor.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(default));
    let problem = match command.args(words).arg(path).status() {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    Err(Failure::new(FAILED, format!("{editor}: {problem}"))
        .hint("EDITOR names the program to use"))
}
