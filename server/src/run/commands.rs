//! The commands that work on the database: its schema, accounts and keys.
//!
//! They need no server. Running servers see the changes at once.

use std::io::Write;

use promptarium::Scope;
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::config::{AccountCommand, AdminCommand, AdminConfig, DatabaseConfig, KeyCommand};
use crate::domain::{Scopes, Vendor};
use crate::error_chain::error_chain;
use crate::start::new_key;
use crate::store::StoreError;
use crate::store::postgres::{AccountEntry, KeyEntry, PostgresStore};

/// Why a command failed.
pub(super) enum CommandError {
    /// It does not fit the accounts and keys that exist.
    Precondition(String),
    /// The database or stdout failed.
    Failure(String),
}

impl CommandError {
    fn no_account(name: &str) -> Self {
        Self::Precondition(format!(
            "there is no account {name}; `account create {name}` creates it"
        ))
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        Self::Failure(format!("the database failed: {}", error_chain(&error)))
    }
}

/// Titles of the columns of a list, and the JSON fields in them.
const ACCOUNT_COLUMNS: [(&str, &str); 2] = [("ACCOUNT", "account"), ("CREATED", "created_at")];
const KEY_COLUMNS: [(&str, &str); 5] = [
    ("PUBLIC ID", "public_id"),
    ("ACCOUNT", "account"),
    ("SCOPES", "scopes"),
    ("CREATED", "created_at"),
    ("REVOKED", "revoked_at"),
];

/// The result of a command in both forms.
struct Output {
    text: String,
    json: Value,
}

/// Runs a command and prints its result.
pub(super) async fn run(config: AdminConfig, out: &mut dyn Write) -> Result<(), CommandError> {
    let as_json = config.json;
    let Output { text, json } = execute(config).await?;
    let result = if as_json { format!("{json}\n") } else { text };
    let written = out.write_all(result.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| CommandError::Failure(format!("cannot write to stdout: {error}")))
}

async fn execute(config: AdminConfig) -> Result<Output, CommandError> {
    let AdminConfig {
        database: DatabaseConfig { url, source, migration }, command, vendor, ..
    } = config;
    let failed = |error| CommandError::Failure(format!("{source}: {}", error_chain(&error)));
    let open = async || PostgresStore::open(&url, migration, Clock::System).await.map_err(failed);
    match command {
        AdminCommand::Migrate => Ok(migrated(&PostgresStore::migrate(&url).await.map_err(failed)?)),
        AdminCommand::Account(AccountCommand::Create { name }) => {
            if !open().await?.create_account(&name).await? {
                let problem = format!("the account {name} already exists");
                return Err(CommandError::Precondition(problem));
            }
            let text = format!("created account {name}\n");
            Ok(Output { text, json: json!({ "account": name }) })
        }
        AdminCommand::Account(AccountCommand::List) => {
            let accounts = open().await?.accounts().await?;
            Ok(list("accounts", &ACCOUNT_COLUMNS, accounts.iter().map(account_json)))
        }
        AdminCommand::Key(KeyCommand::Create { account, scope }) => {
            create_key(&open().await?, account, &scope, &vendor).await
        }
        AdminCommand::Key(KeyCommand::List { account }) => {
            let keys = match account {
                None => open().await?.keys().await?,
                Some(account) => {
                    let keys = open().await?.keys_of(&account).await?;
                    keys.ok_or_else(|| CommandError::no_account(&account))?
                }
            };
            Ok(list("keys", &KEY_COLUMNS, keys.iter().map(key_json)))
        }
        AdminCommand::Key(KeyCommand::Revoke { public_id }) => {
            let problem = || format!("there is no key with the public id {public_id}");
            let key = open().await?.revoke_key(&public_id).await?;
            Ok(revoked(&key.ok_or_else(|| CommandError::Precondition(problem()))?))
        }
    }
}

/// The text is only the key, so that a script can use it as it is.
async fn create_key(
    store: &PostgresStore,
    account: String,
    scopes: &[Scopes],
    vendor: &Vendor,
) -> Result<Output, CommandError> {
    let prompts_write = scopes.is_empty() || scopes.contains(&Scopes::ALL);
    let (key, scopes) = (vendor.make(), Scopes { prompts_write });
    if !store.create_key(&account, &new_key(&key, scopes)).await? {
        return Err(CommandError::no_account(&account));
    }
    let json = json!({
        "api_key": key.expose(),
        "public_id": key.presented().public_id(),
        "account": account,
        "scopes": scope_names(scopes),
    });
    Ok(Output { text: format!("{}\n", key.expose()), json })
}

fn migrated(applied: &[&str]) -> Output {
    let text = match applied {
        [] => "the schema is up to date\n".to_owned(),
        _ => applied.iter().map(|name| format!("applied {name}\n")).collect(),
    };
    Output { text, json: json!({ "applied": applied }) }
}

fn revoked(key: &KeyEntry) -> Output {
    let KeyEntry { public_id, account, .. } = key;
    let since = key.revoked_at.map(|at| format!(" since {at}")).unwrap_or_default();
    let text = format!("key {public_id} of account {account} is revoked{since}\n");
    Output { text, json: key_json(key) }
}

fn account_json(account: &AccountEntry) -> Value {
    json!({ "account": account.name, "created_at": account.created_at.to_string() })
}

fn key_json(key: &KeyEntry) -> Value {
    json!({
        "public_id": key.public_id,
        "account": key.account,
        "scopes": scope_names(key.scopes),
        "created_at": key.created_at.to_string(),
        "revoked_at": key.revoked_at.map(|at| at.to_string()),
    })
}

fn scope_names(scopes: Scopes) -> Vec<&'static str> {
    if scopes.prompts_write { vec![Scope::PromptsWrite.as_str()] } else { Vec::new() }
}

/// A list as an array of objects, and as a table with a row for each of them.
fn list(name: &str, columns: &[(&str, &str)], entries: impl Iterator<Item = Value>) -> Output {
    let entries: Vec<_> = entries.collect();
    let titles = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
    let row = |entry: &Value| columns.iter().map(|(_, field)| cell(&entry[field])).collect();
    let rows: Vec<Vec<String>> = std::iter::once(titles).chain(entries.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<_> = (0..columns.len()).map(|at| width(at).unwrap_or_default()).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    Output { text, json: json!({ name: entries }) }
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(","),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_listed_in_columns_and_as_json() {
        let at = "2026-01-02T03:04:05.6Z".parse().unwrap();
        let key = |public_id: &str, revoked: bool| KeyEntry {
            public_id: public_id.to_owned(),
            account: "alice".to_owned(),
            scopes: Scopes { prompts_write: !revoked },
            created_at: at,
            revoked_at: revoked.then_some(at),
        };
        let keys = [key("p1aaaaaaaaaaaaaa", false), key("b1", true)];
        let output = list("keys", &KEY_COLUMNS, keys.iter().map(key_json));
        insta::assert_snapshot!(output.text, @r"
        PUBLIC ID         ACCOUNT  SCOPES         CREATED                 REVOKED
        p1aaaaaaaaaaaaaa  alice    prompts:write  2026-01-02T03:04:05.6Z  -
        b1                alice    none           2026-01-02T03:04:05.6Z  2026-01-02T03:04:05.6Z
        ");
        insta::assert_snapshot!(output.json["keys"][1], @r#"{"account":"alice","created_at":"2026-01-02T03:04:05.6Z","public_id":"b1","revoked_at":"2026-01-02T03:04:05.6Z","scopes":[]}"#);
    }
}
