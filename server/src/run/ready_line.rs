//! The ready line: what the program prints to stdout once it accepts requests.

use std::fmt;

use serde::Serialize;

use crate::start::DEFAULT_ACCOUNT;

/// How to reach the server. As JSON it is one line. It contains a key, therefore no `Debug`.
#[derive(Clone, Copy, Serialize)]
pub(super) struct ReadyLine<'a> {
    pub(super) base_url: &'a str,
    /// The key that was created at the start, if one was.
    pub(super) api_key: Option<&'a str>,
    /// Not served yet.
    pub(super) dashboard_url: Option<&'a str>,
    pub(super) store: &'a str,
}

/// For a person, with a request to try.
impl fmt::Display for ReadyLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { base_url, api_key, store, .. } = self;
        writeln!(f, "Promptarium is ready.")?;
        writeln!(f, "  base URL  {base_url}")?;
        writeln!(f, "  store     {store}")?;
        match api_key {
            Some(key) => writeln!(f, "  API key   {key}  (new, account {DEFAULT_ACCOUNT})")?,
            None if *store == "memory" => writeln!(f, "  API keys  as seeded")?,
            None => writeln!(f, "  API keys  in the database; `key create` adds one")?,
        }
        writeln!(f, "Try:")?;
        let key = api_key.unwrap_or("$PROMPTARIUM_API_KEY");
        writeln!(f, "  curl -H \"Authorization: Bearer {key}\" {base_url}/vaults")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: ReadyLine<'_> = ReadyLine {
        base_url: "http://127.0.0.1:8080/api/v1",
        api_key: Some("promptarium_live_p1_s"),
        dashboard_url: None,
        store: "memory",
    };

    #[test]
    fn the_text_contains_a_request_to_try() {
        insta::assert_snapshot!(READY, @r#"
    Promptarium is ready.
      base URL  http://127.0.0.1:8080/api/v1
      store     memory
      API key   promptarium_live_p1_s  (new, account default)
    Try:
      curl -H "Authorization: Bearer promptarium_live_p1_s" http://127.0.0.1:8080/api/v1/vaults
    "#);
    }

    #[test]
    fn without_a_new_key_the_text_says_where_keys_are() {
        for (store, expected) in [("memory", "as seeded"), ("postgres", "in the database")] {
            let text = ReadyLine { api_key: None, store, ..READY }.to_string();
            assert!(text.contains(&format!("API keys  {expected}")), "{text}");
            assert!(text.contains("Bearer $PROMPTARIUM_API_KEY"), "{text}");
        }
    }

    #[test]
    fn json_is_one_line() {
        insta::assert_snapshot!(serde_json::to_string(&READY).unwrap(), @r#"{"base_url":"http://127.0.0.1:8080/api/v1","api_key":"promptarium_live_p1_s","dashboard_url":null,"store":"memory"}"#);
    }
}
