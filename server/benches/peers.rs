//! How fast the server is beside other programs that give the same responses: bare hyper, the
//! thinnest server on PostgreSQL, and axum with sqlx as tutorials write it (`benches/peers`), each with
//! tables of its own; beside PostgreSQL by itself, with the statements of the server; and what the
//! secondary indexes of the schema cost an insert.
//!
//! Each is a process of its own, and `wrk` or `pgbench` with 32 connections calls them in turn. The
//! ratio is the median of the ratios within the rounds.
//!
//! `script/bench peers` builds the programs and runs it. Variables, all optional:
//! `PROMPTARIUM_BENCH_ROUNDS` (13) and `PROMPTARIUM_BENCH_SECONDS` (1, of each measurement);
//! `PROMPTARIUM_BENCH_ONLY`, a part of the rows to measure, such as `POST` or `32 keys`;
//! `PROMPTARIUM_BENCH_SERVER`, the path of another build of the server;
//! `PROMPTARIUM_BENCH_QUICK=1`, 3 rounds, and a bound that does not hold is no error.

#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "common/floor.rs"]
mod floor;
#[path = "common/load.rs"]
mod load;
#[path = "common/program.rs"]
mod program;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use promptarium_server::test_support::ScratchDatabase;
use tokio_postgres::{Client, NoTls};

use self::floor::Floor;
use self::load::{Case, Load, PROMPTS, Request};
use self::program::Program;

type Failure = Box<dyn Error + Send + Sync>;
type Result<T = ()> = std::result::Result<T, Failure>;

/// The lowest ratio to bare hyper, for a store in memory.
const BARE: f64 = 0.75;
/// The lowest ratios to the thinnest server. Writes come last, because they make the tables larger.
#[rustfmt::skip]
const THIN: [(Request, Case, f64); 9] = [
    (Request::Get, Case::OneId, 1.4), (Request::Get, Case::OneKey, 1.15), (Request::Get, Case::Keys, 0.95),
    (Request::Page, Case::OneId, 1.8), (Request::Page, Case::OneKey, 1.8), (Request::Page, Case::Keys, 1.8),
    (Request::Post, Case::OneId, 1.3), (Request::Post, Case::OneKey, 1.2), (Request::Post, Case::Keys, 1.1),
];
/// The lowest ratio to the server of tutorials.
const TUTORIAL: f64 = 4.0;
/// The lowest ratio of inserts with all indexes of the schema to inserts with its primary key only.
const INDEXES: f64 = 0.8;

/// Prompts of all accounts, added in turn as the peers add theirs.
const FILL: &str = "INSERT INTO prompt (account_id, kind, title, body, created_at, updated_at)
    SELECT a.id, 'text', 'Study ' || i, 'Still life, soft light', now(), now()
    FROM generate_series(1, $1) i, account a WHERE a.name LIKE 'bench-%' ORDER BY i, a.id";

/// Two empty tables beside the one of the schema: `indexed` has its indexes, `plain` only its key.
const COPIES: &str =
    "CREATE SCHEMA indexed; CREATE TABLE indexed.prompt (LIKE prompt INCLUDING ALL);
    CREATE SCHEMA plain;
    CREATE TABLE plain.prompt (LIKE prompt INCLUDING ALL EXCLUDING INDEXES)";
const PRIMARY_KEY: &str = "SELECT 'ALTER TABLE plain.prompt ADD ' || pg_get_constraintdef(oid)
    FROM pg_constraint WHERE conrelid = 'public.prompt'::regclass AND contype = 'p'";

#[tokio::main]
async fn main() -> ExitCode {
    // `cargo bench` and `cargo test --benches` hand over flags of their own.
    if std::env::args().any(|argument| argument == "--test" || argument == "--list") {
        return ExitCode::SUCCESS;
    }
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result {
    let mut bench = Bench::new()?;
    println!("| Request | Keys and prompts | Per second | Ratio to others (lowest allowed) |");
    println!("|---|---|---|---|");
    let begun = Instant::now();
    bench.memory().await?;
    bench.postgres().await?;
    println!("\n{} rounds of {} s, {:.0?}", bench.rounds, bench.seconds, begun.elapsed());
    match &bench.failed[..] {
        [] => Ok(()),
        failed if bench.quick => {
            println!("Below the bound: {}", failed.join("; "));
            Ok(())
        }
        failed => Err(format!("below the bound: {}", failed.join("; ")).into()),
    }
}

/// What is measured, its name, and the lowest ratio to it, if there is one.
type Other<'a> = (&'a str, Option<f64>, &'a dyn Fn() -> Result<f64>);

struct Bench {
    server: PathBuf,
    peers: PathBuf,
    rounds: usize,
    seconds: u32,
    only: String,
    quick: bool,
    failed: Vec<String>,
}

impl Bench {
    fn new() -> Result<Self> {
        let variable = |name: &str| std::env::var(format!("PROMPTARIUM_{name}")).ok();
        let number = |name: &str, default: usize| match variable(name) {
            None => Ok(default),
            Some(text) => text.parse().ok().filter(|number| *number > 0).ok_or_else(|| {
                format!("PROMPTARIUM_{name}={text}: it must be a whole number above 0")
            }),
        };
        let quick = variable("BENCH_QUICK").is_some();
        let server = variable("BENCH_SERVER");
        Ok(Self {
            server: server.unwrap_or(env!("CARGO_BIN_EXE_promptarium-server").to_owned()).into(),
            peers: variable("PEERS")
                .ok_or("PROMPTARIUM_PEERS is not set; script/bench builds the peers and sets it")?
                .into(),
            rounds: number("BENCH_ROUNDS", if quick { 3 } else { 13 })?,
            seconds: number("BENCH_SECONDS", 1)?.try_into()?,
            only: variable("BENCH_ONLY").unwrap_or_default(),
            quick,
            failed: Vec::new(),
        })
    }

    async fn memory(&mut self) -> Result {
        let row = row(" in memory", Request::Get, Case::OneId);
        if !row.contains(&self.only) {
            return Ok(());
        }
        let server = Program::start_server(&self.server, None).await?;
        server.create().await?;
        let bare = Program::start_peer(&self.peers.join("bare"), "").await?;
        let load = Load::new(Request::Get, Case::OneId, &[])?;
        let seconds = self.seconds;
        let rate = |program| load.rate(program, seconds);
        self.compare(&row, &|| rate(&server), &[("bare", Some(BARE), &|| rate(&bare))])
    }

    async fn postgres(&mut self) -> Result {
        let databases = [(); 3].map(|()| ScratchDatabase::empty());
        let [ours, thins, tutorials] = databases;
        let (ours, thins, tutorials) = (ours.await?, thins.await?, tutorials.await?);
        let url = with_options(&ours.url(), "synchronous_commit=off");
        let server = Program::start_server(&self.server, Some(&url)).await?;
        let sql = connect(&ours).await?;
        sql.execute(FILL, &[&i32::try_from(PROMPTS)?]).await?;
        let peer = async |name: &str, database: &ScratchDatabase| {
            let url = with_options(&database.url(), "synchronous_commit=off");
            Program::start_peer(&self.peers.join(name), &url).await
        };
        let (thin, tutorial) = (peer("thin", &thins).await?, peer("tutorial", &tutorials).await?);
        for database in [&ours, &thins, &tutorials] {
            connect(database).await?.batch_execute("VACUUM (ANALYZE)").await?;
        }
        let programs = [&server, &thin, &tutorial];
        let mut cursors = Vec::new();
        for program in programs {
            cursors.push(program.cursors().await?);
            if program.shape().await? != server.shape().await? {
                return Err(program.problem("its responses have other names than the server's"));
            }
        }
        let floor = Floor::read(&server, &sql).await?;
        for (request, case, bound) in THIN {
            let row = row("", request, case);
            if !row.contains(&self.only) {
                continue;
            }
            let loads = cursors.iter().map(|cursors| Load::new(request, case, cursors));
            let loads = loads.collect::<Result<Vec<_>>>()?;
            let seconds = self.seconds;
            let rate = |at: usize| loads[at].rate(programs[at], seconds);
            let by_itself = floor.load(request, case, &url)?;
            let others: &[Other<'_>] = &[
                ("thin", Some(bound), &|| rate(1)),
                ("tutorial", Some(TUTORIAL), &|| rate(2)),
                ("pgbench", None, &|| by_itself.rate(seconds)),
            ];
            let writes = matches!(request, Request::Post);
            self.compare(&row, &|| rate(0), &others[..if writes { 2 } else { 3 }])?;
        }
        drop((thin, tutorial));
        self.durable(&floor, &ours, &sql).await?;
        self.indexes(&floor, &url, &sql).await
    }

    /// Writes that wait for the disk.
    async fn durable(&mut self, floor: &Floor, database: &ScratchDatabase, sql: &Client) -> Result {
        let fsync: String = sql.query_one("SHOW fsync", &[]).await?.try_get(0)?;
        if fsync != "on" {
            return Err(
                "fsync is off in this cluster; script/bench starts one with fsync on".into()
            );
        }
        let url = with_options(&database.url(), "synchronous_commit=on");
        let server = Program::start_server(&self.server, Some(&url)).await?;
        for case in [Case::OneId, Case::OneKey, Case::Keys] {
            let row = row(", commits wait for the disk", Request::Post, case);
            if row.contains(&self.only) {
                let load = Load::new(Request::Post, case, &[])?;
                let seconds = self.seconds;
                let by_itself = floor.load(Request::Post, case, &url)?;
                let others: &[Other<'_>] = &[("pgbench", None, &|| by_itself.rate(seconds))];
                self.compare(&row, &|| load.rate(&server, seconds), others)?;
            }
        }
        Ok(())
    }

    async fn indexes(&mut self, floor: &Floor, url: &str, sql: &Client) -> Result {
        let row = "| INSERT with all indexes | 32 keys, random |";
        if !row.contains(&self.only) {
            return Ok(());
        }
        sql.batch_execute(COPIES).await?;
        let primary_key: String = sql.query_one(PRIMARY_KEY, &[]).await?.try_get(0)?;
        sql.batch_execute(&primary_key).await?;
        let seconds = self.seconds;
        let load = |schema: &str| {
            let url = with_options(url, &format!("search_path={schema},public"));
            floor.load(Request::Post, Case::Keys, &url)
        };
        let (indexed, plain) = (load("indexed")?, load("plain")?);
        let others: &[Other<'_>] =
            &[("the primary key only", Some(INDEXES), &|| plain.rate(seconds))];
        self.compare(row, &|| indexed.rate(seconds), others)
    }

    /// Measures the server and the others in turn, and prints a row. The first round is for warming
    /// up.
    fn compare(
        &mut self,
        row: &str,
        server: &dyn Fn() -> Result<f64>,
        others: &[Other<'_>],
    ) -> Result {
        let mut rates = vec![Vec::new(); others.len() + 1];
        for round in 0..=self.rounds {
            let all = std::iter::once(server).chain(others.iter().map(|other| other.2));
            for (rate, rates) in all.zip(&mut rates) {
                let rate = rate().map_err(|error| format!("{row} {error}"))?;
                if round > 0 {
                    rates.push(rate);
                }
            }
        }
        let mut ratios = Vec::new();
        for ((name, bound, _), other) in others.iter().zip(&rates[1..]) {
            let ratio = median(rates[0].iter().zip(other).map(|(a, b)| a / b).collect());
            let least = bound.map_or_else(String::new, |bound| format!(" ({bound:.2})"));
            ratios.push(format!("{name} {ratio:.2}{least}"));
            if bound.is_some_and(|bound| ratio < bound) {
                self.failed.push(format!("{row} {name} {ratio:.2}{least}"));
            }
        }
        println!("{row} {:.0} | {} |", median(rates[0].clone()), ratios.join(", "));
        Ok(())
    }
}

/// The first cells of a row.
fn row(how: &str, request: Request, case: Case) -> String {
    format!("| {}{how} | {} |", request.name(), case.name())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The address with these settings, separated by spaces, for each session.
fn with_options(url: &str, settings: &str) -> String {
    let options: String =
        settings.split(' ').map(|one| format!("%20-c%20{}", one.replace('=', "%3D"))).collect();
    if url.contains("?options=") {
        format!("{url}{options}")
    } else {
        format!("{url}?options={options}")
    }
}

async fn connect(database: &ScratchDatabase) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}
