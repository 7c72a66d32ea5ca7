//! The command `run`: everything that can be wrong is checked before the first scenario runs, and
//! each mistake is one line and one exit code.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ColorChoice;
use futures::FutureExt as _;

use super::{Exit, Refusal, RunArguments, print, signals, warn};
use crate::exchange::quoted;
use crate::report::{Output, Outputs, Report, Totals, Verdict, text};
use crate::{KnownFailures, Run, RunOptions, Selection, Suite, Target, preflight};

/// A run into a file or a pipe says this often how far it is.
const SILENCE: Duration = Duration::from_secs(10);

pub(super) async fn run(suite: &Suite, arguments: RunArguments) -> Result<Exit, Refusal> {
    let (target, selection) = prepare(suite, &arguments)?;
    let mut run = Run::new(Arc::clone(&target), selection.clone());
    set_up(&mut run, suite, &arguments)?;
    let mut files = arguments.report;
    if let Some(folder) = &arguments.report_dir {
        files.extend(Output::all_formats(folder)?);
    }
    files.extend(arguments.write_known_failures.map(Output::known_failures));
    let outputs = Outputs::begin(files, &run.report)?;
    let run_id = run.run_id().clone();
    let again = how_to_sweep(&run.report);
    let stop = signals::listen(
        || warn("stopping; deleting created data; press Ctrl-C again to keep it"),
        move || {
            warn(&format!("left at once; {again}"));
            std::process::exit(Exit::Stopped as i32)
        },
    )
    .shared();
    run.report.untestable = match preflight(&target, &selection, &run_id, stop.clone()).await {
        Ok(untestable) => untestable,
        Err(error) => {
            run.report.problem = Some(error.to_string());
            outputs.end(&run.report)?;
            return Err(error.into());
        }
    };
    for untestable in &run.report.untestable {
        warn(&format!("cannot test {untestable}"));
    }
    let mut begun = Instant::now();
    let on_record = |record: &_, report: &Report| {
        let Totals { scenarios, failed, blocked, errors, .. } = report.totals;
        let (all, bad) = (selection.scenarios.len(), failed + blocked + errors);
        let line = format!("{scenarios}/{all}, {bad} failed");
        show_progress(&line);
        // A log: now and then a line.
        if !std::io::stderr().is_terminal() && begun.elapsed() >= SILENCE {
            begun = Instant::now();
            warn(&line);
        }
        outputs.add(record, report);
    };
    let report = run.run(stop, on_record).await;
    let since = keep(&report, arguments.last_failed);
    show_progress("");
    let text = match arguments.verbose || arguments.trace {
        true => text::render(&report),
        false => text::brief(&report),
    };
    let printed = print(&if has_colour(arguments.color) { text::coloured(&text) } else { text });
    if target.options().keep || report.totals.left_behind > 0 {
        warn(&how_to_sweep(&report));
    }
    if let Some(since) = since {
        print(&since)?;
    }
    outputs.end(&report)?;
    printed?;
    Ok(exit(&report, arguments.strict))
}

fn set_up(run: &mut Run, suite: &Suite, arguments: &RunArguments) -> Result<(), Refusal> {
    run.jobs = arguments.jobs;
    run.deadline = Run::DEADLINE.max(arguments.target.timeout() * 2);
    run.fail_fast = arguments.fail_fast;
    run.check_sanity = true;
    run.report.seed = arguments.seed.unwrap_or(run.report.seed);
    if let Some(file) = &arguments.known_failures {
        let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
        run.report.known = KnownFailures::read(file, suite, today)?;
    }
    Ok(())
}

/// On one line that overwrites itself. Only on a terminal: in a log it would be noise.
fn show_progress(text: &str) {
    let mut line = std::io::stderr().lock();
    if line.is_terminal() {
        let _ = write!(line, "\r\x1b[K{text}");
    }
}

fn has_colour(choice: ColorChoice) -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => std::io::stdout().is_terminal() && !is_set("NO_COLOR"),
    }
}

fn prepare(suite: &Suite, arguments: &RunArguments) -> Result<(Arc<Target>, Selection), String> {
    let RunArguments { read_only, keep, trace, rate, .. } = *arguments;
    let selection = Selection::new(suite, arguments.filters.clone())?;
    let selection = if read_only { selection.read_only()? } else { selection };
    let options = RunOptions { read_only, keep, trace, rate, ..RunOptions::default() };
    let target = arguments.target.target(options)?;
    let selection = match arguments.last_failed {
        true => last_failed(target.base_url(), selection)?,
        false => selection,
    };
    Ok((target, selection))
}

fn how_to_sweep(report: &Report) -> String {
    let (target, run_id) = (quoted(&report.target), &report.run_id);
    format!("to delete it: promptarium-conformance sweep --base-url {target} --run {run_id}")
}

fn exit(report: &Report, strict: bool) -> Exit {
    let nothing = report.totals.passed + report.totals.known == 0;
    match report.verdict {
        _ if report.problem.is_some() => Exit::Stopped,
        Verdict::Failed => Exit::Failed,
        Verdict::Partial | Verdict::Unfinished if strict || nothing => Exit::Partial,
        Verdict::Passed | Verdict::Partial | Verdict::Unfinished => Exit::Passed,
    }
}

/// What failed in the last run against a target is kept in the cache of the user, a line for each
/// scenario; `None` where there is no home.
fn last_file(base_url: &str) -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = folder("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| folder("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    let name = format!("{:08x}.txt", crc32fast::hash(base_url.as_bytes()));
    Some(cache.join("promptarium-conformance").join(name))
}

fn kept(base_url: &str) -> Vec<String> {
    let text = last_file(base_url).and_then(|file| std::fs::read_to_string(file).ok());
    text.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The scenarios of a selection that failed or were blocked. The error is one line.
fn last_failed(base_url: &str, mut selection: Selection) -> Result<Selection, String> {
    let kept = kept(base_url);
    selection.scenarios.retain(|scenario| kept.iter().any(|id| id == scenario.id));
    if selection.scenarios.is_empty() {
        return Err(format!("--last-failed: nothing failed in the last run against {base_url}"));
    }
    Ok(selection)
}

/// Keeps what is bad now; with `tell` a text of what has changed. What was not selected stays as it
/// was. Nothing depends on the file, so that it cannot be written is no error.
fn keep(report: &Report, tell: bool) -> Option<String> {
    let bad = report.records.iter().filter(|record| record.outcome.is_bad());
    let mut now: Vec<String> = bad.map(|record| record.id.to_owned()).collect();
    let (ran, others): (Vec<_>, Vec<_>) =
        kept(&report.target).into_iter().partition(|id| report.outcome(id).is_some());
    let (broken, mended): (Vec<_>, Vec<_>) = ran.into_iter().partition(|id| now.contains(id));
    let (count, broken) = (mended.len(), broken.len());
    let mut text = format!("since the last run: {count} mended, {broken} as before\n");
    text.extend(mended.iter().map(|id| format!("  mended {id}\n")));
    now.extend(others);
    if let Some(file) = last_file(&report.target)
        && file.parent().map(std::fs::create_dir_all).is_some_and(|made| made.is_ok())
    {
        let _ = std::fs::write(file, now.join("\n"));
    }
    tell.then_some(text)
}
