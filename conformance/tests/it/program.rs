//! The program as a shell sees it.

use std::process::{Command, Output, Stdio};

use crate::prelude::*;

#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Waits for it without blocking the servers of the test.
    pub(crate) async fn of(mut command: Command) -> Self {
        let output = tokio::task::spawn_blocking(move || command.output().unwrap());
        output.await.unwrap().into()
    }

    /// It ended with this code, and printed all of these.
    #[track_caller]
    pub(crate) fn ended(self, code: i32, parts: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        for part in parts {
            let printed = self.out.contains(part) || self.err.contains(part);
            assert!(printed, "no {part:?} in {}{}", self.out, self.err);
        }
        self
    }

    /// It ended with this code and one line on standard error, which has this part.
    #[track_caller]
    pub(crate) fn refused(self, code: i32, part: &str) -> Self {
        assert_eq!((self.err.lines().count(), &*self.out), (1, ""), "{}", self.err);
        assert!(!self.err.contains(KEY), "{}", self.err);
        self.ended(code, &[part])
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// The program with these variables and no others.
pub(crate) fn command(arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_promptarium-conformance"));
    command.args(arguments).env_clear().envs(variables.iter().copied()).stdin(Stdio::null());
    command
}

pub(crate) async fn program(arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    Ran::of(command(arguments, variables)).await
}

pub(crate) async fn run(base_url: &str, key: &str, arguments: &[&str]) -> Ran {
    let variables = [("PROMPTARIUM_BASE_URL", base_url), ("PROMPTARIUM_API_KEY", key)];
    program(&[&["run"], arguments].concat(), &variables).await
}

/// The variables for a target that knows all keys of the tests.
pub(crate) fn all_keys(base_url: &str) -> [(&'static str, &str); 5] {
    [
        ("PROMPTARIUM_BASE_URL", base_url),
        ("PROMPTARIUM_API_KEY", MAIN),
        ("PROMPTARIUM_READ_ONLY_API_KEY", READ_ONLY),
        ("PROMPTARIUM_OTHER_API_KEY", OTHER),
        ("PROMPTARIUM_REVOKED_API_KEY", REVOKED),
    ]
}

pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance-cli").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A file of this test's own with this content.
pub(crate) fn file(folder_name: &str, name: &str, content: &str) -> String {
    let file = folder(folder_name).join(name);
    std::fs::write(&file, content).unwrap();
    file.display().to_string()
}

pub(crate) fn text(file: impl AsRef<Path>) -> String {
    std::fs::read_to_string(file).unwrap()
}

/// A file for a report as JSON, which the flags ask for.
pub(crate) struct JsonReport {
    pub(crate) file: PathBuf,
    flag: String,
}

impl JsonReport {
    pub(crate) fn new(folder_name: &str) -> Self {
        let file = folder(folder_name).join("report.json");
        Self { flag: format!("json={}", file.display()), file }
    }

    pub(crate) fn with<'a>(&'a self, flags: &[&'a str]) -> Vec<&'a str> {
        [flags, &["--report", &self.flag]].concat()
    }

    #[track_caller]
    pub(crate) fn read(&self) -> Value {
        serde_json::from_str(&text(&self.file)).unwrap()
    }
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The blocks of code in this language on a page of `docs/`.
pub(crate) fn blocks(page: &str, language: &str) -> Vec<String> {
    let (text, start) = (text(root().join("docs").join(page)), format!("```{language}\n"));
    let block = |rest: &str| rest.split("```").next().unwrap().to_owned();
    let blocks: Vec<_> = text.split(&start).skip(1).map(block).collect();
    assert!(!blocks.is_empty(), "no block of {language} on {page}");
    blocks
}
