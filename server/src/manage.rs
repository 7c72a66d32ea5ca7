//! The commands that look after a database: its schema, its accounts, its keys.
//!
//! They work on the database itself, with or without servers of it running, and
//! what they do is seen by all of those at once. How it is told is for `tell`.

mod tell;

use std::io::{self, Write};

use serde_json::{Value, json};

use self::tell::Told;
use crate::clock::Clock;
use crate::config::{Chore, DatabaseConfig, ManageConfig};
use crate::domain::{Scopes, Vendor};
use crate::start::new_key;
use crate::store::StoreError;
use crate::store::postgres::{ConnectError, PostgresStore};

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ManageError {
    /// Nothing in the database has this name.
    #[error("there is no account {0}; `account create {0}` makes it")]
    NoAccount(String),
    /// The name is taken.
    #[error("there is an account {0} already")]
    AccountExists(String),
    /// No key has this public id.
    #[error("there is no key with the public id {0}")]
    NoKey(String),
    /// The database cannot be used.
    #[error("{came_by}")]
    Database {
        /// The flag or variable that its address came by.
        came_by: String,
        /// Why.
        #[source]
        source: ConnectError,
    },
    /// The database failed under way.
    #[error("the database failed")]
    Store(#[from] StoreError),
    /// Nobody can be told.
    #[error("stdout cannot be written to")]
    Output(#[from] io::Error),
}

impl ManageError {
    /// Whether everything works, and what was asked does not fit what is there.
    pub fn is_of_what_is_there(&self) -> bool {
        matches!(self, Self::NoAccount(_) | Self::AccountExists(_) | Self::NoKey(_))
    }
}

/// Carries out a command and tells its outcome.
///
/// # Errors
/// If it was not carried out, or the outcome could not be told.
pub async fn carry_out(config: ManageConfig, out: &mut dyn Write) -> Result<(), ManageError> {
    let told = outcome(&config.database, config.chore).await?;
    let told = if config.json { format!("{}\n", told.json) } else { told.text };
    out.write_all(told.as_bytes())?;
    Ok(out.flush()?)
}

async fn outcome(database: &DatabaseConfig, chore: Chore) -> Result<Told, ManageError> {
    let fault = |source| ManageError::Database { came_by: database.came_by.clone(), source };
    if chore == Chore::Migrate {
        let applied = PostgresStore::migrate(&database.url).await.map_err(fault)?;
        return Ok(tell::migrated(&applied));
    }
    let opening = PostgresStore::open(&database.url, database.migration, Clock::System);
    let store = opening.await.map_err(fault)?;
    match chore {
        Chore::Migrate => Ok(tell::migrated(&[])),
        Chore::CreateAccount { name } => create_account(&store, name).await,
        Chore::ListAccounts => Ok(tell::accounts(&store.accounts().await?)),
        Chore::CreateKey { account, scopes, vendor } => {
            create_key(&store, account, scopes, &vendor).await
        }
        Chore::ListKeys { account: None } => Ok(tell::keys(&store.keys().await?)),
        Chore::ListKeys { account: Some(account) } => match store.keys_of(&account).await? {
            Some(keys) => Ok(tell::keys(&keys)),
            None => Err(ManageError::NoAccount(account)),
        },
        Chore::RevokeKey { public_id } => match store.revoke_key(&public_id).await? {
            Some(key) => Ok(tell::revoked(&key)),
            None => Err(ManageError::NoKey(public_id)),
        },
    }
}

async fn create_account(store: &PostgresStore, name: String) -> Result<Told, ManageError> {
    if !store.create_account(&name).await? {
        return Err(ManageError::AccountExists(name));
    }
    let text = format!("The account {name} is made.\n");
    Ok(Told { text, json: json!({ "account": name }) })
}

/// The text is the key and nothing else, so that a script can put it where it
/// belongs without a look at it.
async fn create_key(
    store: &PostgresStore,
    account: String,
    scopes: Scopes,
    vendor: &Vendor,
) -> Result<Told, ManageError> {
    let key = vendor.make();
    if !store.create_key(&account, &new_key(&key, scopes)).await? {
        return Err(ManageError::NoAccount(account));
    }
    let json: Value = json!({
        "api_key": key.expose(),
        "public_id": key.presented().public_id(),
        "account": account,
        "scopes": tell::scope_names(scopes),
    });
    Ok(Told { text: format!("{}\n", key.expose()), json })
}
