//! The address of the library and its key: from the environment, or from where `login` put them.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::pin::pin;
use std::process::Command;
use std::{env, fs};

use promptarium::Client;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::app::{FAILED, Failure, INTERRUPTED, Result, USAGE, ask, can_ask, note};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    base_url: String,
    api_key: String,
}

/// A folder for files that only the owner can read: below the folder that the variable names, or in
/// the home folder.
fn folder(variable: &str, in_home: &str, name: &str) -> Result<PathBuf> {
    let set = env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
    let parent = set.or_else(|| Some(env::home_dir()?.join(in_home)));
    let missing = || Failure::new(FAILED, format!("there is no home folder; set {variable}"));
    let folder = parent.ok_or_else(missing)?.join("promptarium").join(name);
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(&folder).map_err(Failure::file(&folder))?;
    Ok(folder)
}

fn config_file() -> Result<PathBuf> {
    Ok(folder("XDG_CONFIG_HOME", ".config", "")?.join("config.json"))
}

/// The folder for journals of unfinished work.
pub(crate) fn state_folder(name: &str) -> Result<PathBuf> {
    folder("XDG_STATE_HOME", ".local/state", name)
}

const HINT: &str = "promptarium login URL, or set PROMPTARIUM_BASE_URL and PROMPTARIUM_API_KEY";

/// The value of a variable that is set to more than nothing.
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// A client for the library that the environment names, or else the one of `login`.
pub(crate) fn client() -> Result<Client> {
    let (url, key) = (variable("PROMPTARIUM_BASE_URL"), variable("PROMPTARIUM_API_KEY"));
    if let (Some(url), Some(key)) = (&url, &key) {
        return connect(url, key);
    }
    let file = config_file()?;
    let stored = fs::read(&file).ok().and_then(|it| serde_json::from_slice::<Stored>(&it).ok());
    let Some(stored) = stored else {
        let text = format!("not logged in: {} has no key", file.display());
        return Err(Failure::new(USAGE, text).hint(HINT));
    };
    // A key is sent to no other address than the one that it was entered for.
    let address = |url: &str| Url::parse(url.trim().trim_end_matches('/')).ok();
    if key.is_none() && url.as_ref().is_some_and(|url| address(url) != address(&stored.base_url)) {
        let text = "PROMPTARIUM_BASE_URL is not the address of the stored key";
        return Err(Failure::new(USAGE, text).hint("set PROMPTARIUM_API_KEY too"));
    }
    connect(&url.unwrap_or(stored.base_url), &key.unwrap_or(stored.api_key))
}

fn connect(url: &str, key: &str) -> Result<Client> {
    let agent = concat!("promptarium-cli/", env!("CARGO_PKG_VERSION"));
    let builder = Client::builder().base_url(url).api_key(key).user_agent(agent);
    builder.build().map_err(|error| Failure::new(USAGE, error.to_string()).hint(HINT))
}

pub(crate) async fn login(address: &str) -> Result {
    let base_url = base_url(address)?;
    let api_key = ask_for_key(&base_url).await?;
    let vaults = connect(&base_url, &api_key)?.vaults().list().await?.len();
    let file = config_file()?;
    // Temporary files can be read by their owner only.
    let mut new = tempfile::NamedTempFile::new_in(file.parent().unwrap_or(&file))?;
    let stored = Stored { base_url, api_key };
    serde_json::to_writer(&mut new, &stored).map_err(io::Error::from)?;
    new.flush()?;
    new.persist(&file).map_err(|error| Failure::file(&file)(error.error))?;
    let (url, file) = (stored.base_url, file.display());
    note(format!("Logged in to {url} ({vaults} vaults). The key is in {file}."));
    Ok(())
}

pub(crate) fn logout() -> Result {
    let file = config_file()?;
    if file.exists() {
        fs::remove_file(&file).map_err(Failure::file(&file))?;
    }
    note(format!("Logged out; {} is gone. The key itself stays valid.", file.display()));
    Ok(())
}

/// The address with what people leave out: the scheme, and the path of the API.
fn base_url(address: &str) -> Result<String> {
    let scheme = if address.contains("://") { "" } else { "https://" };
    let url = Url::parse(&format!("{scheme}{address}")).ok();
    let Some(mut url) = url.filter(|url| matches!(url.scheme(), "http" | "https")) else {
        let text = format!("URL: \"{address}\" is not an address of http:// or https://");
        return Err(Failure::new(USAGE, text));
    };
    let is_local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    if is_local && !scheme.is_empty() {
        let _ = url.set_scheme("http");
    }
    if url.path() == "/" {
        url.set_path("/api/v1");
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// The key, typed without echo, or the first line of standard input.
async fn ask_for_key(base_url: &str) -> Result<String> {
    // The first poll takes the signal over, which would otherwise leave a terminal without echo.
    let mut interrupt = pin!(tokio::signal::ctrl_c());
    let _ = futures::poll!(&mut interrupt);
    // Before the question, so that nothing of a key that is pasted at once is shown or lost.
    let stty = |echo| Command::new("stty").arg(echo).status().is_ok_and(|it| it.success());
    let is_hidden = can_ask() && stty("-echo");
    if can_ask() && !is_hidden {
        return Err(Failure::new(USAGE, "what is typed here would be shown; use a pipe"));
    }
    let question = if is_hidden { format!("API key for {base_url}: ") } else { String::new() };
    let read = tokio::task::spawn_blocking(move || ask(&question));
    let read = tokio::select! {
        read = read => read.map_err(io::Error::other)?,
        _ = interrupt => Err(Failure::new(INTERRUPTED, "interrupted")),
    };
    if is_hidden {
        stty("echo");
        note("");
    }
    match read?.trim() {
        "" => Err(Failure::new(USAGE, "no key was entered").hint("keys are made in the dashboard")),
        key => Ok(key.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::base_url;

    #[test]
    fn only_this_machine_is_reached_without_tls_unless_the_address_says_so() {
        for (address, url) in [
            ("localhost:8080", "http://localhost:8080/api/v1"),
            ("[::1]:80", "http://[::1]/api/v1"),
            ("localhost.example", "https://localhost.example/api/v1"),
            ("127.0.0.1.example/p/", "https://127.0.0.1.example/p"),
            ("http://prompts.example/", "http://prompts.example/api/v1"),
        ] {
            assert_eq!(base_url(address).unwrap(), url);
        }
        assert!(base_url("ftp://prompts.example").is_err() && base_url("").is_err());
    }
}
