//! Runs a command: in the running server of a folder, through its socket, or in this process.

use std::io;
use std::path::Path;
use std::process::ExitCode;

#[cfg(feature = "folder")]
use parking_lot::Mutex;
use serde_json::Value;
#[cfg(feature = "postgres")]
use serde_json::json;

#[cfg(all(unix, feature = "folder"))]
use super::admin_socket::Server;
#[cfg(feature = "folder")]
use super::archive;
use super::commands::{ImportInput, execute};
use super::{Failure, Output, print};
use crate::config::{AccountCommand, AdminCommand, Config};
use crate::program::{open_store, with_database};
#[cfg(feature = "folder")]
use crate::store::folder::has_data;

/// Runs a command and prints its result.
pub(super) async fn run(config: &Config, command: AdminCommand) -> Result<ExitCode, Failure> {
    let (text, json) = match command {
        #[cfg(feature = "postgres")]
        AdminCommand::Migrate { distribute } => migrate(config, distribute).await?,
        #[cfg(feature = "folder")]
        AdminCommand::Backup { file } => archive::back_up(config, &file).await?,
        #[cfg(feature = "folder")]
        AdminCommand::Restore { file } => archive::restore(config, &file)?,
        #[cfg(feature = "folder")]
        AdminCommand::Account(AccountCommand::Export { name, with_files: Some(file) }) => {
            let command = AccountCommand::Export { name, with_files: None };
            let document = Mutex::new(String::new());
            let emit = async |part: String| {
                document.lock().push_str(&part);
                Ok(())
            };
            dispatch(config, AdminCommand::Account(command), ImportInput::default(), emit).await?;
            archive::write(config, &document.into_inner(), &file).await?
        }
        command => {
            let emit = async |part: String| print(part).map(drop);
            let mut input = ImportInput::default();
            if let AdminCommand::Account(AccountCommand::Import { file, .. }) = &command {
                input = import_input(config, &command, file).await?;
            }
            dispatch(config, command, input, emit).await?
        }
    };
    match (json, config.settings.json) {
        // An export has printed its result.
        (Value::Null, _) => Ok(ExitCode::SUCCESS),
        (json, true) => print(format!("{json}\n")),
        (_, false) => print(text),
    }
}

/// Has the running server of the folder carry out a command, or does it here.
async fn dispatch(
    config: &Config,
    command: AdminCommand,
    input: ImportInput,
    emit: impl AsyncFn(String) -> Result<(), Failure>,
) -> Result<Output, Failure> {
    #[cfg(feature = "folder")]
    if let Some(folder) = config.data_folder() {
        #[cfg(unix)]
        if let Some(server) = Server::of(&folder).await {
            return server.execute(config.command_line(), input, emit).await;
        }
        if !has_data(&folder) {
            let problem =
                format!("{}: there are no data in {}", config.source("data"), folder.display());
            return Err((problem + "; name the folder of a server, or start one there").into());
        }
    }
    let store = with_database(config, async || open_store(config).await).await?;
    execute(&store, &config.settings, command, input, emit).await
}

/// The input of an import, from a file, an archive or, for `-`, standard input. The files of an
/// archive are put into the blob store, if an import could begin.
async fn import_input(
    config: &Config,
    command: &AdminCommand,
    file: &Path,
) -> Result<ImportInput, Failure> {
    #[cfg(feature = "folder")]
    if let Some(mut archive) = archive::Archive::open(config, file).await? {
        let check = ImportInput { document: None, files: Some(archive.files.clone()) };
        dispatch(config, command.clone(), check, async |_| Ok(())).await?;
        archive.put_files().await?;
        return Ok(ImportInput { document: Some(archive.document), files: Some(archive.files) });
    }
    #[cfg(not(feature = "folder"))]
    let _ = (config, command);
    let is_file = file != Path::new("-");
    let document = match is_file {
        true => tokio::fs::read_to_string(file).await,
        false => io::read_to_string(io::stdin()),
    };
    let document =
        document.map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    Ok(ImportInput { document: Some(document), files: None })
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
