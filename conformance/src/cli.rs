//! The command line: what may be said on it, and what its exit code tells.
//! What a command does is in its own file; this one and those below it are the
//! only ones that write to the terminal.

mod list;
mod progress;
mod run;
mod signals;

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use promptarium_conformance::Profile;
use promptarium_conformance::report::Output;

/// Runs conformance scenarios against any deployment of the Promptarium API.
///
/// Exit codes: 0 all passed, 1 a scenario failed, 2 usage or configuration,
/// 3 the target cannot be reached, 4 not all core scenarios ran (with
/// --strict, or when none ran at all), 130 stopped by a signal.
#[derive(Parser)]
#[command(version, about, long_about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run scenarios against a target and report what they found.
    ///
    /// Keys come from the environment only: PROMPTARIUM_API_KEY is required;
    /// PROMPTARIUM_READ_ONLY_API_KEY, PROMPTARIUM_OTHER_API_KEY and
    /// PROMPTARIUM_REVOKED_API_KEY let the scenarios run that need them.
    Run(RunArguments),
    /// List every scenario.
    List {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show for every rule which scenarios prove it, or why none does.
    Coverage,
}

#[derive(Args)]
struct RunArguments {
    /// The API root, ending in /api/v1 [env: PROMPTARIUM_BASE_URL].
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// What is expected: `core` is what the specification states, `reference`
    /// adds what the reference server chose where it is silent.
    #[arg(long, default_value = "core", value_name = "core|reference")]
    profile: Profile,
    /// Only scenarios with this id or an id that begins so; repeatable.
    #[arg(long, value_name = "PREFIX")]
    filter: Vec<String>,
    /// Write a report to a file; formats are text and json; repeatable.
    #[arg(long, value_name = "FORMAT=FILE")]
    report: Vec<Output>,
    /// How many scenarios run at once.
    #[arg(long, default_value_t = promptarium_conformance::Run::JOBS, value_name = "N")]
    jobs: NonZeroUsize,
    /// Run in the order that a report with this seed had.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How long one answer may take, in seconds.
    #[arg(long, default_value_t = 30, value_name = "SECONDS",
          value_parser = clap::value_parser!(u16).range(1..))]
    patience: u16,
    /// Exit with 4 if a core scenario could not run.
    #[arg(long)]
    strict: bool,
}

/// What an exit code tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    Passed = 0,
    Failed = 1,
    Usage = 2,
    Unreachable = 3,
    Partial = 4,
    /// As a shell gives it for an interrupted program.
    Stopped = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Does what the command line says.
pub(crate) fn main() -> ExitCode {
    let exit = match Arguments::parse().command {
        Command::Run(arguments) => run::run(arguments),
        Command::List { json } => list::list(json),
        Command::Coverage => list::coverage(),
    };
    exit.into()
}

/// To standard output. A reader that has gone away is no fault.
fn tell(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// One line to standard error.
fn warn(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "promptarium-conformance: {line}");
}
