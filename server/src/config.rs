//! Settings from flags and environment variables, parsed and checked at the start.
//!
//! `--listen` is `PROMPTARIUM_LISTEN`, and a flag wins over its variable. An error names the flag or
//! variable that is wrong, and contains no secret.

mod args;
mod commands;
mod input;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;
#[cfg(feature = "webhooks")]
use std::time::Duration;

use clap::FromArgMatches;
use tracing_subscriber::filter::{LevelFilter, Targets};

use self::args::Cli;
pub(crate) use self::args::{CliCommand, Settings, command as command_line};
#[cfg(feature = "webhooks")]
pub(crate) use self::commands::WebhookCommand;
pub(crate) use self::commands::{AccountCommand, AdminCommand, KeyCommand, SessionCommand};
use self::input::Input;
use self::values::ProviderKind;
pub(crate) use self::values::{DataPlace, LogFormat};
#[cfg(feature = "webhooks")]
use crate::api::webhooks::deliver::WebhookSettings;
use crate::blobs::setting::BlobSetting;
use crate::domain::SeedKey;
use crate::generate::JobSettings;
use crate::generate::queue::QueueSetting;
use crate::serve::listener::ListenerLimits;

/// The checked settings, and where each of them comes from. They hold secrets, so there is no `Debug`.
pub struct Config {
    pub(crate) settings: Settings,
    input: Input,
    pub(crate) seeds: Vec<SeedKey>,
    /// The provider of generations; the built-in one if `None`.
    pub(crate) provider: Option<QueueSetting>,
    pub(crate) blobs: BlobSetting,
    /// Where the data are; `None` with a database.
    pub(crate) data: Option<DataPlace>,
}

/// Why there is no [`Config`].
#[derive(Debug)]
pub(crate) enum ConfigError {
    /// The text of the help or of the version was requested.
    Help(String),
    /// One line about a wrong command line or environment.
    Invalid(String),
}

impl Config {
    /// Parses arguments, with the name of the program first, and environment variables.
    pub(crate) fn parse(
        arguments: impl IntoIterator<Item = OsString>,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<(Self, CliCommand), ConfigError> {
        let input = Input::new(arguments, variables).map_err(ConfigError::Invalid)?;
        let matches = input.matches()?;
        let Cli { settings, command } =
            Cli::from_arg_matches(&matches).map_err(|e| input.invalid(&e))?;
        let command = command.unwrap_or(CliCommand::Serve);
        let (seeds, provider, blobs, data) = (Vec::new(), None, BlobSetting::Memory, None);
        let mut config = Self { settings, input, seeds, provider, blobs, data };
        config.check(&command).map_err(ConfigError::Invalid)?;
        Ok((config, command))
    }

    /// The settings of a server with these flags, such as `--vendor=acme`; in memory unless they say
    /// otherwise.
    ///
    /// # Errors
    /// If a flag is wrong. The text says which one and why, without a secret.
    #[cfg(any(test, feature = "test-support"))]
    pub fn of_flags(flags: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let flags: Vec<_> = flags.into_iter().collect();
        let has_place = flags.iter().any(|flag| flag.starts_with("--da"));
        let memory = (!has_place && cfg!(feature = "folder")).then(|| "--data=memory:".to_owned());
        let program = std::iter::once("embedded".to_owned());
        match Self::parse(program.chain(flags).chain(memory).map(OsString::from), []) {
            Ok((config, _)) => Ok(config),
            Err(ConfigError::Help(text) | ConfigError::Invalid(text)) => Err(text),
        }
    }

    pub(crate) fn source(&self, id: &str) -> String {
        self.input.source(id)
    }

    fn fault(&self, id: &str, problem: &str) -> String {
        format!("{}: {problem}", self.source(id))
    }

    /// Checks what depends on several settings.
    fn check(&mut self, command: &CliCommand) -> Result<(), String> {
        #[cfg(feature = "postgres")]
        match (&mut self.settings.database_url, self.settings.database_pool) {
            (Some(url), connections) => url.connections = connections.unwrap_or(url.connections),
            (None, Some(_)) if *command == CliCommand::Serve => {
                return Err(self.fault("database_pool", "needs --database-url"));
            }
            (None, _) => {}
        }
        self.data = self.data_place()?;
        self.blobs = self.settings.blob_store.take().unwrap_or_else(|| match &self.data {
            // Files have to last as long as the database does.
            None => BlobSetting::Folder("./data/blobs".into()),
            Some(DataPlace::Memory) => BlobSetting::Memory,
            Some(DataPlace::Folder(folder)) => BlobSetting::Folder(folder.join("blobs")),
        });
        if matches!(command, CliCommand::Admin(_)) && self.data == Some(DataPlace::Memory) {
            return Err(self.fault("data", "a command cannot reach a server in memory"));
        }
        #[cfg(feature = "postgres")]
        if let (CliCommand::Admin(AdminCommand::Migrate { .. }), Some(_)) = (command, &self.data) {
            return Err("--database-url: missing; set it or PROMPTARIUM_DATABASE_URL".to_owned());
        }
        if *command == CliCommand::Serve {
            self.provider = self.provider()?;
            let seeds = SeedKey::parse_all(&self.settings.seed_key, &self.settings.vendor);
            self.seeds = seeds.map_err(|problem| self.fault("seed_key", &problem))?;
        }
        Ok(())
    }

    /// Checks here that the queue provider is complete, instead of failing at the first generation.
    fn provider(&self) -> Result<Option<QueueSetting>, String> {
        let s = &self.settings;
        let is_set = format!("must be queue, because {} is set", self.source("provider_url"));
        let problem = match (s.provider, &s.provider_url, &s.provider_key) {
            (ProviderKind::Local, None, _) => return Ok(None),
            (ProviderKind::Local, ..) => &*is_set,
            (ProviderKind::Queue, None, _) => "queue needs --provider-url",
            (ProviderKind::Queue, _, None) => "queue needs --provider-key",
            (ProviderKind::Queue, Some(url), Some(key)) => {
                let queue = QueueSetting::new(url, key);
                let mut queue = queue
                    .map_err(|(id, problem)| self.fault(id, &format!("the value {problem}")))?;
                queue.private_outputs = s.provider_private_outputs;
                queue.model_fields = s.model_field.clone();
                queue.output_max_mib = s.output_max_mib;
                return Ok(Some(queue));
            }
        };
        Err(self.fault("provider", problem))
    }

    /// Where the data are, if not in a database.
    fn data_place(&mut self) -> Result<Option<DataPlace>, String> {
        #[cfg(feature = "postgres")]
        let has_database = self.settings.database_url.is_some();
        #[cfg(not(feature = "postgres"))]
        let has_database = false;
        #[cfg(feature = "folder")]
        let (given, default) =
            (self.settings.data.take(), DataPlace::Folder("./promptarium-data".into()));
        #[cfg(not(feature = "folder"))]
        let (given, default) = (None, DataPlace::Memory);
        if has_database && given.is_some() {
            return Err(self.fault("data", "cannot be used with --database-url"));
        }
        Ok((!has_database).then(|| given.unwrap_or(default)))
    }

    /// The absolute path of the folder with the data.
    pub(crate) fn data_folder(&self) -> Option<PathBuf> {
        let Some(DataPlace::Folder(folder)) = &self.data else { return None };
        // Relative only if there is no working directory.
        Some(std::path::absolute(folder).unwrap_or_else(|_| folder.clone()))
    }

    pub(crate) fn command_line(&self) -> Vec<String> {
        self.input.command_line()
    }

    /// What to log, by default from this level on.
    pub(crate) fn log_filter(&self, default: LevelFilter) -> Targets {
        self.settings.log.clone().unwrap_or_else(|| Targets::new().with_default(default))
    }

    pub(crate) const fn jobs(&self) -> JobSettings {
        let s = &self.settings;
        JobSettings {
            workers: s.workers,
            retry_hours: s.job_retry_hours,
            keep_days: s.job_keep_days,
            output_max_mib: s.output_max_mib,
        }
    }

    #[cfg(feature = "webhooks")]
    pub(crate) fn webhooks(&self) -> WebhookSettings {
        let s = &self.settings;
        let delays = s.webhook_delays.iter().map(|seconds| Duration::from_secs_f64(*seconds));
        WebhookSettings { allow_private: s.allow_private_webhooks, delays: delays.collect() }
    }

    pub(crate) fn limits(&self) -> ListenerLimits {
        let s = &self.settings;
        ListenerLimits {
            connections_max: s.max_connections,
            connections_per_address: s.max_connections_per_address,
            drain_delay: s.drain_delay,
            drain_timeout: s.drain_timeout,
            idle_timeout: s.idle_timeout,
            ..ListenerLimits::default()
        }
    }
}

#[cfg(test)]
mod settings_table;
#[cfg(test)]
mod tests;
