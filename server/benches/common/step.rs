//! Single requests whose cost must not grow with the account.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::json;

use crate::Result;
use crate::account::{Account, Marks, integer};

/// How often each step is taken on each account.
const ROUNDS: usize = 1_000;

/// What is timed; each is one request.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    Get,
    FirstPage,
    DeepPage,
    PageOfVault,
    PageOfType,
    Pin,
    Move,
    Count,
    Create,
    GetRandom,
    UpdateRandom,
    SaveRandom,
}

/// Each step, its name, and how much more it may cost in the large account. A prompt that is chosen
/// at random is rarely in a processor's cache.
pub(crate) const IN_A_LARGE_ACCOUNT: &[(Step, &str, f64)] = &[
    (Step::Get, "GET one prompt", 1.2),
    (Step::FirstPage, "first page of 20", 1.2),
    (Step::DeepPage, "page of 20 in the middle", 1.2),
    (Step::PageOfVault, "first page of 20 of a vault", 1.2),
    (Step::PageOfType, "first page of 20 of one type", 1.2),
    (Step::Pin, "pin or unpin", 1.2),
    (Step::Move, "move", 1.2),
    (Step::Count, "GET the vault with its count", 1.2),
    (Step::Create, "POST a prompt", 1.2),
    (Step::GetRandom, "GET a random prompt", 1.8),
    (Step::UpdateRandom, "PATCH a random prompt", 1.8),
    (Step::SaveRandom, "save a random prompt to a vault", 1.8),
];

impl Step {
    async fn take(self, account: &mut Account, round: usize) -> Result {
        let Marks { prompt, vault, member, second, .. } = account.marks;
        let random = fastrand::i64(account.marks.prompts.clone());
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
            Self::Create => {
                let body = json!({ "title": "Study", "prompt": "Still life, soft light" });
                account.call(Method::POST, "/prompts", Some(body)).await?
            }
            Self::GetRandom => account.get(&format!("/prompts/{random}")).await?,
            Self::UpdateRandom => {
                let body = json!({ "title": format!("Study {round}") });
                account.call(Method::PATCH, &format!("/prompts/{random}"), Some(body)).await?
            }
            Self::SaveRandom => {
                let body = json!({ "vaultId": second });
                account.call(Method::POST, &format!("/prompts/{random}/save"), Some(body)).await?
            }
        };
        Ok(())
    }
}

/// Takes the steps in the small account and in any of the others, in turn, and prints the medians
/// below these names.
pub(crate) async fn compare_all(
    steps: &[(Step, &str, f64)],
    (small, few): (&mut Account, &str),
    (others, many): (&mut [Account], &str),
) -> Result {
    println!("| Step | {few} | {many} | Ratio | Bound |");
    println!("|---|---|---|---|---|");
    let mut failed = Vec::new();
    for (step, name, bound) in steps {
        let mut times = (Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS));
        for round in 0..ROUNDS {
            let other = &mut others[fastrand::usize(..others.len())];
            for (account, times) in [(&mut *small, &mut times.0), (other, &mut times.1)] {
                let start = Instant::now();
                step.take(account, round).await?;
                times.push(start.elapsed());
            }
        }
        let (a, b) = (median(times.0), median(times.1));
        let ratio = b.as_secs_f64() / a.as_secs_f64();
        println!("| {name} | {a:.1?} | {b:.1?} | {ratio:.2} | {bound} |");
        if ratio > *bound {
            failed.push(*name);
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!("costs too much {many}: {}", failed.join(", ")).into())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
