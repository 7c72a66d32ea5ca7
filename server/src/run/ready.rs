//! What the program prints when it accepts requests.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use super::{Failure, print};
use crate::start::DEFAULT_ACCOUNT;

/// How to reach the server, printed once it accepts requests. It contains a key and a sign-in
/// code, therefore no `Debug`.
#[derive(Serialize)]
pub(super) struct ReadyLine<'a> {
    pub(super) base_url: &'a str,
    /// The key that was created at the start, if one was.
    pub(super) api_key: Option<&'a str>,
    /// `None` without a dashboard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dashboard_url: Option<&'a str>,
    /// Signs a browser in, once.
    pub(super) sign_in_url: Option<&'a str>,
    pub(super) store: &'a str,
    /// Where the data are, in a folder.
    #[serde(skip)]
    pub(super) folder: Option<&'a Path>,
    pub(super) pid: u32,
    #[serde(skip)]
    pub(super) files_in_memory: bool,
    /// The path of a Unix socket, if that is where it listens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) socket: Option<&'a Path>,
}

impl ReadyLine<'_> {
    pub(super) fn print(&self, json: bool) {
        // Texts and numbers are always JSON.
        let line = || serde_json::to_string(self).unwrap_or_default() + "\n";
        if let Err(Failure(_, error)) = print(if json { line() } else { self.to_string() }) {
            tracing::warn!(error, "the ready line could not be written");
        }
    }
}

/// For a person, with a request to try.
impl fmt::Display for ReadyLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { base_url, api_key, dashboard_url, sign_in_url, store, pid, .. } = self;
        writeln!(f, "Promptarium is ready. Ctrl-C stops it, and so does `kill {pid}`.")?;
        let lost = match *store {
            "memory" => ": everything is lost at the stop; --data DIR keeps it",
            _ if self.files_in_memory => "; files are in memory and lost at the stop",
            _ => "",
        };
        let folder = self.folder.map(|folder| format!(" {}", folder.display())).unwrap_or_default();
        writeln!(f, "  base URL  {base_url}\n  store     {store}{folder}{lost}")?;
        match api_key {
            Some(key) => writeln!(f, "  API key   {key}  (new, account {DEFAULT_ACCOUNT})")?,
            None if *store == "memory" => writeln!(f, "  API keys  as seeded")?,
            None => writeln!(f, "  API keys  as before; `key create` adds one")?,
        }
        match (sign_in_url, dashboard_url) {
            (_, None) => {}
            (Some(url), _) => writeln!(f, "  sign in   {url}  (once, within 15 minutes)")?,
            (None, Some(url)) => {
                let sign_in = "`promptarium-server sign-in ACCOUNT` signs you in";
                writeln!(f, "  dashboard {url}  ({sign_in})")?;
            }
        }
        let key = api_key.unwrap_or("$PROMPTARIUM_API_KEY");
        let socket = self
            .socket
            .map(|path| format!("--unix-socket {} ", path.display()))
            .unwrap_or_default();
        writeln!(f, "Try:\n  curl {socket}-H \"Authorization: Bearer {key}\" {base_url}/vaults")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: ReadyLine<'_> = ReadyLine {
        base_url: "http://127.0.0.1:8080/api/v1",
        api_key: Some("promptarium_live_p1_s"),
        dashboard_url: Some("http://127.0.0.1:8080/"),
        sign_in_url: Some("http://127.0.0.1:8080/sign-in#c0de"),
        store: "memory",
        folder: None,
        pid: 4711,
        files_in_memory: true,
        socket: None,
    };

    #[test]
    fn the_text_says_what_is_lost_and_contains_a_request_to_try() {
        insta::assert_snapshot!(READY, @r#"
    Promptarium is ready. Ctrl-C stops it, and so does `kill 4711`.
      base URL  http://127.0.0.1:8080/api/v1
      store     memory: everything is lost at the stop; --data DIR keeps it
      API key   promptarium_live_p1_s  (new, account default)
      sign in   http://127.0.0.1:8080/sign-in#c0de  (once, within 15 minutes)
    Try:
      curl -H "Authorization: Bearer promptarium_live_p1_s" http://127.0.0.1:8080/api/v1/vaults
    "#);
    }

    #[test]
    fn with_a_database_the_text_says_where_keys_are_and_how_to_sign_in() {
        let ready = ReadyLine { api_key: None, sign_in_url: None, store: "postgres", ..READY };
        let (lasting, memory) =
            (ReadyLine { files_in_memory: false, ..ready }, ReadyLine { api_key: None, ..READY });
        let local = ReadyLine { socket: Some(Path::new("/run/p.sock")), ..ready };
        let place = Some(Path::new("/srv/promptarium"));
        let folder = ReadyLine { store: "folder", folder: place, ..lasting };
        for (ready, text) in [
            (&ready, "postgres; files are in memory and lost at the stop\n"),
            (&ready, "API keys  as before; `key create` adds one\n"),
            (
                &ready,
                "dashboard http://127.0.0.1:8080/  (`promptarium-server sign-in ACCOUNT` signs",
            ),
            (&ready, "Bearer $PROMPTARIUM_API_KEY\""),
            (&lasting, "store     postgres\n"),
            (&folder, "store     folder /srv/promptarium\n"),
            (&memory, "API keys  as seeded\n"),
            (&local, "curl --unix-socket /run/p.sock -H"),
        ] {
            assert!(ready.to_string().contains(text), "{text} in {ready}");
        }
    }
}
