//! The command line: what may be said on it, and what its exit code tells.
//! What a command does is in its own file; this one and those below it are the
//! only ones that write to the terminal.

mod list;
mod progress;
mod run;
mod signals;
mod sweep;
mod target;

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use promptarium_conformance::report::Output;
use promptarium_conformance::{ProbeError, Profile};

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
    /// Delete what older runs have left behind, known by the marks in its names.
    ///
    /// Looks at the account of PROMPTARIUM_API_KEY, and at that of
    /// PROMPTARIUM_OTHER_API_KEY if it is set. What a run made that was at work
    /// a short while ago stays.
    Sweep(sweep::SweepArguments),
    /// List every scenario.
    List {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show for every rule which scenarios prove it and which deliberate faults
    /// they catch, or why there are none.
    Coverage {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct RunArguments {
    #[command(flatten)]
    target: target::TargetArguments,
    /// What is expected: `core` is what the specification states, `http` what the RFCs
    /// of HTTP require of any server, `reference` the core and what the reference server
    /// chose where the specification is silent; repeatable.
    #[arg(long, default_value = "core", value_name = "core|http|reference")]
    profile: Vec<Profile>,
    /// Only scenarios with this id or an id that begins so; repeatable.
    #[arg(long, value_name = "PREFIX")]
    filter: Vec<String>,
    /// Write a report to a file; formats are text, json, junit, html and
    /// markdown; repeatable.
    #[arg(long, value_name = "FORMAT=FILE")]
    report: Vec<Output>,
    /// A list of failures that are known and do not count; a list that is out
    /// of date fails the run. See docs/conformance.md for its form.
    #[arg(long, value_name = "FILE")]
    known_failures: Option<PathBuf>,
    /// How many scenarios run at once.
    #[arg(long, default_value_t = promptarium_conformance::Run::JOBS, value_name = "N")]
    jobs: NonZeroUsize,
    /// Run in the order that a report with this seed had.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// A link `…/sign-in#CODE` that the target printed, for scenarios that need a browser
    /// session; it works once [env: PROMPTARIUM_SIGN_IN_URL].
    #[arg(long, value_name = "URL")]
    sign_in_url: Option<String>,
    /// Leave what was made where it is; `sweep` takes it away.
    #[arg(long)]
    keep: bool,
    /// Send nothing but GET and HEAD: only scenarios that look at what is there.
    #[arg(long)]
    read_only: bool,
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

/// What keeps a command from going on.
struct Refusal(Exit, String);

/// Does what the command line says.
pub(crate) fn main() -> ExitCode {
    // A panic's text may hold what a target said. The record has it, blanked.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(|| "an unknown place".into(), ToString::to_string);
        warn(&format!("a fault of the suite at {place}"));
    }));
    let exit = match Arguments::parse().command {
        Command::Run(arguments) => on_a_runtime(run::run(arguments)),
        Command::Sweep(arguments) => on_a_runtime(sweep::sweep(arguments)),
        Command::List { json } => list::list(json),
        Command::Coverage { json } => list::coverage(json),
    };
    exit.into()
}

fn on_a_runtime(command: impl Future<Output = Result<Exit, Refusal>>) -> Exit {
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            warn(&format!("no runtime: {error}"));
            return Exit::Usage;
        }
    };
    runtime.block_on(command).unwrap_or_else(|Refusal(exit, line)| {
        warn(&line);
        exit
    })
}

impl From<ProbeError> for Refusal {
    fn from(error: ProbeError) -> Self {
        let exit = match error {
            ProbeError::Unreachable(_) => Exit::Unreachable,
            ProbeError::Misconfigured(_) => Exit::Usage,
            ProbeError::Stopped => Exit::Stopped,
        };
        Self(exit, error.to_string())
    }
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
