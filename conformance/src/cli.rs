//! The command line: its arguments and exit codes. Each command has a file of its own. Only
//! this module writes to the terminal.

mod list;
mod run;
mod signals;
mod sweep;
mod target;

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::report::Output;
use crate::selection::Filters;
use crate::{ProbeError, Suite};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

/// The flags in the groups of the help, by id.
const GROUPS: [(&str, &str); 4] = [
    ("Target", "base_url timeout time_scale cacert http"),
    ("Scenarios", "filter exclude last_failed read_only"),
    ("Reports", "report report_dir known_failures write_known_failures verbose trace color"),
    ("Run", "jobs rate seed keep fail_fast strict"),
];

/// What `-h` shows of the groups.
const EVERYDAY: &str =
    "base_url filter last_failed report report_dir known_failures verbose jobs keep strict";

const EXAMPLES: &str = "\
Examples:
  promptarium-conformance run --base-url http://127.0.0.1:8080/api/v1
  promptarium-conformance run --filter 'POST /prompts' --report html=report.html
  promptarium-conformance explain contents.move.from-source-to-target

-h shows the most used flags, --help all.";

/// Runs conformance scenarios against any deployment of the Promptarium API.
///
/// Exit codes: 0 all passed, 1 a scenario failed, 2 usage or configuration,
/// 3 the target cannot be reached, 4 not all scenarios ran (with
/// --strict, or when none ran at all), 130 stopped by a signal.
#[derive(Parser)]
#[command(version, about, long_about, after_help = EXAMPLES)]
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
    /// Delete what earlier runs left behind; the run id in a name says of which run it is.
    ///
    /// Searches the accounts of PROMPTARIUM_API_KEY and, if it is set,
    /// PROMPTARIUM_OTHER_API_KEY. Runs that are younger than --older-than keep
    /// what they created.
    Sweep(sweep::SweepArguments),
    /// List all scenarios, or those that filters select.
    List(list::ListArguments),
    /// Show the steps of scenarios: each request with its status and its checks.
    ///
    /// The steps are those against the reference server, with `$…` for ids that it gave. `run
    /// --trace` shows the same against your target.
    Explain(list::ExplainArguments),
    /// Show the scenarios of each rule, or the result of a run for each
    /// sentence of the specification.
    Coverage {
        /// As JSON.
        #[arg(long)]
        json: bool,
        /// Show each sentence of the specification as held, broken or not tested by the run of
        /// this JSON report.
        #[arg(long, value_name = "FILE")]
        run: Option<PathBuf>,
    },
    /// Print a script that completes commands and flags in a shell.
    Completions {
        /// Shell of the script.
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, for `man`.
    Man,
}

/// The command line, also for completions and the man page.
fn command_line() -> clap::Command {
    let has = |ids: &str, id: &str| ids.split(' ').any(|other| other == id);
    Arguments::command().mut_subcommands(|command| {
        let is_run = command.get_name() == "run";
        let command = if is_run { command.after_help(EXAMPLES) } else { command };
        command.mut_args(|arg| {
            let id = arg.get_id().as_str();
            let Some((title, _)) = GROUPS.iter().find(|(_, ids)| has(ids, id)) else { return arg };
            let hidden = !has(EVERYDAY, id);
            arg.help_heading(*title).hide_short_help(hidden)
        })
    })
}

#[derive(Args)]
struct RunArguments {
    #[command(flatten)]
    target: target::TargetArguments,
    #[command(flatten)]
    filters: Filters,
    /// Only the scenarios that failed or were blocked in the last run against this target; says
    /// what has changed since.
    #[arg(long)]
    last_failed: bool,
    /// Write a report to a file; formats are text, json, junit, html,
    /// markdown, badge (shields.io) and github (annotations); repeatable.
    #[arg(long, value_name = "FORMAT=FILE")]
    report: Vec<Output>,
    /// Write the report in every format to this folder: report.txt, .json, .xml
    /// (JUnit), .html and .md.
    #[arg(long, value_name = "DIR")]
    report_dir: Option<PathBuf>,
    /// A file of known failures, which do not fail the run; an outdated entry
    /// does. docs/conformance.md describes its form.
    #[arg(long, value_name = "FILE")]
    known_failures: Option<PathBuf>,
    /// Write a list of known failures with all that this run finds. The reasons are what was
    /// expected and received, for you to replace.
    #[arg(long, value_name = "FILE")]
    write_known_failures: Option<PathBuf>,
    /// How many scenarios run at once.
    #[arg(long, default_value_t = crate::Run::JOBS, value_name = "N")]
    jobs: NonZeroUsize,
    /// The most requests in a second, for a target with a rate limit.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Seed of the order of scenarios, as in a report.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Do not delete what the run created; `sweep` deletes it.
    #[arg(long)]
    keep: bool,
    /// Send only GET and HEAD: run only the scenarios that read existing data.
    #[arg(long)]
    read_only: bool,
    /// Start no further scenario after the first failure.
    #[arg(long)]
    fail_fast: bool,
    /// Print every failure and every skipped scenario, not only the largest causes.
    #[arg(long)]
    verbose: bool,
    /// Print every step of every scenario, passed ones too, with what was checked.
    #[arg(long)]
    trace: bool,
    /// Whether the terminal's text has colours; auto: on a terminal, unless NO_COLOR is set.
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    color: clap::ColorChoice,
    /// Exit with 4 if a scenario could not run.
    #[arg(long)]
    strict: bool,
}

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

/// Why a command stops, in one line.
struct Refusal(Exit, String);

/// Runs the command that the process was started with on the scenarios of `suite`. A program
/// with scenarios of its own calls it with [`Suite::builtin`] and [`Suite::with`].
pub fn main(suite: &Suite) -> ExitCode {
    // The text of a panic may contain a response of the target. The record has it, redacted.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(|| "an unknown place".into(), ToString::to_string);
        warn(&format!("a fault of the suite at {place}"));
    }));
    let arguments = Arguments::from_arg_matches(&command_line().get_matches());
    let command = arguments.unwrap_or_else(|error| error.exit()).command;
    let runtime = tokio::runtime::Runtime::new();
    let runtime = runtime.map_err(|error| Refusal::from(format!("no runtime: {error}")));
    let exit = runtime.and_then(|runtime| match command {
        Command::Run(arguments) => runtime.block_on(run::run(suite, arguments)),
        Command::Sweep(arguments) => runtime.block_on(sweep::sweep(arguments)),
        Command::List(arguments) => list::list(suite, arguments),
        Command::Explain(arguments) => list::explain(suite, arguments),
        Command::Coverage { json, run: None } => list::coverage(json),
        Command::Coverage { json, run: Some(file) } => list::coverage_of_run(&file, json),
        Command::Completions { shell } => list::completions(command_line(), shell),
        Command::Man => list::man(command_line()),
    });
    let exit = exit.unwrap_or_else(|Refusal(exit, line)| {
        warn(&line);
        exit
    });
    ExitCode::from(exit as u8)
}

/// A line about a wrong usage or configuration.
impl From<String> for Refusal {
    fn from(line: String) -> Self {
        Self(Exit::Usage, line)
    }
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

/// To standard output. A closed pipe is not an error.
fn print(text: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    let failed = written.err().filter(|error| error.kind() != std::io::ErrorKind::BrokenPipe);
    failed.map_or(Ok(()), |error| Err(format!("cannot write to stdout: {error}")))
}

/// One line to standard error.
fn warn(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "promptarium-conformance: {line}");
}
