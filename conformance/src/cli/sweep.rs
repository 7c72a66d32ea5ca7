//! The command `sweep`: takes away what older runs have left behind.

use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;

use super::target::TargetArguments;
use super::{Exit, Refusal, tell, warn};
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
    #[arg(long, default_value = "1h", value_name = "AGE", conflicts_with = "run")]
    older_than: Age,
    /// Only the run with this run_id, of any age.
    #[arg(long, value_name = "MARK")]
    run: Option<RunId>,
}

/// A time as it is written on the command line.
#[derive(Clone, Copy, Debug)]
struct Age(Duration);

impl FromStr for Age {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let units = [("s", 1), ("m", 60), ("h", 60 * 60), ("d", 24 * 60 * 60)];
        let seconds = units.iter().find_map(|(unit, seconds)| {
            Some(u64::from(text.strip_suffix(unit)?.parse::<u32>().ok()?) * seconds)
        });
        match seconds {
            Some(seconds) if seconds >= 60 => Ok(Self(Duration::from_secs(seconds))),
            Some(_) => Err("a run at work may be that young; expected 60s or more".into()),
            None => Err("expected a whole number of s, m, h or d, such as 2h".into()),
        }
    }
}

pub(super) async fn sweep(arguments: SweepArguments) -> Result<Exit, Refusal> {
    let options = RunOptions { read_only: arguments.dry_run, ..RunOptions::default() };
    let target =
        arguments.target.target(options, None).map_err(|line| Refusal(Exit::Usage, line))?;
    probe(&target).await?;
    let found = sweep::find(&target).await;
    let found = found.map_err(|failure| {
        let line = format!("the lists cannot be read: {}, not {}", failure.got, failure.expected);
        Refusal(Exit::Failed, line)
    })?;
    let now = Timestamp::now();
    let due = |left: &Leftovers| match &arguments.run {
        Some(run) => left.run == *run,
        None => left.age(now) >= arguments.older_than.0,
    };
    let (due, young): (Vec<_>, Vec<_>) = found.into_iter().partition(due);
    for left in &young {
        tell(&format!("left alone: {}\n", in_words(left)));
    }
    if due.is_empty() {
        tell("nothing to delete\n");
    }
    let mut exit = Exit::Passed;
    for left in due {
        let line = in_words(&left);
        if arguments.dry_run {
            tell(&format!("would delete: {line}\n"));
            continue;
        }
        let stuck = left.remove(&target).await;
        let but = match stuck.len() {
            0 => String::new(),
            count => format!(", but for {count} that are still there"),
        };
        tell(&format!("deleted: {line}{but}\n"));
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

#[cfg(test)]
mod tests {
    use super::Age;

    #[test]
    fn an_age_is_a_number_with_a_unit_and_no_less_than_a_minute() {
        for (text, seconds) in [("60s", 60), ("1m", 60), ("2h", 7200), ("30d", 2_592_000)] {
            assert_eq!(text.parse::<Age>().unwrap().0.as_secs(), seconds, "{text}");
        }
        for text in ["", "h", "1", "59s", "0h", "1.5h", "-1h", "1 h", "1w", "漢"] {
            assert!(text.parse::<Age>().is_err(), "{text}");
        }
    }
}
