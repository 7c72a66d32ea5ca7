//! The program as a shell sees it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::stub::KEY;

/// What came of a run of a program.
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

/// `run` with this key against a target.
pub(crate) async fn run(base_url: &str, key: &str, arguments: &[&str]) -> Ran {
    let variables = [("PROMPTARIUM_BASE_URL", base_url), ("PROMPTARIUM_API_KEY", key)];
    program(&[&["run"], arguments].concat(), &variables).await
}

/// An empty folder of this test's own.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance-cli").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The blocks of code in this language on a page of `docs/`.
pub(crate) fn blocks(page: &str, language: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(page);
    let (text, start) = (std::fs::read_to_string(file).unwrap(), format!("```{language}\n"));
    let block = |rest: &str| rest.split("```").next().unwrap().to_owned();
    let blocks: Vec<_> = text.split(&start).skip(1).map(block).collect();
    assert!(!blocks.is_empty(), "no block of {language} on {page}");
    blocks
}
