//! Commands on accounts and their sessions.
//!
//! Those on the data of one account work with a session of their own, which they end, so that they
//! take the same steps as the owner of the account in the dashboard.

use std::io::Read;
use std::path::Path;
use std::pin::pin;
use std::{fs, io};

use futures::TryStreamExt;
use serde_json::{Value, json};

use super::super::{EXIT_PRECONDITION, Failure, print};
use super::{Output, list, no_account};
use crate::api::export::export as document_of;
use crate::api::import::{ImportError, import as add_document};
use crate::clock::Clock;
use crate::config::{AccountCommand, SessionCommand};
use crate::domain::{KeyId, SecretToken, SessionRecord};
use crate::store::postgres::PostgresStore;
use crate::store::{AccountStore, SessionStore, StoreError};

/// Names the session of a command among those of the account.
const BROWSER: &str = "promptarium-server";
const COLUMNS: [&str; 5] = ["id", "browser", "created_at", "last_seen_at", "expires_at"];

/// Does something with a session of the account, which ends after it.
async fn as_owner<T>(
    store: &PostgresStore,
    account: &str,
    work: impl AsyncFnOnce(&SessionRecord) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let (code, id) = (SecretToken::make().digest(), SecretToken::make().digest());
    match store.create_sign_in_code(account, code).await {
        Err(StoreError::NotFound) => return Err(no_account(account)),
        outcome => outcome?,
    }
    // Another command may have deleted the account meanwhile.
    let session =
        store.sign_in(code, id, Some(BROWSER)).await?.ok_or_else(|| no_account(account))?;
    let outcome = work(&session).await;
    let ended = store.end_session(&session.caller(), session.id).await;
    let value = outcome?;
    match ended {
        Ok(()) | Err(StoreError::KeyRevoked) => Ok(value),
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn run(store: &PostgresStore, command: AccountCommand) -> Result<Output, Failure> {
    match command {
        AccountCommand::Create { name } => {
            if !store.create_account(&name).await? {
                return Err(name_taken(&name));
            }
            Ok((format!("created account {name}\n"), json!({ "account": name })))
        }
        AccountCommand::List => {
            let accounts = store.accounts().await?.into_iter().map(|(name, created_at)| {
                json!({ "account": name, "created_at": created_at.to_string() })
            });
            Ok(list("accounts", &["account", "created_at"], accounts))
        }
        AccountCommand::Rename { old, new } => {
            as_owner(store, &old, async |session| {
                let renamed = store.rename_account(&session.caller(), &new).await;
                renamed.map_err(|error| match error {
                    StoreError::AccountTaken => name_taken(&new),
                    error => error.into(),
                })
            })
            .await?;
            let text = format!("renamed account {old} to {new}\n");
            Ok((text, json!({ "account": new, "former_name": old })))
        }
        AccountCommand::Delete { name, yes: false } => {
            let problem = format!(
                "this deletes everything that {name} has; repeat the command with --yes, or first \
                 keep a copy with `account export {name}`"
            );
            Err(Failure(EXIT_PRECONDITION, problem))
        }
        AccountCommand::Delete { name, yes: true } => {
            as_owner(store, &name, async |session| {
                Ok(store.delete_account(&session.caller()).await?)
            })
            .await?;
            Ok((format!("deleted account {name}\n"), json!({ "account": name, "deleted": true })))
        }
        AccountCommand::Export { name } => {
            as_owner(store, &name, async |session| export(store, session).await).await?;
            Ok((String::new(), Value::Null))
        }
        AccountCommand::Import { name, file } => import(store, &name, &file).await,
    }
}

fn name_taken(name: &str) -> Failure {
    Failure(EXIT_PRECONDITION, format!("the account {name} already exists"))
}

/// Prints the document, which is the result whether or not others are JSON.
async fn export(store: &PostgresStore, session: &SessionRecord) -> Result<(), Failure> {
    let (account, now) = (&session.account_name, Clock::System.now());
    let document = document_of(store.as_dyn(), session.caller(), account, now).await?;
    let mut document = pin!(document);
    while let Some(piece) = document.try_next().await? {
        print(&piece).map_err(|error| format!("cannot write to stdout: {error}"))?;
    }
    Ok(())
}

async fn import(store: &PostgresStore, name: &str, file: &Path) -> Result<Output, Failure> {
    let place = file.display();
    let document = read(file).map_err(|error| format!("{place} cannot be read: {error}"))?;
    let refused = |problem| Failure(EXIT_PRECONDITION, format!("nothing is imported: {problem}"));
    let (prompts, vaults) = as_owner(store, name, async |session| {
        let imported = add_document(store, &session.caller(), &document).await;
        imported.map_err(|error| match error {
            ImportError::Document(problem) => refused(format!("{place}: {problem}")),
            ImportError::Store(error @ (StoreError::TooManyVaults | StoreError::TooLarge)) => {
                refused(error.to_string())
            }
            ImportError::Store(error) => error.into(),
        })
    })
    .await?;
    let text = format!("imported {prompts} prompts and {vaults} vaults into {name}\n");
    Ok((text, json!({ "account": name, "prompts": prompts, "vaults": vaults })))
}

/// A file, or standard input for `-`.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    if file != Path::new("-") {
        return fs::read(file);
    }
    let mut document = Vec::new();
    io::stdin().lock().read_to_end(&mut document)?;
    Ok(document)
}

pub(super) async fn sessions(
    store: &PostgresStore,
    command: SessionCommand,
) -> Result<Output, Failure> {
    match command {
        SessionCommand::List { account } => {
            let sessions = as_owner(store, &account, async |own| others(store, own).await).await?;
            Ok(list("sessions", &COLUMNS, sessions.iter().map(session_json)))
        }
        SessionCommand::End { account, id, .. } => {
            let ended = as_owner(store, &account, async |own| end(store, own, id).await).await?;
            let text = match ended[..] {
                [one] => format!("ended session {one} of {account}\n"),
                _ => format!("ended {} sessions of {account}\n", ended.len()),
            };
            Ok((text, json!({ "account": account, "ended": ended })))
        }
    }
}

/// The sessions of the account but the command's.
async fn others(store: &PostgresStore, own: &SessionRecord) -> Result<Vec<SessionRecord>, Failure> {
    let sessions = store.sessions(&own.caller()).await?;
    Ok(sessions.into_iter().filter(|session| session.id != own.id).collect())
}

/// Ends this session, or all, and returns the numbers of those that have ended.
async fn end(
    store: &PostgresStore,
    own: &SessionRecord,
    id: Option<i64>,
) -> Result<Vec<i64>, Failure> {
    let ids: Vec<_> = match id {
        Some(id) => vec![id],
        None => others(store, own).await?.iter().map(|session| session.id.0).collect(),
    };
    for id in &ids {
        store.end_session(&own.caller(), KeyId(*id)).await.map_err(|error| match error {
            StoreError::NotFound => {
                let problem = format!("the account {} has no session {id}", own.account_name);
                Failure(EXIT_PRECONDITION, problem)
            }
            error => error.into(),
        })?;
    }
    Ok(ids)
}

fn session_json(session: &SessionRecord) -> Value {
    json!({
        "id": session.id.0,
        "browser": session.browser,
        "created_at": session.created_at.to_string(),
        "last_seen_at": session.last_seen_at.to_string(),
        "expires_at": session.expires_at.to_string(),
    })
}
