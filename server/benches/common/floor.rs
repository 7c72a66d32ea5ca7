//! What PostgreSQL does by itself: `pgbench` sends the statements of the server, read from the
//! database, with as many clients.

use std::cell::Cell;
use std::process::Command;

use serde_json::Value;
use tempfile::NamedTempFile;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::load::{CONNECTIONS, Case, KEYS, PROMPTS, Request, TEXT, words};
use crate::program::Program;
use crate::{Result, with_options};

/// What the server sets for each of its sessions.
const SESSION: &str = "plan_cache_mode=force_generic_plan jit=off";

/// What the parameters of each statement stand for, by number.
fn parameters(request: Request) -> &'static [&'static str] {
    match request {
        Request::Get => &[":account", ":key", "ARRAY[:id]"],
        Request::Page => &[":account", ":key", ":id", ":rows"],
        Request::Post => &[
            ":account", ":key", ":kind", ":title", ":body", "NULL", "NULL", "NULL", "NULL", "NULL",
            ":now", "'[]'",
        ],
    }
}

/// The statements of a server for the three requests, with names of variables for the parameters.
pub(crate) struct Floor {
    statements: Vec<(Request, String)>,
    /// Ids of the first account and the first key. Those of the others follow without gaps.
    first: (i64, i64),
}

impl Floor {
    /// Sends each request to the server, and reads from the database what it executed.
    pub(crate) async fn read(server: &Program, sql: &Client) -> Result<Self> {
        let ids = "SELECT min(a.id), min(k.id) FROM account a JOIN api_key k ON k.account_id = a.id \
                   WHERE a.name LIKE 'bench-%' \
                   HAVING count(*) = $1 AND count(DISTINCT k.id - a.id) = 1 \
                   AND max(a.id) - min(a.id) = $1 - 1";
        let row = sql.query_opt(ids, &[&i64::try_from(KEYS)?]).await?;
        let row = row.ok_or("the ids of the accounts have gaps")?;
        let mut floor = Self { statements: Vec::new(), first: (row.try_get(0)?, row.try_get(1)?) };
        for (request, mark) in [
            (Request::Get, "%= ANY($3::bigint[])%"),
            (Request::Page, "%LIMIT $4%"),
            (Request::Post, "INSERT INTO prompt %"),
        ] {
            let _: Value = match request {
                Request::Get => server.get(0, 0).await?,
                Request::Page => server.page(0, None).await?,
                Request::Post => server.create().await?,
            };
            let last = "SELECT query FROM pg_stat_activity WHERE datname = current_database() \
                        AND pid <> pg_backend_pid() AND query LIKE $1 \
                        ORDER BY query_start DESC LIMIT 1";
            let row = sql.query_opt(last, &[&mark]).await?;
            let row =
                row.ok_or_else(|| format!("{}: no statement is like {mark}", request.name()))?;
            let mut statement: String = row.try_get(0)?;
            for (number, name) in parameters(request).iter().enumerate().rev() {
                statement = statement.replace(&format!("${}", number + 1), name);
            }
            floor.check(request, &statement, sql).await?;
            floor.statements.push((request, statement));
        }
        Ok(floor)
    }

    /// A statement that finds nothing would be fast.
    async fn check(&self, request: Request, statement: &str, sql: &Client) -> Result {
        let (account, key) = self.first;
        let id = if matches!(request, Request::Page) { i64::MAX } else { 1 };
        let mut filled = statement.to_owned();
        for (name, value) in [
            (":account", account.to_string()),
            (":key", key.to_string()),
            (":id", id.to_string()),
            (":rows", "21".to_owned()),
            (":kind", "'text'".to_owned()),
            (":title", "'Study'".to_owned()),
            (":body", "'Study'".to_owned()),
            (":now", "now()".to_owned()),
        ] {
            filled = filled.replace(name, &value);
        }
        let rows = sql.simple_query(&filled).await?;
        let ids = rows.iter().filter(
            |message| matches!(message, SimpleQueryMessage::Row(row) if row.get("id").is_some()),
        );
        let (found, expected) =
            (ids.count(), if matches!(request, Request::Page) { 21 } else { 1 });
        if found == expected {
            return Ok(());
        }
        Err(format!("{}: {found} rows and not {expected} from: {filled}", request.name()).into())
    }

    /// The load of a case, for the database or the schema of this address.
    pub(crate) fn load(&self, request: Request, case: Case, url: &str) -> Result<Pgbench> {
        let (account, key) = self.first;
        let (accounts, prompts) = match case {
            Case::OneId => (1, 1),
            Case::OneKey => (1, PROMPTS),
            Case::Keys => (KEYS, PROMPTS),
        };
        let id = match (request, case) {
            (Request::Page, Case::OneId) => i64::MAX.to_string(),
            // The same pages as the server reads, which end before the last 20.
            (Request::Page, _) => {
                format!("1 + :number + {KEYS} * 20 * random(1, {})", PROMPTS / 20 - 1)
            }
            _ => format!("1 + :number + {KEYS} * random(0, {prompts} - 1)"),
        };
        let statement = self.statements.iter().find(|(of, _)| *of == request);
        let (_, statement) = statement.ok_or("there is no such statement")?;
        let script = NamedTempFile::new()?;
        let text = format!(
            "\\set number random(0, {accounts} - 1)\n\\set account {account} + :number\n\
             \\set key {key} + :number\n\\set id {id}\n\\set rows 21\n{statement};\n"
        );
        std::fs::write(script.path(), text)?;
        let body = if matches!(case, Case::OneId) { TEXT.to_owned() } else { words() };
        Ok(Pgbench { script, body, url: with_options(url, SESSION), last: Cell::new(0.0) })
    }
}

/// A statement that `pgbench` sends.
pub(crate) struct Pgbench {
    script: NamedTempFile,
    body: String,
    url: String,
    /// Transactions per second in the last round.
    last: Cell<f64>,
}

impl Pgbench {
    /// Transactions per second, without the time for the connections. Their number is that of about
    /// so many seconds, because a limit of time would include the connections.
    pub(crate) fn rate(&self, seconds: u32) -> Result<f64> {
        let each = (self.last.get() * f64::from(seconds) / CONNECTIONS as f64).max(20.0);
        let mut pgbench = Command::new("pgbench");
        pgbench.args(["--no-vacuum", "--protocol=prepared", "--jobs=2"]);
        pgbench.arg(format!("--client={CONNECTIONS}")).arg(format!("--transactions={each:.0}"));
        pgbench.args(["-Dkind=text", "-Dtitle=Harbour at dusk", "-Dnow=2026-11-23T16:58:45Z"]);
        pgbench.arg(format!("-Dbody={}", self.body)).arg("--file").arg(self.script.path());
        let output = pgbench.arg(&self.url).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let rate = text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next());
        match rate.and_then(|rate| rate.parse().ok()) {
            Some(rate) if output.status.success() => {
                self.last.set(rate);
                Ok(rate)
            }
            _ => Err(format!("pgbench: {}{text}", String::from_utf8_lossy(&output.stderr)).into()),
        }
    }
}
