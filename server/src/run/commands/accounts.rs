//! Commands on accounts and their sessions.
//!
//! Those on the data of one account work with a session of their own, which they end, so that they
//! take the same steps as the owner of the account in the dashboard.

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use futures::TryStreamExt;
use serde_json::{Value, json};

use super::super::{Failure, Output, refused};
use super::{ImportInput, list, no_account, sign_in_code};
use crate::api::export::export;
use crate::api::import;
use crate::blobs::Blobs;
use crate::clock::Clock;
use crate::config::{AccountCommand, SessionCommand};
use crate::domain::{KeyId, SecretToken, SessionRecord};
use crate::store::{Store, StoreError};

/// Names the session of a command among those of the account.
const BROWSER: &str = "promptarium-server";
const COLUMNS: [&str; 5] = ["id", "browser", "created_at", "last_seen_at", "expires_at"];

/// Does something with a session of the account, which ends after it.
async fn as_owner<T>(
    store: &dyn Store,
    account: &str,
    work: impl AsyncFnOnce(&SessionRecord) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let (code, id) = (sign_in_code(store, account).await?.digest(), SecretToken::make().digest());
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

pub(super) async fn run(
    shared: &Arc<dyn Store>,
    command: AccountCommand,
    input: &ImportInput,
    emit: impl AsyncFn(String) -> Result<(), Failure>,
) -> Result<Output, Failure> {
    let store = &**shared;
    let taken = |name: &str| refused(format!("the account {name} already exists"));
    match command {
        AccountCommand::Create { name } => match store.create_account(&name).await? {
            true => Ok((format!("created account {name}\n"), json!({ "account": name }))),
            false => Err(taken(&name)),
        },
        AccountCommand::List => {
            let accounts = store.accounts().await?.into_iter().map(|(name, created_at)| {
                json!({ "account": name, "created_at": created_at.to_string() })
            });
            Ok(list("accounts", &["account", "created_at"], accounts))
        }
        AccountCommand::Rename { old, new } => {
            let renamed = as_owner(store, &old, async |session| {
                match store.rename_account(&session.caller(), &new).await {
                    Err(StoreError::AccountTaken) => Err(taken(&new)),
                    outcome => Ok(outcome?),
                }
            });
            renamed.await?;
            let text = format!("renamed account {old} to {new}\n");
            Ok((text, json!({ "account": new, "former_name": old })))
        }
        AccountCommand::Delete { name, yes: false } => Err(refused(format!(
            "this deletes everything that {name} has; repeat the command with --yes, or first keep \
             a copy with `account export {name}`"
        ))),
        AccountCommand::Delete { name, yes: true } => {
            let deleted =
                async |own: &SessionRecord| Ok(store.delete_account(&own.caller()).await?);
            as_owner(store, &name, deleted).await?;
            Ok((format!("deleted account {name}\n"), json!({ "account": name, "deleted": true })))
        }
        AccountCommand::Export { name, .. } => {
            as_owner(store, &name, async |session| {
                let (caller, now) = (session.caller(), Clock::System.now());
                let document = export(shared.clone(), caller, &session.account_name, now).await?;
                let mut document = pin!(document);
                while let Some(piece) = document.try_next().await? {
                    emit(String::from_utf8_lossy(&piece).into_owned()).await?;
                }
                Ok(())
            })
            .await?;
            // The document is the result, whether or not others are JSON.
            Ok((String::new(), Value::Null))
        }
        AccountCommand::Import { name, file } => import_document(store, &name, &file, input).await,
    }
}

/// Imports the document of a file.
async fn import_document(
    store: &dyn Store,
    name: &str,
    file: &Path,
    input: &ImportInput,
) -> Result<Output, Failure> {
    let nothing = |problem: String| refused(format!("nothing is imported: {problem}"));
    if let Some(files) = &input.files
        && let Some(other) = Blobs::other_store(store, files).await?
    {
        let problem = format!("the files of this service are in {other}; name that --blob-store");
        return Err(nothing(problem));
    }
    let Some(document) = &input.document else {
        return as_owner(store, name, async |_| Ok((String::new(), Value::Null))).await;
    };
    let data = import::parse(document.as_bytes())
        .map_err(|problem| nothing(format!("{}: {problem}", file.display())))?;
    let (prompts, vaults) = (data.prompts.len(), data.vaults.len());
    as_owner(store, name, async move |session| {
        store.import(&session.caller(), data).await.map_err(|error| match error {
            StoreError::TooManyVaults | StoreError::TooLarge => nothing(error.to_string()),
            error => error.into(),
        })
    })
    .await?;
    let text = format!("imported {prompts} prompts and {vaults} vaults into {name}\n");
    Ok((text, json!({ "account": name, "prompts": prompts, "vaults": vaults })))
}

pub(super) async fn sessions(
    store: &dyn Store,
    command: SessionCommand,
) -> Result<Output, Failure> {
    match command {
        SessionCommand::List { account } => {
            let sessions = as_owner(store, &account, async |own| others(store, own).await).await?;
            let sessions = sessions.iter().map(|session| {
                json!({
                    "id": session.id.0,
                    "browser": session.browser,
                    "created_at": session.created_at,
                    "last_seen_at": session.last_seen_at,
                    "expires_at": session.expires_at,
                })
            });
            Ok(list("sessions", &COLUMNS, sessions))
        }
        SessionCommand::End { account, id, .. } => {
            let ended = as_owner(store, &account, async |own| {
                let mut ended: Vec<_> =
                    others(store, own).await?.iter().map(|one| one.id.0).collect();
                ended.retain(|one| id.is_none_or(|id| id == *one));
                if let (Some(id), []) = (id, &ended[..]) {
                    return Err(refused(format!("the account {account} has no session {id}")));
                }
                for id in &ended {
                    store.end_session(&own.caller(), KeyId(*id)).await?;
                }
                Ok(ended)
            });
            let ended = ended.await?;
            let text = match ended[..] {
                [one] => format!("ended session {one} of {account}\n"),
                _ => format!("ended {} sessions of {account}\n", ended.len()),
            };
            Ok((text, json!({ "account": account, "ended": ended })))
        }
    }
}

/// The sessions of the account but the command's.
async fn others(store: &dyn Store, own: &SessionRecord) -> Result<Vec<SessionRecord>, Failure> {
    let sessions = store.sessions(&own.caller()).await?;
    Ok(sessions.into_iter().filter(|session| session.id != own.id).collect())
}
