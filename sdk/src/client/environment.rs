//! A builder from environment variables.

use std::env::{self, VarError};

use super::Error;
use super::builder::ClientBuilder;
use super::config::{authorization, check_base_url};

impl ClientBuilder {
    /// A builder with the base URL from `PROMPTARIUM_BASE_URL` and the key from
    /// `PROMPTARIUM_API_KEY`.
    ///
    /// # Errors
    ///
    /// [`Error::is_config`], naming the variable that is missing, invalid or not Unicode.
    pub fn from_env() -> Result<Self, Error> {
        let base_url = variable("PROMPTARIUM_BASE_URL", check_base_url)?;
        let api_key = variable("PROMPTARIUM_API_KEY", authorization)?;
        Ok(Self::default().base_url(base_url).api_key(api_key))
    }
}

fn variable<T>(
    name: &str,
    check: impl FnOnce(&str) -> Result<T, &'static str>,
) -> Result<String, Error> {
    let problem = match env::var(name) {
        Ok(value) => match check(&value) {
            Ok(_) => return Ok(value),
            Err(problem) => format!("cannot be used: {problem}"),
        },
        Err(VarError::NotPresent) => "is not set".to_owned(),
        Err(VarError::NotUnicode(_)) => "is not valid Unicode".to_owned(),
    };
    Err(Error::config(format!("the environment variable {name} {problem}")))
}
