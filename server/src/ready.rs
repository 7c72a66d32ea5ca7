//! What the program says once it takes requests.

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

use crate::start::DEFAULT_ACCOUNT;

/// Where the server is and how to call it. As JSON it is one line, for programs.
#[derive(Clone, Copy, Serialize)]
pub struct Ready<'a> {
    /// The root of the API.
    pub base_url: &'a str,
    /// The key that was made at the start, if one was.
    pub api_key: Option<&'a str>,
    /// Where the dashboard is, if there is one.
    pub dashboard_url: Option<&'a str>,
    /// Where everything is kept.
    pub store: &'a str,
}

impl Ready<'_> {
    /// Says it on stdout.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn say(&self, json: bool) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        if json {
            serde_json::to_writer(&mut stdout, self)?;
            writeln!(stdout)?;
        } else {
            write!(stdout, "{self}")?;
        }
        stdout.flush()
    }
}

/// For a person, with a call to try.
impl fmt::Display for Ready<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { base_url, api_key, store, .. } = self;
        writeln!(f, "Promptarium is ready.")?;
        writeln!(f, "  base URL  {base_url}")?;
        writeln!(f, "  store     {store}")?;
        match api_key {
            Some(key) => writeln!(f, "  API key   {key}  (made now, account {DEFAULT_ACCOUNT})")?,
            None if *store == "memory" => writeln!(f, "  API keys  as seeded")?,
            None => writeln!(f, "  API keys  as in the database; `key create` makes another")?,
        }
        writeln!(f, "Try:")?;
        let key = api_key.unwrap_or("$PROMPTARIUM_API_KEY");
        writeln!(f, "  curl -H \"Authorization: Bearer {key}\" {base_url}/vaults")
    }
}

/// A key is in it; it is shown by [`Ready::say`] alone.
impl fmt::Debug for Ready<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: Ready<'_> = Ready {
        base_url: "http://127.0.0.1:8080/api/v1",
        api_key: Some("promptarium_live_p1_s"),
        dashboard_url: None,
        store: "memory",
    };

    #[test]
    fn a_person_is_told_what_to_try() {
        insta::assert_snapshot!(READY, @r#"
    Promptarium is ready.
      base URL  http://127.0.0.1:8080/api/v1
      store     memory
      API key   promptarium_live_p1_s  (made now, account default)
    Try:
      curl -H "Authorization: Bearer promptarium_live_p1_s" http://127.0.0.1:8080/api/v1/vaults
    "#);
        insta::assert_snapshot!(Ready { api_key: None, ..READY }, @r#"
    Promptarium is ready.
      base URL  http://127.0.0.1:8080/api/v1
      store     memory
      API keys  as seeded
    Try:
      curl -H "Authorization: Bearer $PROMPTARIUM_API_KEY" http://127.0.0.1:8080/api/v1/vaults
    "#);
    }

    #[test]
    fn a_person_with_a_database_is_told_where_keys_come_from() {
        let text = Ready { api_key: None, store: "postgres", ..READY }.to_string();
        assert!(text.contains("as in the database; `key create` makes another"), "{text}");
    }

    #[test]
    fn a_program_gets_one_line() {
        insta::assert_snapshot!(serde_json::to_string(&READY).unwrap(), @r#"{"base_url":"http://127.0.0.1:8080/api/v1","api_key":"promptarium_live_p1_s","dashboard_url":null,"store":"memory"}"#);
    }
}
