//! Settings from flags and environment variables, parsed and checked at the start.
//!
//! Every setting is a flag and a variable: `--listen` is `PROMPTARIUM_LISTEN`. A flag wins
//! over its variable. All problems are reported together, each with the flag or variable it
//! came from. The value of a secret never appears in an error.

mod args;
mod seed_key;
mod setting;
mod values;

use std::ffi::OsString;

use clap::FromArgMatches;
use tracing_subscriber::filter::{LevelFilter, Targets};

pub(crate) use self::args::{AccountCommand, AdminCommand, KeyCommand};
use self::args::{Cli, CliCommand, Settings, usage_error};
pub use self::seed_key::SeedKey;
pub(crate) use self::seed_key::SeedKeyError;
use self::setting::{Setting, check, optional};
use self::values::ProviderKind;
use crate::blobs::BlobSetting;
use crate::domain::{ModelNamespace, PublicUrl, Scopes, SigningKey, Vendor};
use crate::generate::ProviderSetting;
use crate::generate::queue::{QueueSetting, QueueSettingError};
use crate::serve::listener::Limits;
use crate::store::postgres::{DatabaseUrl, Migration};

/// Default of `--workers`.
pub(crate) const WORKERS_DEFAULT: usize = 2;
/// Default of `--blob-store` with a database: files have to last as long as it does.
const BLOB_FOLDER_DEFAULT: &str = "./data/blobs";

/// What the program shall do.
#[derive(Debug)]
pub(crate) enum Command {
    Serve(Box<ServeConfig>),
    Admin(Box<AdminConfig>),
    /// Print the OpenAPI document.
    OpenApi(OpenApiConfig),
}

#[derive(Debug)]
pub(crate) struct ServeConfig {
    pub(crate) listen: Address,
    pub(crate) admin_listen: Option<Address>,
    /// Default: the URL of the listener.
    pub(crate) public_url: Option<PublicUrl>,
    /// Without a database all data is in memory.
    pub(crate) database: Option<DatabaseConfig>,
    pub(crate) service: ServiceConfig,
    pub(crate) limits: Limits,
    pub(crate) log: LogConfig,
    /// Whether the ready line is JSON.
    pub(crate) json: bool,
}

/// What a service is assembled from. Flags set it for the program; an embedded server sets it
/// itself.
#[derive(Clone, Debug)]
pub struct ServiceConfig {
    /// The prefix of API keys.
    pub vendor: Vendor,
    /// The prefix of model ids.
    pub model_namespace: ModelNamespace,
    /// Keys that exist from the start.
    pub seeds: Vec<SeedKey>,
    /// Signs cursors, upload slots and output names. Default: the key in the database;
    /// without a database a random one that is valid until the server stops.
    pub signing_key: Option<SigningKey>,
    /// Where uploaded and generated files are kept.
    pub blobs: BlobSetting,
    /// The provider of generations.
    pub provider: ProviderSetting,
    /// Number of generation workers; 0 is allowed.
    pub workers: usize,
}

#[derive(Debug)]
pub(crate) struct AdminConfig {
    pub(crate) database: DatabaseConfig,
    pub(crate) command: AdminCommand,
    /// Prefix of new keys.
    pub(crate) vendor: Vendor,
    pub(crate) log: LogConfig,
    /// Whether the result is printed as JSON.
    pub(crate) json: bool,
}

#[derive(Debug)]
pub(crate) struct OpenApiConfig {
    pub(crate) public_url: Option<PublicUrl>,
    pub(crate) model_namespace: ModelNamespace,
}

/// HOST:PORT, and the flag or variable it came from, for errors of binding.
#[derive(Debug)]
pub(crate) struct Address {
    pub(crate) text: String,
    pub(crate) source: String,
}

#[derive(Debug)]
pub(crate) struct DatabaseConfig {
    pub(crate) url: DatabaseUrl,
    /// The flag or variable the URL came from, for errors of connecting.
    pub(crate) source: String,
    pub(crate) migration: Migration,
}

#[derive(Debug)]
pub(crate) struct LogConfig {
    pub(crate) filter: Targets,
    /// Default: pretty on a terminal, otherwise JSON.
    pub(crate) format: Option<LogFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Pretty,
    /// One JSON object per line.
    Json,
}

/// Why there is no configuration.
#[derive(Debug)]
pub(crate) enum ConfigError {
    /// Help or version was requested; this is the text.
    Help(String),
    /// The command line or the environment is wrong; one line.
    Invalid(String),
}

impl Command {
    /// Parses arguments, with the name of the program first, and the environment.
    pub(crate) fn parse(
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, ConfigError> {
        let arguments: Vec<_> = arguments.into_iter().collect();
        let matches =
            args::command().try_get_matches_from(&arguments).map_err(|e| usage_error(&e))?;
        let Cli { settings, command } =
            Cli::from_arg_matches(&matches).map_err(|e| usage_error(&e))?;
        let command = match command {
            None | Some(CliCommand::Serve) => {
                serve(settings, &arguments).map(|config| Self::Serve(config.into()))
            }
            Some(CliCommand::Admin(command)) => {
                admin(settings, command).map(|config| Self::Admin(config.into()))
            }
            Some(CliCommand::Openapi) => open_api(settings).map(Self::OpenApi),
        };
        command.map_err(ConfigError::Invalid)
    }
}

fn serve(settings: Settings, arguments: &[OsString]) -> Result<ServeConfig, String> {
    let s = settings;
    let seeds = seed_key::parse_all(&s.seed_key, &s.vendor, arguments);
    let (provider, database) = (provider(&s), database(&s));
    check(&[
        &s.listen,
        &s.admin_listen,
        &s.public_url,
        &s.database_url,
        &s.migrate,
        &s.database_pool,
        &database,
        &s.blob_store,
        &s.provider_private_outputs,
        &provider,
        &s.workers,
        &s.model_namespace,
        &s.vendor,
        &seeds,
        &s.signing_key,
        &s.log,
        &s.log_format,
        &s.max_connections,
        &s.drain_delay,
        &s.drain_timeout,
        &s.json,
    ])?;
    let blobs = match (optional(s.blob_store)?, &s.database_url) {
        (Some(blobs), _) => blobs,
        (None, Some(_)) => BlobSetting::Folder(BLOB_FOLDER_DEFAULT.into()),
        (None, None) => BlobSetting::Memory,
    };
    Ok(ServeConfig {
        listen: bind_address(s.listen)?,
        admin_listen: s.admin_listen.map(bind_address).transpose()?,
        public_url: optional(s.public_url)?,
        database: database?,
        service: ServiceConfig {
            vendor: s.vendor.value?,
            model_namespace: s.model_namespace.value?,
            seeds: seeds?,
            signing_key: optional(s.signing_key)?,
            blobs,
            provider: provider?,
            workers: s.workers.value?,
        },
        limits: Limits {
            connections_max: s.max_connections.value?,
            drain_delay: s.drain_delay.value?,
            drain_timeout: s.drain_timeout.value?,
            ..Limits::default()
        },
        log: log(s.log, s.log_format, LevelFilter::INFO)?,
        json: optional(s.json)?.unwrap_or(false),
    })
}

fn admin(settings: Settings, command: AdminCommand) -> Result<AdminConfig, String> {
    let s = settings;
    let missing = || "--database-url: missing; set it or PROMPTARIUM_DATABASE_URL".to_owned();
    let database = database(&s).and_then(|database| database.ok_or_else(missing));
    let command = match command {
        AdminCommand::Key(KeyCommand::Create { scope, .. })
            if scope.len() > 1 && scope.contains(&Scopes::default()) =>
        {
            Err("--scope: `none` excludes all others".to_owned())
        }
        command => Ok(command),
    };
    check(&[
        &s.database_url,
        &s.migrate,
        &s.database_pool,
        &database,
        &command,
        &s.vendor,
        &s.log,
        &s.log_format,
        &s.json,
    ])?;
    Ok(AdminConfig {
        database: database?,
        command: command?,
        vendor: s.vendor.value?,
        log: log(s.log, s.log_format, LevelFilter::WARN)?,
        json: optional(s.json)?.unwrap_or(false),
    })
}

fn open_api(settings: Settings) -> Result<OpenApiConfig, String> {
    check(&[&settings.public_url, &settings.model_namespace])?;
    Ok(OpenApiConfig {
        public_url: optional(settings.public_url)?,
        model_namespace: settings.model_namespace.value?,
    })
}

fn bind_address(setting: Setting<String>) -> Result<Address, String> {
    Ok(Address { text: setting.value?, source: setting.source })
}

fn log(
    filter: Option<Setting<Targets>>,
    format: Option<Setting<LogFormat>>,
    default: LevelFilter,
) -> Result<LogConfig, String> {
    let filter = optional(filter)?.unwrap_or_else(|| Targets::new().with_default(default));
    Ok(LogConfig { filter, format: optional(format)? })
}

fn database(settings: &Settings) -> Result<Option<DatabaseConfig>, String> {
    let migration = settings.migrate.value.clone()?;
    let pool = settings.database_pool.clone();
    let Some(url) = settings.database_url.clone() else {
        return pool.map_or(Ok(None), |pool| Err(format!("{}: needs --database-url", pool.source)));
    };
    let (source, mut url) = (url.source, url.value?);
    if let Some(connections) = optional(pool)? {
        url = url.with_connections(connections);
    }
    Ok(Some(DatabaseConfig { url, source, migration }))
}

/// Checks here that the queue provider is complete, instead of failing at the first generation.
fn provider(settings: &Settings) -> Result<ProviderSetting, String> {
    let kind = &settings.provider;
    let private = optional(settings.provider_private_outputs.clone())?.unwrap_or(false);
    let (url, key) = match (kind.value.clone()?, &settings.provider_url, &settings.provider_key) {
        (ProviderKind::Local, None, _) => return Ok(ProviderSetting::Local),
        (ProviderKind::Local, Some(_), _) => Err("must be queue, because --provider-url is set"),
        (ProviderKind::Queue, None, _) => Err("queue needs --provider-url"),
        (ProviderKind::Queue, _, None) => Err("queue needs --provider-key"),
        (ProviderKind::Queue, Some(url), Some(key)) => Ok((url, key)),
    }
    .map_err(|problem| format!("{}: {problem}", kind.source))?;
    let queue = QueueSetting::new(&url.value.clone()?, &key.value.clone()?).map_err(|e| {
        let source = if e == QueueSettingError::Url { &url.source } else { &key.source };
        format!("{source}: the value {e}")
    })?;
    Ok(ProviderSetting::Queue(if private { queue.with_private_outputs() } else { queue }.into()))
}

#[cfg(test)]
mod tests;
