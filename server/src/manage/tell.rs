//! What came of a command, for a person and for a program.

use std::fmt::Write;

use promptarium::Scope;
use serde_json::{Value, json};

use crate::domain::Scopes;
use crate::store::postgres::{AccountEntry, KeyEntry};

/// An outcome in both forms; the JSON is one line.
pub(super) struct Told {
    pub(super) text: String,
    pub(super) json: Value,
}

pub(super) fn migrated(applied: &[&str]) -> Told {
    let text = match applied {
        [] => "The schema is up to date; there was nothing to do.\n".to_owned(),
        _ => applied.iter().map(|name| format!("applied {name}\n")).collect(),
    };
    Told { text, json: json!({ "applied": applied }) }
}

pub(super) fn accounts(accounts: &[AccountEntry]) -> Told {
    let mut rows = vec![["ACCOUNT".to_owned(), "MADE".to_owned()]];
    rows.extend(accounts.iter().map(|entry| [entry.name.clone(), entry.created_at.to_string()]));
    let json = accounts
        .iter()
        .map(|entry| json!({ "account": entry.name, "created_at": entry.created_at.to_string() }));
    Told { text: table(&rows), json: json!({ "accounts": json.collect::<Vec<_>>() }) }
}

pub(super) fn keys(keys: &[KeyEntry]) -> Told {
    let heads = ["PUBLIC ID", "ACCOUNT", "SCOPES", "MADE", "REVOKED"];
    let mut rows = vec![heads.map(str::to_owned)];
    rows.extend(keys.iter().map(|key| {
        let revoked = key.revoked_at.map_or_else(|| "-".to_owned(), |at| at.to_string());
        let names = scope_names(key.scopes);
        let scopes = if names.is_empty() { "none".to_owned() } else { names.join(",") };
        [key.public_id.clone(), key.account.clone(), scopes, key.created_at.to_string(), revoked]
    }));
    let json = keys.iter().map(of_key).collect::<Vec<_>>();
    Told { text: table(&rows), json: json!({ "keys": json }) }
}

pub(super) fn revoked(key: &KeyEntry) -> Told {
    let KeyEntry { public_id, account, .. } = key;
    let since = key.revoked_at.map(|at| format!(", since {at}")).unwrap_or_default();
    let text = format!("The key {public_id} of the account {account} is revoked{since}.\n");
    Told { text, json: of_key(key) }
}

pub(super) fn scope_names(scopes: Scopes) -> Vec<&'static str> {
    if scopes.prompts_write { vec![Scope::PromptsWrite.as_str()] } else { Vec::new() }
}

fn of_key(key: &KeyEntry) -> Value {
    json!({
        "public_id": key.public_id,
        "account": key.account,
        "scopes": scope_names(key.scopes),
        "created_at": key.created_at.to_string(),
        "revoked_at": key.revoked_at.map(|at| at.to_string()),
    })
}

/// Columns as wide as their widest text.
fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            // Writing to a text does not fail.
            let _ = write!(line, "{cell:width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(public_id: &str, revoked: bool) -> KeyEntry {
        let at = "2026-01-02T03:04:05.6Z".parse().unwrap();
        KeyEntry {
            public_id: public_id.to_owned(),
            account: "alice".to_owned(),
            scopes: Scopes { prompts_write: !revoked },
            created_at: at,
            revoked_at: revoked.then_some(at),
        }
    }

    #[test]
    fn keys_stand_in_columns() {
        let told = keys(&[key("p1aaaaaaaaaaaaaa", false), key("b1", true)]);
        insta::assert_snapshot!(told.text, @r"
        PUBLIC ID         ACCOUNT  SCOPES         MADE                    REVOKED
        p1aaaaaaaaaaaaaa  alice    prompts:write  2026-01-02T03:04:05.6Z  -
        b1                alice    none           2026-01-02T03:04:05.6Z  2026-01-02T03:04:05.6Z
        ");
    }

    #[test]
    fn a_program_gets_keys_as_json() {
        insta::assert_snapshot!(keys(&[key("b1", true)]).json, @r#"{"keys":[{"account":"alice","created_at":"2026-01-02T03:04:05.6Z","public_id":"b1","revoked_at":"2026-01-02T03:04:05.6Z","scopes":[]}]}"#);
    }
}
