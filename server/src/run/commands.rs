//! The commands that work on the store: its schema, accounts, keys and sign-in. They need no server.
//! Servers of a database see the changes at once; a running server of a folder carries them out.

mod accounts;
#[cfg(feature = "webhooks")]
mod webhooks;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::{fs, io};

#[cfg(feature = "folder")]
use parking_lot::Mutex;
use serde_json::{Value, json};

#[cfg(all(unix, feature = "folder"))]
use super::admin_socket::Server;
use super::{EXIT_PRECONDITION, Failure, print};
#[cfg(feature = "folder")]
use super::{archive, backup};
use crate::config::{AccountCommand, AdminCommand, Config, KeyCommand, Settings};
use crate::domain::{KeyEntry, NewKey, PublicUrl, Scopes, SecretToken};
use crate::error_chain::error_chain;
use crate::program::{open_store, with_database};
#[cfg(feature = "folder")]
use crate::store::folder::has_data;
use crate::store::{Store, StoreError};

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        format!("the store failed: {}", error_chain(&error)).into()
    }
}

/// A command that does not fit what exists.
pub(super) fn refused(problem: impl Into<String>) -> Failure {
    Failure(EXIT_PRECONDITION, problem.into())
}

fn no_account(name: &str) -> Failure {
    refused(format!("there is no account {name}; `account create {name}` creates it"))
}

/// The JSON fields that the columns of a list show.
const KEY_COLUMNS: [&str; 7] =
    ["public_id", "account", "name", "scopes", "created_at", "last_used_at", "revoked_at"];

/// The result of a command as text and as JSON.
pub(super) type Output = (String, Value);

/// Runs a command and prints its result.
pub(super) async fn run(config: &Config, command: AdminCommand) -> Result<ExitCode, Failure> {
    let (text, json) = match command {
        #[cfg(feature = "postgres")]
        AdminCommand::Migrate { distribute } => migrate(config, distribute).await?,
        #[cfg(feature = "folder")]
        AdminCommand::Backup { file } => backup::back_up(config, &file)?,
        #[cfg(feature = "folder")]
        AdminCommand::Restore { file } => backup::restore(config, &file)?,
        #[cfg(feature = "folder")]
        AdminCommand::Account(AccountCommand::Export { name, with_files: Some(file) }) => {
            let command = AccountCommand::Export { name, with_files: None };
            let document = Mutex::new(String::new());
            let emit = async |part: String| {
                document.lock().push_str(&part);
                Ok(())
            };
            reach(config, AdminCommand::Account(command), String::new(), emit).await?;
            archive::write(config, &document.into_inner(), &file).await?
        }
        command => {
            let input = match &command {
                AdminCommand::Account(AccountCommand::Import { file, .. }) => {
                    import_input(config, file).await?
                }
                _ => String::new(),
            };
            let emit = async |part: String| {
                Ok(print(&part).map_err(|error| format!("cannot write to stdout: {error}"))?)
            };
            reach(config, command, input, emit).await?
        }
    };
    let result = if config.settings.json { format!("{json}\n") } else { text };
    // An export has printed its result.
    if !json.is_null() {
        print(result).map_err(|error| format!("cannot write to stdout: {error}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Has the running server of the folder carry out a command, or does it here.
async fn reach(
    config: &Config,
    command: AdminCommand,
    input: String,
    emit: impl AsyncFn(String) -> Result<(), Failure>,
) -> Result<Output, Failure> {
    #[cfg(feature = "folder")]
    if let Some(folder) = config.data_folder() {
        #[cfg(unix)]
        if let Some(server) = Server::of(&folder).await {
            return server.execute(config.command_line(), input, emit).await;
        }
        if !has_data(&folder) {
            return Err(format!(
                "{}: there are no data in {}; name the folder of a server, or start one there",
                config.source("data"),
                folder.display()
            )
            .into());
        }
    }
    let store = with_database(config, async || open_store(config).await).await?;
    execute(&store, &config.settings, command, input, emit).await
}

/// The document of an import, from a file, an archive or, for `-`, standard input.
async fn import_input(config: &Config, file: &Path) -> Result<String, Failure> {
    #[cfg(feature = "folder")]
    if let Some(document) = archive::read(config, file).await? {
        return Ok(document);
    }
    #[cfg(not(feature = "folder"))]
    let _ = config;
    let is_file = file != Path::new("-");
    let document = if is_file { fs::read_to_string(file) } else { io::read_to_string(io::stdin()) };
    document.map_err(|error| format!("{} cannot be read: {error}", file.display()).into())
}

#[cfg(feature = "postgres")]
async fn migrate(config: &Config, distribute: bool) -> Result<Output, Failure> {
    use crate::store::postgres::PostgresStore;
    // The configuration is checked for the command.
    let Some(url) = &config.settings.database_url else {
        return Err("no database".to_owned().into());
    };
    let migrate = async || Ok(PostgresStore::migrate(url).await?);
    let applied = with_database(config, migrate).await?;
    let mut text: String = applied.iter().map(|name| format!("applied {name}\n")).collect();
    let mut json = json!({ "applied": applied });
    if distribute {
        let distribute = async || Ok(PostgresStore::distribute(url).await?);
        let distributed = with_database(config, distribute).await?;
        text.extend(distributed.iter().map(|name| format!("distributed {name}\n")));
        json["distributed"] = json!(distributed);
    }
    let unchanged = text.is_empty().then(|| "the schema is up to date\n".to_owned());
    Ok((unchanged.unwrap_or(text), json))
}

/// Carries out a command on a store.
pub(super) async fn execute(
    store: &Arc<dyn Store>,
    settings: &Settings,
    command: AdminCommand,
    input: String,
    emit: impl AsyncFn(String) -> Result<(), Failure>,
) -> Result<Output, Failure> {
    match command {
        // They need no store.
        #[cfg(feature = "postgres")]
        AdminCommand::Migrate { .. } => Ok((String::new(), Value::Null)),
        #[cfg(feature = "folder")]
        AdminCommand::Backup { .. } | AdminCommand::Restore { .. } => {
            Ok((String::new(), Value::Null))
        }
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
