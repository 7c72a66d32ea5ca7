//! The address of the library and its key: from the environment, or from where `login` put them.

use std::env;
use std::fs;
use std::io::{self, BufRead as _, Write as _};
use std::path::PathBuf;

use console::Term;
use promptarium::Client;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::failure::{Failure, Result};
use crate::output::{can_ask, note};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    base_url: String,
    api_key: String,
}

/// A folder of this program: below the first of these variables that is set, or the home folder.
fn folder(variable: &str, in_home: &str) -> Result<PathBuf> {
    let parent = [variable, "APPDATA"]
        .into_iter()
        .find_map(|name| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from));
    let parent = parent.or_else(|| Some(env::home_dir()?.join(in_home)));
    let missing = || Failure::failed(format!("there is no home folder; set {variable}"));
    Ok(parent.ok_or_else(missing)?.join("promptarium"))
}

fn file() -> Result<PathBuf> {
    Ok(folder("XDG_CONFIG_HOME", ".config")?.join("config.json"))
}

/// The folder for journals of unfinished work, which only the owner can read.
pub(crate) fn state_folder(name: &str) -> Result<PathBuf> {
    let folder = folder("XDG_STATE_HOME", ".local/state")?.join(name);
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(&folder).map_err(Failure::file(&folder))?;
    Ok(folder)
}

fn stored() -> Result<Option<Stored>> {
    let file = file()?;
    match fs::read(&file) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            let text = format!("{} cannot be read, line {}", file.display(), error.line());
            Failure::failed(text).hint("promptarium login URL writes it anew")
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::file(&file)(error)),
    }
}

/// A client for the library that the environment names, or the one of `login`.
pub(crate) fn client() -> Result<Client> {
    let variable = |name| env::var(name).ok().filter(|value: &String| !value.is_empty());
    let (url, key) = (variable("PROMPTARIUM_BASE_URL"), variable("PROMPTARIUM_API_KEY"));
    let (url, key) = match (url, key) {
        (Some(url), Some(key)) => (url, key),
        (url, key) => {
            let nobody = || Failure::usage("not logged in").hint(NOT_LOGGED_IN);
            let stored = stored()?.ok_or_else(nobody)?;
            let is_other = url.as_ref().is_some_and(|url| *url != stored.base_url);
            // A key is never sent to another address than the one it was entered for.
            if is_other && key.is_none() {
                let text = "PROMPTARIUM_BASE_URL is not the address of the stored key";
                return Err(Failure::usage(text).hint("set PROMPTARIUM_API_KEY too"));
            }
            (url.unwrap_or(stored.base_url), key.unwrap_or(stored.api_key))
        }
    };
    connect(&url, &key)
}

const NOT_LOGGED_IN: &str =
    "promptarium login URL, or set PROMPTARIUM_BASE_URL and PROMPTARIUM_API_KEY";

fn connect(url: &str, key: &str) -> Result<Client> {
    let agent = concat!("promptarium-cli/", env!("CARGO_PKG_VERSION"));
    let builder = Client::builder().base_url(url).api_key(key).user_agent(agent);
    builder.build().map_err(|error| Failure::usage(error.to_string()).hint(NOT_LOGGED_IN))
}

/// Asks for the key, checks it, and keeps it.
pub(crate) async fn login(address: &str) -> Result {
    let base_url = base_url(address)?;
    let api_key = ask_for_key(&base_url).await?;
    let vaults = connect(&base_url, &api_key)?.vaults().list().await?.len();
    let file = file()?;
    let folder = file.parent().unwrap_or(&file);
    fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    // Temporary files can be read by their owner only.
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(Failure::file(folder))?;
    serde_json::to_writer(&mut new, &Stored { base_url: base_url.clone(), api_key })
        .map_err(|error| Failure::file(&file)(error.into()))?;
    new.flush()?;
    new.persist(&file).map_err(|error| Failure::file(&file)(error.error))?;
    note(format!("Logged in to {base_url} ({vaults} vaults). The key is in {}.", file.display()));
    Ok(())
}

/// The address with what people leave out: the scheme and the path of the API.
fn base_url(address: &str) -> Result<String> {
    let is_local = ["localhost", "127.", "[::1]"].iter().any(|host| address.starts_with(host));
    let address = match address.contains("://") {
        true => address.to_owned(),
        false => format!("{}://{address}", if is_local { "http" } else { "https" }),
    };
    let mut url = Url::parse(&address).map_err(|error| {
        Failure::usage(format!("URL: \"{address}\" is not an address: {error}"))
    })?;
    if url.path() == "/" {
        url.set_path("/api/v1");
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// The key, typed without echo, or the first line of standard input.
async fn ask_for_key(base_url: &str) -> Result<String> {
    let key = if can_ask() {
        Term::stderr().write_str(&format!("API key for {base_url}: "))?;
        let reading = tokio::task::spawn_blocking(|| Term::stderr().read_secure_line());
        tokio::select! {
            key = reading => key.map_err(io::Error::other)??,
            _ = tokio::signal::ctrl_c() => {
                // The terminal would stay without echo.
                let _ = std::process::Command::new("stty").arg("echo").status();
                note("");
                std::process::exit(130);
            }
        }
    } else {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        line
    };
    match key.trim() {
        "" => Err(Failure::usage("no key was entered").hint("keys are made in the dashboard")),
        key => Ok(key.to_owned()),
    }
}

pub(crate) fn logout() -> Result {
    let file = file()?;
    match fs::remove_file(&file) {
        Ok(()) => note(format!(
            "Logged out: {} is deleted. The key itself is still valid.",
            file.display()
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => note("Nobody was logged in."),
        Err(error) => return Err(Failure::file(&file)(error)),
    }
    Ok(())
}
