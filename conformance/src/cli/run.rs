//! The command `run`: everything that can be wrong is looked at before the
//! first scenario runs, and each fault is one line and one exit code.

use std::sync::Arc;
use std::time::Duration;

use promptarium_conformance::report::{Outputs, Report, Verdict, text};
use promptarium_conformance::{ProbeError, Run, Selection, Target, environment, probe};

use super::progress::Progress;
use super::signals;
use super::{Exit, RunArguments, tell, warn};

/// What keeps a run from beginning.
struct Refusal(Exit, String);

pub(super) fn run(arguments: RunArguments) -> Exit {
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            warn(&format!("no runtime: {error}"));
            return Exit::Usage;
        }
    };
    let strict = arguments.strict;
    match runtime.block_on(carry_out(arguments)) {
        Ok(report) => exit(&report, strict),
        Err(Refusal(exit, line)) => {
            warn(&line);
            exit
        }
    }
}

async fn carry_out(arguments: RunArguments) -> Result<Report, Refusal> {
    let usage = |line| Refusal(Exit::Usage, line);
    let (target, selection) = prepare(&arguments).map_err(usage)?;
    let progress = Progress::new(selection.scenarios.len());
    let mut run = Run::new(Arc::clone(&target), selection)
        .jobs(arguments.jobs)
        .deadline(Run::DEADLINE.max(target.patience() * 2));
    if let Some(seed) = arguments.seed {
        run = run.seed(seed);
    }
    let mut outputs = Outputs::new(arguments.report);
    outputs.write(&run.opening(), false).map_err(usage)?;
    if let Err(error) = probe(&target).await {
        let mut report = run.opening();
        report.problem = Some(error.to_string());
        outputs.write(&report, true).map_err(usage)?;
        let exit = match error {
            ProbeError::Unreachable(_) => Exit::Unreachable,
            ProbeError::Misconfigured(_) => Exit::Usage,
        };
        return Err(Refusal(exit, error.to_string()));
    }
    let stop = signals::listen(
        || warn("stopping; deleting what was made (once more to leave it there)"),
        || std::process::exit(Exit::Stopped as i32),
    );
    let report = run.carry_out(stop, |_, report| {
        progress.show(report);
        // A disk that is full now may have room at the end, where it counts.
        let _ = outputs.refresh(report);
    });
    let report = report.await;
    progress.clear();
    tell(&text::render(&report));
    outputs.write(&report, true).map_err(usage)?;
    Ok(report)
}

fn prepare(arguments: &RunArguments) -> Result<(Arc<Target>, Selection), String> {
    let variable = |name: &str| std::env::var(name).ok();
    let selection = Selection::new(arguments.profile, arguments.filter.clone())?;
    let mut config = environment::target_config(arguments.base_url.as_deref(), variable)?;
    config.patience = Duration::from_secs(arguments.patience.into());
    let target = Target::new(config).map_err(|failure| failure.got)?;
    Ok((Arc::new(target), selection))
}

fn exit(report: &Report, strict: bool) -> Exit {
    match report.verdict {
        _ if report.problem.is_some() => Exit::Stopped,
        Verdict::Failed => Exit::Failed,
        Verdict::Partial | Verdict::Unfinished if strict || report.totals.passed == 0 => {
            Exit::Partial
        }
        Verdict::Passed | Verdict::Partial | Verdict::Unfinished => Exit::Passed,
    }
}
