//! Runs the program with a configuration of its own.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use promptarium_server::{EmbeddedServer, EmbeddedServerBuilder};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A library and a folder for the files of a person who uses it.
pub(crate) struct Library {
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) folder: TempDir,
    /// Both keep running.
    pub(crate) _servers: (Runtime, Option<EmbeddedServer>),
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Library {
    pub(crate) fn start() -> Self {
        Self::start_with(EmbeddedServer::builder())
    }

    pub(crate) fn start_with(builder: EmbeddedServerBuilder) -> Self {
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(builder.start()).unwrap();
        let (url, key) = (server.base_url().to_owned(), server.api_key().to_owned());
        let folder = tempfile::tempdir().unwrap();
        Self { url, key, folder, _servers: (runtime, Some(server)) }
    }

    pub(crate) fn at(runtime: Runtime, url: String, key: String) -> Self {
        Self { url, key, folder: tempfile::tempdir().unwrap(), _servers: (runtime, None) }
    }

    /// The command, logged in by the environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.stranger(arguments);
        command.env("PROMPTARIUM_BASE_URL", &self.url).env("PROMPTARIUM_API_KEY", &self.key);
        command
    }

    /// The command of somebody who has not logged in.
    pub(crate) fn stranger(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_promptarium"));
        command.args(arguments).current_dir(self.folder.path());
        for name in ["PROMPTARIUM_BASE_URL", "PROMPTARIUM_API_KEY", "VISUAL", "DISPLAY"] {
            command.env_remove(name);
        }
        let path = |name| self.folder.path().join(name);
        command.env("XDG_CONFIG_HOME", path("config")).env("XDG_STATE_HOME", path("state"));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        run(&mut self.command(arguments), "")
    }

    /// Runs a command that has to succeed, and returns its output without the last line break.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
        ran.stdout.trim_end_matches('\n').to_owned()
    }

    /// The objects that the command prints with `--json`.
    pub(crate) fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let text = self.ok(&[arguments, &["--json"]].concat());
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        names(&self.folder.path().join(folder))
    }
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

pub(crate) fn run(command: &mut Command, stdin: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may end without reading.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}
