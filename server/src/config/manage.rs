//! The commands that look after a database, read from the command line.

use std::ffi::OsStr;

use promptarium::Scope;
use tracing_subscriber::filter::{LevelFilter, Targets};

use super::args::{AccountCommand, Command, KeyCommand, Settings};
use super::reader::Reader;
use super::{DatabaseConfig, LogConfig, database, log, switch, vendor};
use crate::domain::{Scopes, Vendor};
use crate::seed::is_account_name;

/// What such a command is given.
#[derive(Debug)]
pub struct ManageConfig {
    /// The database.
    pub database: DatabaseConfig,
    /// What to do with it.
    pub chore: Chore,
    /// What is logged, and how: warnings only, unless more is asked for.
    pub log: LogConfig,
    /// Whether the outcome is told as JSON.
    pub json: bool,
}

/// What is done to a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chore {
    /// Its schema is brought up to date.
    Migrate,
    /// An account is made.
    CreateAccount {
        /// Its name.
        name: String,
    },
    /// The accounts are listed.
    ListAccounts,
    /// A key is made and shown.
    CreateKey {
        /// Whose.
        account: String,
        /// What it may do.
        scopes: Scopes,
        /// What it begins with.
        vendor: Vendor,
    },
    /// The keys are listed.
    ListKeys {
        /// Of this account only.
        account: Option<String>,
    },
    /// A key is revoked.
    RevokeKey {
        /// Which.
        public_id: String,
    },
}

/// `None` if something is at fault.
pub(super) fn manage(
    command: &Command,
    given: &Settings,
    reader: &mut Reader<'_>,
) -> Option<ManageConfig> {
    if given.database_url.is_none() {
        reader.fault_of("--database-url", "is needed by this command, or PROMPTARIUM_DATABASE_URL");
    }
    let database = database(given, reader);
    let chore = chore(command, given, reader);
    let mut log = log(given, reader);
    if let Some(log) = log.as_mut().filter(|_| reader.is_default("log")) {
        log.filter = Targets::new().with_default(LevelFilter::WARN);
    }
    let json = reader.one("json", given.json.as_ref(), switch).unwrap_or(false);
    Some(ManageConfig { database: database?, chore: chore?, log: log?, json })
}

fn chore(command: &Command, given: &Settings, reader: &mut Reader<'_>) -> Option<Chore> {
    match command {
        Command::Serve | Command::Openapi => None,
        Command::Migrate => Some(Chore::Migrate),
        Command::Account(AccountCommand::List) => Some(Chore::ListAccounts),
        Command::Account(AccountCommand::Create { name }) => {
            let name = reader.named("the account's name", name, account_name)?;
            Some(Chore::CreateAccount { name })
        }
        Command::Key(KeyCommand::Create { account, scope }) => {
            let vendor = vendor(given, reader);
            let account = reader.named("--account", account, account_name);
            let scopes = scope.iter().map(|scope| reader.named("--scope", scope, scope_name));
            let scopes = scopes.collect::<Option<Vec<_>>>();
            let scopes = scopes.and_then(|scopes| match scopes_of(&scopes) {
                Some(scopes) => Some(scopes),
                None => {
                    reader.fault_of("--scope", "none stands alone");
                    None
                }
            });
            Some(Chore::CreateKey { account: account?, scopes: scopes?, vendor: vendor? })
        }
        Command::Key(KeyCommand::List { account: None }) => Some(Chore::ListKeys { account: None }),
        Command::Key(KeyCommand::List { account: Some(account) }) => {
            let account = reader.named("--account", account, account_name)?;
            Some(Chore::ListKeys { account: Some(account) })
        }
        Command::Key(KeyCommand::Revoke { public_id }) => {
            let public_id = reader.named("the key's public id", public_id, public_id_of)?;
            Some(Chore::RevokeKey { public_id })
        }
    }
}

fn account_name(text: &str) -> Result<String, String> {
    let fault = "must be 1 to 200 characters, without spaces, `:`, `,` or `=`";
    is_account_name(text).then(|| text.to_owned()).ok_or_else(|| fault.to_owned())
}

/// A scope, or none.
fn scope_name(text: &str) -> Result<Option<Scope>, String> {
    match Scope::known(text) {
        Some(scope) => Ok(Some(scope)),
        None if text == "none" => Ok(None),
        None => {
            let known = Scope::KNOWN.iter().map(Scope::as_str).collect::<Vec<_>>().join(", ");
            Err(format!("must be {known} or none"))
        }
    }
}

/// `None` where a scope stands beside `none`.
fn scopes_of(given: &[Option<Scope>]) -> Option<Scopes> {
    match given {
        [] => Some(Scopes::ALL),
        [None] => Some(Scopes::default()),
        _ => {
            let all = given.iter().map(Option::as_ref).collect::<Option<Vec<_>>>()?;
            Some(Scopes { prompts_write: all.contains(&&Scope::PromptsWrite) })
        }
    }
}

/// Whoever gives the whole key has it in the history of their shell now, and need not
/// find it in a log too.
fn public_id_of(text: &str) -> Result<String, String> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    plain.then(|| text.to_owned()).ok_or_else(|| {
        "must be letters and digits: what stands between `_live_` and the last `_` of the key"
            .to_owned()
    })
}

/// A word of the command line that has no variable.
impl Reader<'_> {
    fn named<T>(
        &mut self,
        name: &str,
        value: &OsStr,
        rule: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = value.to_str().ok_or_else(|| "is not UTF-8 text".to_owned());
        text.and_then(rule).map_err(|fault| self.fault_of(name, &fault)).ok()
    }
}
