//! What `wrk` sends: the requests of a case, in a file for `load.lua`.

use std::fmt::Write as _;
use std::process::Command;

use tempfile::NamedTempFile;

use crate::Result;
use crate::program::Program;

/// Accounts with a key each.
pub(crate) const KEYS: usize = 32;
/// Of each account before the measurements.
pub(crate) const PROMPTS: usize = 1_000;
pub(crate) const CONNECTIONS: usize = 32;

/// Which keys and prompts the requests name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Case {
    /// The best case of a server that sends equal requests as one statement.
    OneId,
    OneKey,
    Keys,
}

impl Case {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OneId => "one key, one id",
            Self::OneKey => "one key, random",
            Self::Keys => "32 keys, random",
        }
    }

    /// The key of each request, and which of this many prompts, texts or pages of the key it names:
    /// every one once, at random, before any is repeated.
    fn draws(self, of: usize) -> Vec<(usize, usize)> {
        let keys = if matches!(self, Self::Keys) { KEYS } else { 1 };
        let of = if matches!(self, Self::OneId) { 1 } else { of };
        let mut orders = vec![(0..of).collect::<Vec<_>>(); keys];
        orders.iter_mut().for_each(|order| fastrand::shuffle(order));
        let draws = (0..of).flat_map(|turn| (0..keys).map(move |key| (key, turn)));
        draws.map(|(key, turn)| (key, orders[key][turn])).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Request {
    Get,
    Page,
    Post,
}

impl Request {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "GET one prompt",
            Self::Page => "page of 20",
            Self::Post => "POST a prompt",
        }
    }

    /// The lines of the file.
    pub(crate) fn lines(self, case: Case, cursors: &[Vec<String>]) -> String {
        let mut lines = String::new();
        let of = match self {
            Self::Page => cursors.iter().map(Vec::len).min().unwrap_or(1),
            Self::Get | Self::Post => PROMPTS,
        };
        for (key, index) in case.draws(of) {
            let name = key_of(key);
            let _ = match self {
                Self::Get => writeln!(lines, "GET /prompts/{} {name}", prompt_of(key, index)),
                Self::Page if matches!(case, Case::OneId) => {
                    writeln!(lines, "GET /prompts?limit=20 {name}")
                }
                Self::Page => {
                    let cursor = &cursors[key][index];
                    writeln!(lines, "GET /prompts?limit=20&cursor={cursor} {name}")
                }
                Self::Post => writeln!(
                    lines,
                    r#"POST /prompts {name} {{"title":"Harbour at dusk","prompt":"{}"}}"#,
                    if matches!(case, Case::OneId) { TEXT.to_owned() } else { words() }
                ),
            };
        }
        lines
    }
}

pub(crate) const TEXT: &str = "Still life, soft light";

/// Twenty words of five thousand.
pub(crate) fn words() -> String {
    let words: Vec<_> = (0..20).map(|_| format!("word{}", fastrand::u16(..5_000))).collect();
    words.join(" ")
}

pub(crate) fn key_of(account: usize) -> String {
    format!("promptarium_live_bench{account}_s3cret")
}

/// The prompts were added to the accounts in turn, in a new database.
pub(crate) fn prompt_of(account: usize, index: usize) -> usize {
    1 + index * KEYS + account
}

/// The requests of a case in a file, with the cursors that a program gave.
pub(crate) struct Load(NamedTempFile);

impl Load {
    pub(crate) fn new(request: Request, case: Case, cursors: &[Vec<String>]) -> Result<Self> {
        let file = NamedTempFile::new()?;
        std::fs::write(file.path(), request.lines(case, cursors))?;
        Ok(Self(file))
    }

    /// Requests per second.
    pub(crate) fn rate(&self, program: &Program, seconds: u32) -> Result<f64> {
        program.empty_log()?;
        let mut wrk = Command::new("wrk");
        wrk.args(["-t", "1", "-c", &CONNECTIONS.to_string(), "-d", &format!("{seconds}s")]);
        wrk.args(["-s", concat!(env!("CARGO_MANIFEST_DIR"), "/benches/common/load.lua")]);
        let output = wrk.arg(&program.base_url).arg("--").arg(self.0.path()).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let is_bad = |line: &&str| line.contains("Non-2xx") || line.contains("Socket errors");
        if let Some(line) = text.lines().find(is_bad) {
            return Err(program.problem(line.trim()));
        }
        let rate = text.lines().find_map(|line| line.strip_prefix("Requests/sec:"));
        match rate.and_then(|rate| rate.trim().parse().ok()) {
            Some(rate) if output.status.success() && rate > 0.0 => Ok(rate),
            _ => {
                let errors = String::from_utf8_lossy(&output.stderr);
                Err(program.problem(&format!("wrk measured nothing: {errors}{text}")))
            }
        }
    }
}
