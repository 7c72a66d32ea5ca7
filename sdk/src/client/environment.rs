//! A builder from environment variables.

use super::Error;
use super::builder::ClientBuilder;
use super::config::{authorization, check_base_url};

const BASE_URL_VARIABLE: &str = "PROMPTARIUM_BASE_URL";
const API_KEY_VARIABLE: &str = "PROMPTARIUM_API_KEY";

impl ClientBuilder {
    /// A builder with the base URL from `PROMPTARIUM_BASE_URL` and the key from
    /// `PROMPTARIUM_API_KEY`.
    ///
    /// # Errors
    ///
    /// [`Error::is_config`], naming the variable that is missing, invalid or not Unicode.
    pub fn from_env() -> Result<Self, Error> {
        Self::from_variables(|name| {
            std::env::var_os(name).map(|value| value.into_string().map_err(drop))
        })
    }

    /// `read` returns the value of a variable, or `Err` if it is not Unicode.
    fn from_variables(read: impl Fn(&str) -> Option<Result<String, ()>>) -> Result<Self, Error> {
        let value = |name: &str| match read(name) {
            None => Err(Error::config(format!("the environment variable {name} is not set"))),
            Some(Err(())) => {
                Err(Error::config(format!("the environment variable {name} is not valid Unicode")))
            }
            Some(Ok(text)) => Ok(text),
        };
        let named = |name: &str, problem: &str| {
            Error::config(format!("the environment variable {name} cannot be used: {problem}"))
        };
        let base_url = value(BASE_URL_VARIABLE)?;
        check_base_url(&base_url).map_err(|problem| named(BASE_URL_VARIABLE, problem))?;
        let api_key = value(API_KEY_VARIABLE)?;
        authorization(&api_key).map_err(|problem| named(API_KEY_VARIABLE, problem))?;
        Ok(Self::default().base_url(base_url).api_key(api_key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(base_url: Option<&str>, api_key: Option<&str>) -> Result<ClientBuilder, Error> {
        ClientBuilder::from_variables(|name| {
            let value = if name == BASE_URL_VARIABLE { base_url } else { api_key };
            value.map(|text| Ok(text.to_owned()))
        })
    }

    #[test]
    fn every_error_names_the_variable() {
        let text = |base_url, api_key| from(base_url, api_key).unwrap_err().to_string();
        let url = Some("http://h/api/v1");
        assert_eq!(text(None, None), "the environment variable PROMPTARIUM_BASE_URL is not set");
        assert_eq!(text(url, None), "the environment variable PROMPTARIUM_API_KEY is not set");
        assert_eq!(
            text(url, Some(" ")),
            "the environment variable PROMPTARIUM_API_KEY cannot be used: it is blank"
        );
        assert_eq!(
            text(Some("h/api"), Some("k")),
            "the environment variable PROMPTARIUM_BASE_URL cannot be used: it is not an absolute URL"
        );
        let undecodable = ClientBuilder::from_variables(|_| Some(Err(()))).unwrap_err();
        assert_eq!(
            undecodable.to_string(),
            "the environment variable PROMPTARIUM_BASE_URL is not valid Unicode"
        );
    }

    #[test]
    fn the_environment_makes_a_client() {
        let client = from(Some("http://h/api/v1"), Some("k")).unwrap().build().unwrap();
        assert_eq!(client.base_url(), "http://h/api/v1");
    }
}
