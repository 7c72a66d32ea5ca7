//! The commands that work on the store: its schema, accounts, keys and sign-in. They need no server.
//! Servers of a database see the changes at once; a running server of a folder carries them out.

mod accounts;
#[cfg(feature = "webhooks")]
mod webhooks;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Failure, Output, refused};
use crate::config::{AdminCommand, KeyCommand, Settings};
use crate::domain::{KeyEntry, NewKey, PublicUrl, Scopes, SecretToken};
use crate::error_chain::error_chain;
use crate::store::{Store, StoreError};

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        format!("the store failed: {}", error_chain(&error)).into()
    }
}

fn no_account(name: &str) -> Failure {
    refused(format!("there is no account {name}; `account create {name}` creates it"))
}

/// The JSON fields that the columns of a list show.
const KEY_COLUMNS: [&str; 7] =
    ["public_id", "account", "name", "scopes", "created_at", "last_used_at", "revoked_at"];

/// What an import gets beside its arguments.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct ImportInput {
    /// `None` only checks whether an import could begin.
    pub(super) document: Option<String>,
    /// Which blob store has the files of an archive.
    pub(super) files: Option<String>,
}

/// Carries out a command on a store.
pub(super) async fn execute(
    store: &Arc<dyn Store>,
    settings: &Settings,
    command: AdminCommand,
    input: ImportInput,
    emit: impl AsyncFn(String) -> Result<(), Failure>,
) -> Result<Output, Failure> {
    match command {
        AdminCommand::Account(command) => accounts::run(store, command, &input, emit).await,
        AdminCommand::Session(command) => accounts::sessions(&**store, command).await,
        // The text is only the key, so that a script can use it as it is.
        AdminCommand::Key(KeyCommand::Create { account, name, scope }) => {
            let (key, scopes) = (settings.vendor.make(), scope.unwrap_or(Scopes::ALL));
            let new = NewKey { name: name.as_deref().map(Into::into), ..NewKey::new(&key, scopes) };
            if !store.create_key(&account, &new).await? {
                return Err(no_account(&account));
            }
            let (text, public_id) = (key.expose(), key.public_id());
            let json = json!({
                "api_key": text,
                "public_id": public_id,
                "account": account,
                "name": name,
                "scopes": scope_names(scopes),
            });
            Ok((format!("{text}\n"), json))
        }
        AdminCommand::Key(KeyCommand::List { account }) => {
            let keys = match (store.keys(account.as_deref()).await, &account) {
                (Err(StoreError::NotFound), Some(name)) => return Err(no_account(name)),
                (keys, _) => keys?,
            };
            Ok(list("keys", &KEY_COLUMNS, keys.iter().map(key_json)))
        }
        AdminCommand::Key(KeyCommand::Revoke { public_id }) => {
            let revoked = store.revoke_key(&public_id).await?;
            let absent = || refused(format!("there is no key with the public id {public_id}"));
            let key = revoked.ok_or_else(absent)?;
            let since = key.key.revoked_at.map(|at| format!(" since {at}")).unwrap_or_default();
            let text = format!("key {public_id} of account {} is revoked{since}\n", key.account);
            Ok((text, key_json(&key)))
        }
        #[cfg(feature = "webhooks")]
        AdminCommand::Webhook(command) => webhooks::run(store, command).await,
        AdminCommand::SignIn { account } => {
            sign_in(&**store, account, settings.public_url.as_ref()).await
        }
        // They need no store.
        #[cfg(any(feature = "folder", feature = "postgres"))]
        _ => Ok((String::new(), Value::Null)),
    }
}

/// A new code for an account.
async fn sign_in_code(store: &dyn Store, account: &str) -> Result<SecretToken, Failure> {
    let code = SecretToken::make();
    match store.create_sign_in_code(account, code.digest()).await {
        Err(StoreError::NotFound) => Err(no_account(account)),
        outcome => Ok(outcome.map(|()| code)?),
    }
}

/// A link to `--public-url`, or to the server that was started last.
async fn sign_in(
    store: &dyn Store,
    account: String,
    public: Option<&PublicUrl>,
) -> Result<Output, Failure> {
    let code = sign_in_code(store, &account).await?;
    let public = match public {
        None => store.last_public_url().await?.and_then(|url| PublicUrl::parse(&url).ok()),
        given => given.cloned(),
    };
    let (link, code) = (public.map(|public| code.sign_in_link(&public)), code.expose());
    let text = match &link {
        Some(link) => format!(
            "{link}\nThe link is valid once, for 15 minutes. Without it, enter this code on the \
             sign-in page:\n{code}\n"
        ),
        None => format!(
            "{code}\nEnter this code on the sign-in page of the server, its address and /sign-in. \
             It is valid once, for 15 minutes.\nNo server has stored its address; with \
             --public-url this command prints a link.\n"
        ),
    };
    Ok((text, json!({ "account": account, "link": link, "code": code })))
}

fn key_json(KeyEntry { account, key }: &KeyEntry) -> Value {
    json!({
        "public_id": key.public_id,
        "account": account,
        "name": key.name,
        "scopes": scope_names(key.scopes),
        "created_at": key.created_at,
        "last_used_at": key.last_used_at,
        "revoked_at": key.revoked_at,
    })
}

fn scope_names(scopes: Scopes) -> &'static [&'static str] {
    if scopes.prompts_write { &["prompts:write"] } else { &[] }
}

/// A list as an array of objects, and as a table with a row for each of them.
fn list(name: &str, columns: &[&str], entries: impl Iterator<Item = Value>) -> Output {
    let entries: Vec<_> = entries.collect();
    let title = |field: &&str| field.trim_end_matches("_at").replace('_', " ").to_uppercase();
    let mut lines = vec![String::new(); entries.len() + 1];
    for field in columns {
        let cells: Vec<_> = [title(field)]
            .into_iter()
            .chain(entries.iter().map(|entry| cell(&entry[field])))
            .collect();
        let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or_default();
        for (line, cell) in lines.iter_mut().zip(cells) {
            line.push_str(&format!("{cell:width$}  "));
        }
    }
    let text = lines.iter().map(|line| format!("{}\n", line.trim_end())).collect();
    (text, json!({ name: entries }))
}

fn cell(value: &Value) -> String {
    match value {
        // Names are their owners' and may hold control characters of a terminal.
        Value::String(text) => text.replace(char::is_control, "?"),
        Value::Number(number) => number.to_string(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(","),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{AccountId, KeyId, KeyRecord};

    #[test]
    fn keys_are_listed_in_columns_and_as_json() {
        let at = "2026-01-02T03:04:05.6Z".parse().unwrap();
        let key = |public_id: &str, revoked: bool| KeyRecord {
            id: KeyId(1),
            account: AccountId(1),
            digest: [0; 32],
            public_id: public_id.into(),
            name: (!revoked).then(|| "Laptop".into()),
            scopes: Scopes { prompts_write: !revoked },
            created_at: at,
            last_used_at: (!revoked).then_some(at),
            revoked_at: revoked.then_some(at),
        };
        let key = |id, revoked| KeyEntry { account: "alice".to_owned(), key: key(id, revoked) };
        let keys = [key("p1aaaaaaaaaaaaaa", false), key("b1", true)];
        let (text, json) = list("keys", &KEY_COLUMNS, keys.iter().map(key_json));
        insta::assert_snapshot!(text, @r"
        PUBLIC ID         ACCOUNT  NAME    SCOPES         CREATED                 LAST USED               REVOKED
        p1aaaaaaaaaaaaaa  alice    Laptop  prompts:write  2026-01-02T03:04:05.6Z  2026-01-02T03:04:05.6Z  -
        b1                alice    -       none           2026-01-02T03:04:05.6Z  -                       2026-01-02T03:04:05.6Z
        ");
        insta::assert_snapshot!(json["keys"][1], @r#"{"account":"alice","created_at":"2026-01-02T03:04:05.6Z","last_used_at":null,"name":null,"public_id":"b1","revoked_at":"2026-01-02T03:04:05.6Z","scopes":[]}"#);
    }
}
