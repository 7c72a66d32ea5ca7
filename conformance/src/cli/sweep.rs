//! The command `sweep`: deletes what earlier runs left behind.

use std::time::Duration;

use clap::Args;
use jiff::{Span, SpanRelativeTo, Timestamp};

use super::target::TargetArguments;
use super::{Exit, Refusal, print, warn};
use crate::sweep::{self, Leftovers};
use crate::{RunId, RunOptions, probe};

#[derive(Args)]
pub(super) struct SweepArguments {
    #[command(flatten)]
    target: TargetArguments,
    /// Show what would be deleted and delete nothing.
    #[arg(long)]
    dry_run: bool,
    /// Minimum age of a run, such as 90s, 15m, 2h or 1d.
    #[arg(long, default_value = "1h", value_name = "AGE", conflicts_with = "run", value_parser = age)]
    older_than: Duration,
    /// Only the run with this run_id, of any age.
    #[arg(long, value_name = "MARK")]
    run: Option<RunId>,
}

/// A run of less than a minute ago may still be running.
fn age(text: &str) -> Result<Duration, String> {
    let age =
        text.parse::<Span>().and_then(|age| age.to_duration(SpanRelativeTo::days_are_24_hours()));
    let age = age.map_err(|_| "expected a number of s, m, h or d, such as 2h")?;
    let age = Duration::try_from(age).ok().filter(|age| age.as_secs() >= 60);
    age.ok_or_else(|| "a run of that age may still be running; expected 60s or more".into())
}

pub(super) async fn sweep(arguments: SweepArguments) -> Result<Exit, Refusal> {
    let options = RunOptions { read_only: arguments.dry_run, ..RunOptions::default() };
    let target = arguments.target.target(options)?;
    probe(&target).await?;
    let found = sweep::find(&target).await;
    let found = found.map_err(|failure| {
        let line = format!("the lists cannot be read: {}, not {}", failure.got, failure.expected);
        Refusal(Exit::Failed, line)
    })?;
    let now = Timestamp::now();
    let due = |left: &Leftovers| match &arguments.run {
        Some(run) => left.run == *run,
        None => left.age(now) >= arguments.older_than,
    };
    let (due, young): (Vec<_>, Vec<_>) = found.into_iter().partition(due);
    for left in &young {
        print(&format!("left alone: {}\n", in_words(left)))?;
    }
    if due.is_empty() {
        print("nothing to delete\n")?;
    }
    let mut exit = Exit::Passed;
    for left in due {
        let line = in_words(&left);
        if arguments.dry_run {
            print(&format!("would delete: {line}\n"))?;
            continue;
        }
        let stuck = left.remove(&target).await;
        let but = match stuck.len() {
            0 => String::new(),
            count => format!(", but for {count} that are still there"),
        };
        print(&format!("deleted: {line}{but}\n")).unwrap_or_else(|error| warn(&error));
        for line in &stuck {
            warn(line);
            exit = Exit::Failed;
        }
    }
    Ok(exit)
}

fn in_words(left: &Leftovers) -> String {
    let (run, count, begun) = (&left.run, left.count(), left.run.begun());
    format!("{count} things of the run {run}, which began {begun}")
}
