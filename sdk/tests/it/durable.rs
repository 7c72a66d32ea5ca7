//! The journal of writes.

mod file;
mod moved;
mod open_steps;
mod runs;
mod unclear;

use std::fs;
use std::path::PathBuf;

use promptarium::durable::Journal;
use promptarium::request::{CreateGeneration, CreatePrompt};
use promptarium::testing::{self, Answer, Script, fixture};
use promptarium::{Client, Error, Prompt, PromptId, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A journal in a folder of its own, of a client of the script.
struct Place {
    script: Script,
    client: Client,
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let script = Script::new();
        let client = testing::client(&script);
        Self { script, client, folder: tempfile::tempdir().unwrap() }
    }

    /// With a journal that has these lines after the first.
    fn with(lines: &[Value]) -> Self {
        let place = Self::new();
        let mut text =
            format!("{{\"promptariumJournal\":2,\"baseUrl\":\"{}\"}}\n", testing::BASE_URL);
        text.extend(lines.iter().map(|line| format!("{line}\n")));
        fs::write(place.path(), text).unwrap();
        place
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    async fn open(&self) -> Journal {
        self.try_open().await.unwrap()
    }

    async fn try_open(&self) -> Result<Journal, Error> {
        Journal::open(&self.client, self.path()).await
    }

    fn create(&self, title: &str) -> CreatePrompt {
        self.client.prompts().create(title, "Still life")
    }

    fn generate(&self) -> CreateGeneration {
        self.client.generations().create("local/plasma", "A harbour")
    }
}

/// When the steps of these tests began.
fn began_at() -> Timestamp {
    fixture::prompt().created_at
}

fn begin(key: &str, kind: &str, content: &Value) -> Value {
    json!({ "event": "begin", "key": key, "kind": kind, "content": content, "at": began_at() })
}

/// An open step of [`Place::create`].
fn open_prompt(key: &str, title: &str) -> Value {
    begin(key, "prompt", &json!({ "title": title, "prompt": "Still life" }))
}

/// What [`Place::create`] stores.
fn stored(id: i64, title: &str) -> Prompt {
    let mut prompt = fixture::prompt();
    prompt.id = PromptId::new(id);
    prompt.title = title.to_owned();
    prompt.text = "Still life".to_owned();
    prompt.prompt_type = promptarium::PromptType::Text;
    prompt.platform = None;
    prompt
}

/// The error of a step whose outcome cannot be asked for.
pub(crate) async fn ambiguous() -> Error {
    let place = Place::with(&[open_prompt("a", "Dusk")]);
    place.script.any().always(Answer::error(401, "no such key"));
    place.open().await.run("a", place.create("Dusk")).await.unwrap_err()
}
