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
use crate::domain::{Caller, KeyId, SecretToken, SessionRecord};
use crate::store::postgres::PostgresStore;
use crate::store::{AccountStore, SessionStore, StoreError};

/// Names the session of a command among those of the account.
const BROWSER: &str = "promptarium-server";
const COLUMNS: [&str; 5] = ["id", "browser", "created_at", "last_seen_at", "expires_at"];

/// A session that a command works with.
struct OwnSession<'a> {
    store: &'a PostgresStore,
    session: SessionRecord,
}

impl<'a> OwnSession<'a> {
    async fn begin(store: &'a PostgresStore, account: &str) -> Result<Self, Failure> {
        let (code, id) = (SecretToken::make().digest(), SecretToken::make().digest());
        match store.create_sign_in_code(account, code).await {
            Err(StoreError::NotFound) => return Err(no_account(account)),
            outcome => outcome?,
        }
        match store.sign_in(code, id, Some(BROWSER)).await? {
            Some(session) => Ok(Self { store, session }),
            // Another command has deleted the account meanwhile.
            None => Err(no_account(account)),
        }
    }

    fn caller(&self) -> Caller {
        self.session.caller()
    }

    /// Ends the session, and passes on the outcome of the command.
    async fn end<T>(self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        let ended = self.store.end_session(&self.caller(), self.session.id).await;
        let value = outcome?;
        match ended {
            Ok(()) | Err(StoreError::KeyRevoked) => Ok(value),
            Err(error) => Err(error.into()),
        }
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
            let accounts = store.accounts().await?.into_iter().map(|account| {
                json!({ "account": account.name, "created_at": account.created_at.to_string() })
            });
            Ok(list("accounts", &["account", "created_at"], accounts))
        }
        AccountCommand::Rename { old, new } => {
            let own = OwnSession::begin(store, &old).await?;
            let renamed = store.rename_account(&own.caller(), &new).await;
            let renamed = renamed.map_err(|error| match error {
                StoreError::AccountTaken => name_taken(&new),
                error => error.into(),
            });
            own.end(renamed).await?;
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
            let own = OwnSession::begin(store, &name).await?;
            store.delete_account(&own.caller()).await?;
            Ok((format!("deleted account {name}\n"), json!({ "account": name, "deleted": true })))
        }
        AccountCommand::Export { name } => {
            let own = OwnSession::begin(store, &name).await?;
            let exported = export(&own).await;
            own.end(exported).await?;
            Ok((String::new(), Value::Null))
        }
        AccountCommand::Import { name, file } => import(store, &name, &file).await,
    }
}

fn name_taken(name: &str) -> Failure {
    Failure(EXIT_PRECONDITION, format!("the account {name} already exists"))
}

/// Prints the document, which is the result whether or not others are JSON.
async fn export(own: &OwnSession<'_>) -> Result<(), Failure> {
    let (account, now) = (&own.session.account_name, Clock::System.now());
    let document = document_of(own.store.as_dyn(), own.caller(), account, now).await?;
    let mut document = pin!(document);
    while let Some(piece) = document.try_next().await? {
        print(&String::from_utf8_lossy(&piece))
            .map_err(|error| format!("cannot write to stdout: {error}"))?;
    }
    Ok(())
}

async fn import(store: &PostgresStore, name: &str, file: &Path) -> Result<Output, Failure> {
    let place = file.display();
    let document = read(file).map_err(|error| format!("{place} cannot be read: {error}"))?;
    let own = OwnSession::begin(store, name).await?;
    let imported = add_document(store, &own.caller(), &document).await;
    let refused = |problem| Failure(EXIT_PRECONDITION, format!("nothing is imported: {problem}"));
    let imported = imported.map_err(|error| match error {
        ImportError::Document(problem) => refused(format!("{place}: {problem}")),
        ImportError::Store(error @ (StoreError::TooManyVaults | StoreError::TooLarge)) => {
            refused(error.to_string())
        }
        ImportError::Store(error) => error.into(),
    });
    let (prompts, vaults) = own.end(imported).await?;
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
            let own = OwnSession::begin(store, &account).await?;
            let found = others(&own).await;
            let sessions = own.end(found).await?;
            Ok(list("sessions", &COLUMNS, sessions.iter().map(session_json)))
        }
        SessionCommand::End { account, id, .. } => {
            let own = OwnSession::begin(store, &account).await?;
            let ended = end(&own, id).await;
            let ended = own.end(ended).await?;
            let text = match ended[..] {
                [one] => format!("ended session {one} of {account}\n"),
                _ => format!("ended {} sessions of {account}\n", ended.len()),
            };
            Ok((text, json!({ "account": account, "ended": ended })))
        }
    }
}

/// The sessions of the account but the command's.
async fn others(own: &OwnSession<'_>) -> Result<Vec<SessionRecord>, Failure> {
    let sessions = own.store.sessions(&own.caller()).await?;
    Ok(sessions.into_iter().filter(|session| session.id != own.session.id).collect())
}

/// Ends this session, or all, and returns the numbers of those that have ended.
async fn end(own: &OwnSession<'_>, id: Option<i64>) -> Result<Vec<i64>, Failure> {
    let ids: Vec<_> = match id {
        Some(id) => vec![id],
        None => others(own).await?.iter().map(|session| session.id.0).collect(),
    };
    for id in &ids {
        own.store.end_session(&own.caller(), KeyId(*id)).await.map_err(|error| match error {
            StoreError::NotFound => {
                let account = &own.session.account_name;
                let problem = format!("the account {account} has no session {id}");
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
