//! Commands that work on the database, as child processes.

use std::ffi::OsStr;

use serde_json::Value;

use super::program::{output, program};

#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CommandOutput {
    pub(crate) fn json(&self) -> Value {
        assert_eq!((self.code, self.stdout.matches('\n').count()), (Some(0), 1), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// Runs a command with the URL of the database in its environment.
pub(crate) async fn run(url: &str, arguments: &[&str]) -> CommandOutput {
    let variables = [("PROMPTARIUM_DATABASE_URL", OsStr::new(url))];
    let output = output(program(arguments, &variables)).await;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    CommandOutput {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// The line on stderr of a command that failed.
pub(crate) async fn failure(url: &str, arguments: &[&str], code: i32) -> String {
    let output = run(url, arguments).await;
    assert_eq!((output.code, output.stdout.as_str()), (Some(code), ""), "{output:?}");
    assert_eq!(output.stderr.matches('\n').count(), 1, "{output:?}");
    output.stderr
}
