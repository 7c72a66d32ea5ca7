//! The command `run`: everything that can be wrong is looked at before the
//! first scenario runs, and each fault is one line and one exit code.

use std::sync::Arc;

use futures::FutureExt as _;
use promptarium_conformance::report::{Outputs, Report, Untestable, Verdict, text};
use promptarium_conformance::run::Mark;
use promptarium_conformance::{KnownFailures, Manners, Run, Selection, Target, session, survey};

use super::progress::Progress;
use super::signals;
use super::{Exit, Refusal, RunArguments, tell, warn};

pub(super) async fn run(arguments: RunArguments) -> Result<Exit, Refusal> {
    let strict = arguments.strict;
    let report = carry_out(arguments).await?;
    Ok(exit(&report, strict))
}

async fn carry_out(arguments: RunArguments) -> Result<Report, Refusal> {
    let usage = |line| Refusal(Exit::Usage, line);
    let (target, selection) = prepare(&arguments).map_err(usage)?;
    let all = selection.scenarios.len();
    let mut run = Run::new(Arc::clone(&target), selection.clone())
        .jobs(arguments.jobs)
        .deadline(Run::DEADLINE.max(arguments.target.patience() * 2));
    if let Some(seed) = arguments.seed {
        run = run.seed(seed);
    }
    if let Some(file) = &arguments.known_failures {
        run = run.known(KnownFailures::read(file, today()).map_err(usage)?);
    }
    let mut outputs = Outputs::new(arguments.report).map_err(usage)?;
    outputs.begin(&run.opening()).map_err(usage)?;
    let mark = run.mark().clone();
    let again = how_to_sweep(&mark);
    let stop = signals::listen(
        || warn("stopping; deleting what was made (once more to leave it there)"),
        move || {
            warn(&format!("left at once; {again}"));
            std::process::exit(Exit::Stopped as i32)
        },
    )
    .shared();
    let untestable = match survey(&target, &selection, &mark, stop.clone()).await {
        Ok(untestable) => untestable,
        Err(error) => {
            end_session(&target).await;
            let mut report = run.opening();
            report.problem = Some(error.to_string());
            outputs.end(&report).map_err(usage)?;
            return Err(error.into());
        }
    };
    for Untestable { what, reason, mend } in &untestable {
        warn(&format!("cannot test {what}: {reason}; {mend}"));
    }
    let run = run.untestable(untestable).sceptical();
    let progress = Progress::new(all, run.at_work());
    let report = run.carry_out(stop, |record, report| {
        progress.show(report);
        outputs.tell(record, report);
    });
    let report = report.await;
    end_session(&target).await;
    drop(progress);
    tell(&text::render(&report));
    if target.manners().keep || report.totals.left_behind > 0 {
        warn(&how_to_sweep(&mark));
    }
    outputs.end(&report).map_err(usage)?;
    Ok(report)
}

async fn end_session(target: &Arc<Target>) {
    if let Err(line) = session::sign_out(target).await {
        warn(&line);
    }
}

fn today() -> jiff::civil::Date {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date()
}

fn prepare(arguments: &RunArguments) -> Result<(Arc<Target>, Selection), String> {
    let RunArguments { read_only, keep, .. } = *arguments;
    let selection = Selection::new(&arguments.profile, arguments.filter.clone())?;
    let selection = if read_only { selection.read_only()? } else { selection };
    let manners = Manners { read_only, keep, ..Manners::default() };
    let target = arguments.target.target(manners, arguments.sign_in_url.as_deref())?;
    Ok((target, selection))
}

fn how_to_sweep(mark: &Mark) -> String {
    format!("to delete what was made: promptarium-conformance sweep --run {mark}")
}

fn exit(report: &Report, strict: bool) -> Exit {
    match report.verdict {
        _ if report.problem.is_some() => Exit::Stopped,
        Verdict::Failed => Exit::Failed,
        Verdict::Partial | Verdict::Unfinished
            if strict || report.totals.passed + report.totals.known == 0 =>
        {
            Exit::Partial
        }
        Verdict::Passed | Verdict::Partial | Verdict::Unfinished => Exit::Passed,
    }
}
