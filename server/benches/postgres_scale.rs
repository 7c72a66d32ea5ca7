//! Does the cost of a step on PostgreSQL grow with the account?
//!
//! Two accounts in one database, one with a thousand prompts and one with a
//! million. Every step is taken in turn on the one and on the other over HTTP, and
//! the medians are compared. The large account also has a thousand vaults with a
//! million memberships. Then the steps are taken
//! in accounts chosen at random of ten thousand. A ratio above its bound ends with exit code 1.
//!
//! `script/bench` runs it, with `script/load-account` for the data;
//! `docs/reference/benchmarks.md` tells what it showed.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "common/account.rs"]
mod account;
#[path = "common/crowd.rs"]
mod crowd;
#[path = "common/step.rs"]
mod step;

use std::error::Error;
use std::process::Command;
use std::time::Instant;

use http::Method;
use promptarium_server::EmbeddedServer;
use promptarium_server::test_support::ScratchDatabase;
use serde_json::json;
use tokio_postgres::{Client, NoTls};

use self::account::{Account, Marks, client, integer};
use self::step::{IN_A_LARGE_ACCOUNT, compare_all};

type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const SMALL: usize = 1_000;
/// Of the large account, unless PROMPTARIUM_BENCH_PROMPTS has another number.
const LARGE: usize = 1_000_000;
/// Vaults of the large account, beside the one that holds everything.
const VAULTS: usize = 1_000;
const ACCOUNTS: usize = 10_000;
/// Reads what single prompts are found in, as far as the shared buffers have room. Otherwise the
/// first reads of random prompts would measure the disk.
const WARM: &str = "CREATE EXTENSION pg_prewarm;
    SELECT pg_prewarm(name) FROM unnest(ARRAY['prompt', 'vault_prompt_prompt', 'prompt_pkey']) name";

#[tokio::main]
async fn main() -> Result {
    // `cargo bench` and `cargo test --benches` hand over flags of their own.
    if std::env::args().any(|argument| argument == "--test" || argument == "--list") {
        return Ok(());
    }
    let database = ScratchDatabase::create().await?;
    let mut builder = EmbeddedServer::builder();
    for number in 0..ACCOUNTS {
        builder = builder.seed_key(crowd::seed_key(number));
    }
    let server = builder
        .database_url(database.url())
        .seed_key("promptarium_live_small_s3cret=small")
        .seed_key("promptarium_live_large_s3cret=large")
        .start()
        .await?;
    let url = database.url();
    load(&url, "small", SMALL, 1)?;
    let started = Instant::now();
    let prompts = std::env::var("PROMPTARIUM_BENCH_PROMPTS").ok();
    let prompts = prompts.map_or(Ok(LARGE), |number| number.parse())?;
    load(&url, "large", prompts, VAULTS)?;
    println!("loaded {prompts} prompts in {:.0?}\n", started.elapsed());

    let (sql, connection) = tokio_postgres::connect(&url, NoTls).await?;
    tokio::spawn(connection);
    sql.batch_execute(WARM).await?;
    let base = server.base_url();
    let mut small = open(base, &sql, "small", SMALL).await?;
    let mut large = [open(base, &sql, "large", prompts).await?];
    let (few, many) = (format!("at {SMALL}"), format!("at {prompts}"));
    let outcome = compare_all(&IN_A_LARGE_ACCOUNT, (&mut small, &few), (&mut large, &many)).await;
    let mut crowd = crowd::fill(&sql, base).await?;
    // So that the server knows every key.
    for member in &crowd {
        member.get("/prompts?limit=1").await?;
    }
    println!("\n{ACCOUNTS} accounts of 100 prompts:\n");
    // The account is another one each time; nothing of it is in a processor's cache.
    let any = (&mut *crowd, "in any of the accounts");
    // Three need marks that only the loaded accounts have.
    let has_mark =
        |path: &str| !["{deep}", "type=", "/save"].iter().any(|part| path.contains(part));
    let steps = IN_A_LARGE_ACCOUNT.into_iter().filter(|step| has_mark(step.2));
    let steps: Vec<_> =
        steps.map(|(name, methods, path, body, _)| (name, methods, path, body, 1.8)).collect();
    outcome.and(compare_all(&steps, (&mut small, &few), any).await)
}

/// Fills an account past the API.
fn load(url: &str, account: &str, prompts: usize, vaults: usize) -> Result {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../script/load-account");
    let (prompts, vaults) = (prompts.to_string(), vaults.to_string());
    let status = Command::new(script).args([url, account, &prompts, &vaults]).status()?;
    if status.success() { Ok(()) } else { Err("script/load-account failed".into()) }
}

/// An account that was loaded, with something in its middle to work on.
async fn open(base: &str, sql: &Client, name: &str, prompts: usize) -> Result<Account> {
    let middle = "SELECT m.vault_id, m.prompt_id, m.id, \
                  (SELECT min(id) FROM prompt WHERE account_id = a.id), \
                  (SELECT max(id) FROM prompt WHERE account_id = a.id) \
                  FROM account a JOIN vault v ON v.account_id = a.id AND v.slug = 'bench' \
                  JOIN vault_prompt m ON m.account_id = v.account_id AND m.vault_id = v.id \
                  WHERE a.name = $1 ORDER BY m.id OFFSET $2 LIMIT 1";
    let row = sql.query_one(middle, &[&name, &i64::try_from(prompts / 2)?]).await?;
    let (base, key) = (base.to_owned(), format!("promptarium_live_{name}_s3cret"));
    let mut account = Account { client: client()?, base, key, marks: Marks::default() };
    let second = account.call(Method::POST, "/vaults", Some(json!({ "name": "Saved" }))).await?;
    account.marks = Marks {
        vault: row.try_get(0)?,
        second: integer(&second, "/data/id")?,
        prompt: row.try_get(1)?,
        member: row.try_get(2)?,
        prompts: row.try_get(3)?..row.try_get::<_, i64>(4)? + 1,
        deep: account.middle(prompts).await?,
    };
    Ok(account)
}
