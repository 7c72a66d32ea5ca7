//! Single requests whose cost must not grow with the account.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::json;

use crate::Result;
use crate::account::{Account, Marks, integer};

/// How often each step is taken on each account.
const ROUNDS: usize = 1_000;
const BOUND: f64 = 1.5;

/// What is timed; each is one request.
#[derive(Clone, Copy)]
enum Step {
    Get,
    FirstPage,
    DeepPage,
    PageOfVault,
    PageOfType,
    Pin,
    Move,
    Count,
}

impl Step {
    const ALL: &[Self] = &[
        Self::Get,
        Self::FirstPage,
        Self::DeepPage,
        Self::PageOfVault,
        Self::PageOfType,
        Self::Pin,
        Self::Move,
        Self::Count,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Get => "GET one prompt",
            Self::FirstPage => "first page of 20",
            Self::DeepPage => "page of 20 in the middle",
            Self::PageOfVault => "first page of 20 of a vault",
            Self::PageOfType => "first page of 20 of one type",
            Self::Pin => "pin or unpin",
            Self::Move => "move",
            Self::Count => "GET the vault with its count",
        }
    }

    async fn take(self, account: &mut Account, round: usize) -> Result {
        let Marks { prompt, vault, member, .. } = account.marks;
        match self {
            Self::Get => account.get(&format!("/prompts/{prompt}")).await?,
            Self::FirstPage => account.get("/prompts").await?,
            Self::DeepPage => account.get(&account.marks.deep.clone()).await?,
            Self::PageOfVault => account.get(&format!("/prompts?vaultId={vault}")).await?,
            Self::PageOfType => account.get("/prompts?type=text").await?,
            Self::Pin => {
                let method = if round.is_multiple_of(2) { Method::POST } else { Method::DELETE };
                account.call(method, &format!("/vaults/{vault}/prompts/{member}/pin"), None).await?
            }
            Self::Move => {
                let path = format!("/vaults/{vault}/prompts/{member}/move");
                let body = json!({ "targetVaultId": vault });
                let moved = account.call(Method::POST, &path, Some(body)).await?;
                account.marks.member = integer(&moved, "/data/vaultPromptId")?;
                return Ok(());
            }
            Self::Count => account.get(&format!("/vaults/{vault}")).await?,
        };
        Ok(())
    }
}

/// Takes every step on both accounts and prints what it took; each account with the
/// number of its prompts.
pub(crate) async fn compare_all(
    (small, few): (&mut Account, usize),
    (large, many): (&mut Account, usize),
) -> Result {
    let (few, many) = (format!("at {few}"), format!("at {many}"));
    println!("{:<34} {few:>12} {many:>12} {:>7}", "step", "ratio");
    let mut within = true;
    for step in Step::ALL {
        let (a, b) = compare(*step, small, large).await?;
        let ratio = b.as_secs_f64() / a.as_secs_f64();
        println!("{:<34} {:>12?} {:>12?} {ratio:>7.2}", step.name(), a, b);
        within &= ratio <= BOUND;
    }
    let fault = || format!("a step costs more than {BOUND} times as much in the large account");
    if within { Ok(()) } else { Err(fault().into()) }
}

/// Takes a step on both, in turn; the median of each.
async fn compare(
    step: Step,
    small: &mut Account,
    large: &mut Account,
) -> Result<(Duration, Duration)> {
    let mut times = (Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS));
    for round in 0..ROUNDS {
        let start = Instant::now();
        step.take(small, round).await?;
        times.0.push(start.elapsed());
        let start = Instant::now();
        step.take(large, round).await?;
        times.1.push(start.elapsed());
    }
    Ok((median(times.0), median(times.1)))
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
