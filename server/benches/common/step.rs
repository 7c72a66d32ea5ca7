//! Single requests whose cost must not grow with the account.

use std::time::{Duration, Instant};

use http::Method;

use crate::Result;
use crate::account::{Account, integer};

/// How often each step is taken on each account.
const ROUNDS: usize = 1_000;

/// A request that is timed: name, methods that take turns, path and body with marks of the account in
/// braces, and how much more it may cost in the large account.
pub(crate) type Step = (&'static str, &'static [Method], &'static str, &'static str, f64);

const GET: &[Method] = &[Method::GET];
const POST: &[Method] = &[Method::POST];
const PATCH: &[Method] = &[Method::PATCH];
const TURNS: &[Method] = &[Method::POST, Method::DELETE];
const MOVE: &str = "move";

/// A prompt that is chosen at random is rarely in a processor's cache.
#[rustfmt::skip]
pub(crate) const IN_A_LARGE_ACCOUNT: [Step; 12] = [
    ("GET one prompt", GET, "/prompts/{prompt}", "", 1.2),
    ("first page of 20", GET, "/prompts", "", 1.2),
    ("page of 20 in the middle", GET, "{deep}", "", 1.2),
    ("first page of 20 of a vault", GET, "/prompts?vaultId={vault}", "", 1.2),
    ("first page of 20 of one type", GET, "/prompts?type=text", "", 1.2),
    ("pin or unpin", TURNS, "/vaults/{vault}/prompts/{member}/pin", "", 1.2),
    (MOVE, POST, "/vaults/{vault}/prompts/{member}/move", r#"{"targetVaultId":{vault}}"#, 1.2),
    ("GET the vault with its count", GET, "/vaults/{vault}", "", 1.2),
    ("POST a prompt", POST, "/prompts", r#"{"title":"Study","prompt":"Still life, soft light"}"#, 1.2),
    ("GET a random prompt", GET, "/prompts/{random}", "", 1.8),
    ("PATCH a random prompt", PATCH, "/prompts/{random}", r#"{"title":"Study {round}"}"#, 1.8),
    ("save a random prompt to a vault", POST, "/prompts/{random}/save", r#"{"vaultId":{second}}"#, 1.8),
];

/// How long a step took.
async fn take(step: &Step, account: &mut Account, round: usize) -> Result<Duration> {
    let (name, methods, path, body, _) = *step;
    let marks = &account.marks;
    let filled = |text: &str| {
        text.replace("{prompt}", &marks.prompt.to_string())
            .replace("{vault}", &marks.vault.to_string())
            .replace("{second}", &marks.second.to_string())
            .replace("{member}", &marks.member.to_string())
            .replace("{random}", &fastrand::i64(marks.prompts.clone()).to_string())
            .replace("{round}", &round.to_string())
            .replace("{deep}", &marks.deep)
    };
    let (method, path) = (methods[round % methods.len()].clone(), filled(path));
    let body = if body.is_empty() { None } else { Some(serde_json::from_str(&filled(body))?) };
    let start = Instant::now();
    let answer = account.call(method, &path, body).await?;
    let time = start.elapsed();
    if name == MOVE {
        account.marks.member = integer(&answer, "/data/vaultPromptId")?;
    }
    Ok(time)
}

/// Takes the steps in the small account and in any of the others, in turn, and prints the medians
/// below these names.
pub(crate) async fn compare_all(
    steps: &[Step],
    (small, few): (&mut Account, &str),
    (others, many): (&mut [Account], &str),
) -> Result {
    println!("| Step | {few} | {many} | Ratio | Bound |");
    println!("|---|---|---|---|---|");
    let mut failed = Vec::new();
    for step in steps {
        let mut times = (Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS));
        for round in 0..ROUNDS {
            let other = &mut others[fastrand::usize(..others.len())];
            times.0.push(take(step, small, round).await?);
            times.1.push(take(step, other, round).await?);
        }
        let (name, bound) = (step.0, step.4);
        let (a, b) = (median(times.0), median(times.1));
        let ratio = b.as_secs_f64() / a.as_secs_f64();
        println!("| {name} | {a:.1?} | {b:.1?} | {ratio:.2} | {bound} |");
        if ratio > bound {
            failed.push(name);
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
