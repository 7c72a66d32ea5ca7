//! Rounds of load, a crash in the midst of it, and a look at what is left.

mod crash;
mod ground;

use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::StdRng;

use self::crash::Crash;
use self::ground::Ground;

/// How many rounds there are, each with the next kind of crash.
const ROUNDS: &str = "PROMPTARIUM_CRASH_ROUNDS";
/// Repeats the choices of a run; not its timing, which nobody can.
const SEED: &str = "PROMPTARIUM_CRASH_SEED";

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_and_nothing_is_half_there() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let rounds = number(ROUNDS).unwrap_or(Crash::ALL.len() as u64);
    let seed = number(SEED).unwrap_or_else(|| u64::from(rand::random::<u32>()));
    println!("{rounds} rounds, {SEED}={seed}");
    let long = rounds > Crash::ALL.len() as u64;
    let mut ground = Ground::prepare(StdRng::seed_from_u64(seed), long).await;
    let mut longest = Duration::ZERO;
    for (round, crash) in (1..=rounds).zip(Crash::ALL.into_iter().cycle()) {
        let seen = ground.round(crash).await;
        println!("round {round}, {crash}: {seen}");
        longest = longest.max(seen.taken_over_after.unwrap_or_default());
    }
    println!("the longest that a job waited to be taken over: {longest:?}");
    ground.end().await;
}
