//! Settings from flags and environment variables, parsed and checked at the start.
//!
//! `--listen` is `PROMPTARIUM_LISTEN`, and a flag wins over its variable. An error names the flag or
//! variable that is wrong, and contains no secret.

mod args;
mod commands;
mod input;
mod values;

use std::ffi::OsString;

use clap::FromArgMatches;
use tracing_subscriber::filter::{LevelFilter, Targets};

use self::args::{Cli, CliCommand, Settings};
pub(crate) use self::commands::{AccountCommand, AdminCommand, KeyCommand};
use self::input::Input;
use self::values::ProviderKind;
pub use self::values::SeedKey;
use crate::blobs::BlobSetting;
use crate::domain::{ModelNamespace, PublicUrl, Scopes, SigningKey, Vendor};
use crate::generate::JobSettings;
use crate::generate::queue::{QueueSetting, QueueSettingError};
use crate::http::cors::CorsOrigin;
use crate::http::rates::RateLimit;
use crate::serve::listener::ListenerLimits;
use crate::store::postgres::{DatabaseUrl, Migration};

/// Default of `--blob-store` with a database: files have to last as long as it does.
const BLOB_FOLDER_DEFAULT: &str = "./data/blobs";

/// The command to run, with its checked settings.
#[derive(Debug)]
pub(crate) enum Command {
    Serve(Box<ServeConfig>),
    Admin(Box<AdminConfig>),
    /// Ask the server at this address whether it is ready.
    Health(Address),
    /// Print the OpenAPI document.
    OpenApi {
        public_url: Option<PublicUrl>,
        model_namespace: ModelNamespace,
    },
}

#[derive(Debug)]
pub(crate) struct ServeConfig {
    pub(crate) listen: Address,
    pub(crate) admin_listen: Option<Address>,
    pub(crate) public_url: Option<PublicUrl>,
    pub(crate) database: Option<DatabaseConfig>,
    /// How many vaults an account may have.
    pub(crate) vaults_max: usize,
    pub(crate) service: ServiceConfig,
    pub(crate) limits: ListenerLimits,
    pub(crate) log: LogConfig,
    pub(crate) json: bool,
}

/// What a service is assembled from, by the program and by an embedded server.
#[derive(Clone, Debug)]
pub struct ServiceConfig {
    /// The prefix of API keys.
    pub vendor: Vendor,
    /// The prefix of model ids.
    pub model_namespace: ModelNamespace,
    /// Keys that exist from the start.
    pub seeds: Vec<SeedKey>,
    /// Default: the key in the database; without a database a random one.
    pub signing_key: Option<SigningKey>,
    /// Where uploaded and generated files are kept.
    pub blobs: BlobSetting,
    /// The provider of generations; the built-in one if `None`.
    pub provider: Option<QueueSetting>,
    /// How generations are processed.
    pub jobs: JobSettings,
    /// Bytes that the bodies of requests and responses may take.
    pub memory_budget: usize,
    /// How many requests keys and accounts may send. None by default.
    pub rate_limits: Vec<RateLimit>,
    /// Origins whose pages may use the API. None by default.
    pub cors_origins: Vec<CorsOrigin>,
}

#[derive(Debug)]
pub(crate) struct AdminConfig {
    pub(crate) database: DatabaseConfig,
    pub(crate) command: AdminCommand,
    pub(crate) vendor: Vendor,
    pub(crate) public_url: Option<PublicUrl>,
    pub(crate) log: LogConfig,
    pub(crate) json: bool,
}

/// HOST:PORT, and the flag or variable it came from.
#[derive(Debug)]
pub(crate) struct Address {
    pub(crate) text: String,
    pub(crate) source: String,
}

#[derive(Debug)]
pub(crate) struct DatabaseConfig {
    pub(crate) url: DatabaseUrl,
    /// The flag or variable of the URL.
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
    Json,
}

/// Why there is no [`Command`].
#[derive(Debug)]
pub(crate) enum ConfigError {
    /// The text of the help or of the version was requested.
    Help(String),
    /// One line about a wrong command line or environment.
    Invalid(String),
}

impl Command {
    /// Parses arguments, with the name of the program first, and environment variables.
    pub(crate) fn parse(
        arguments: impl IntoIterator<Item = OsString>,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, ConfigError> {
        let input = Input::new(arguments, variables)?;
        let matches = input.matches()?;
        let Cli { settings, command } =
            Cli::from_arg_matches(&matches).map_err(|e| input.invalid(&e))?;
        let command = match command {
            None | Some(CliCommand::Serve) => {
                serve(settings, &input).map(|config| Self::Serve(config.into()))
            }
            Some(CliCommand::Admin(command)) => {
                admin(settings, &input, command).map(|config| Self::Admin(config.into()))
            }
            Some(CliCommand::Health) => {
                Ok(Self::Health(Address { source: input.source("listen"), text: settings.listen }))
            }
            Some(CliCommand::Openapi) => Ok(Self::OpenApi {
                public_url: settings.public_url,
                model_namespace: settings.model_namespace,
            }),
        };
        command.map_err(ConfigError::Invalid)
    }
}

fn serve(s: Settings, input: &Input) -> Result<ServeConfig, String> {
    let (database, provider) = (database(&s, input)?, provider(&s, input)?);
    let fault = |problem| format!("{}: {problem}", input.source("seed_key"));
    let seeds = SeedKey::parse_all(&s.seed_key, &s.vendor).map_err(fault)?;
    let blobs = s.blob_store.unwrap_or_else(|| match database {
        Some(_) => BlobSetting::Folder(BLOB_FOLDER_DEFAULT.into()),
        None => BlobSetting::Memory,
    });
    let address = |id, text| Address { text, source: input.source(id) };
    Ok(ServeConfig {
        listen: address("listen", s.listen),
        admin_listen: s.admin_listen.map(|text| address("admin_listen", text)),
        public_url: s.public_url,
        database,
        vaults_max: s.vaults_max,
        service: ServiceConfig {
            vendor: s.vendor,
            model_namespace: s.model_namespace,
            seeds,
            signing_key: s.signing_key,
            blobs,
            provider,
            jobs: JobSettings {
                workers: s.workers,
                retry_hours: s.job_retry_hours,
                keep_days: s.job_keep_days,
                output_max_mib: s.output_max_mib,
            },
            memory_budget: s.memory_budget << 20,
            rate_limits: s.rate_limit,
            cors_origins: s.cors_origin,
        },
        limits: ListenerLimits {
            connections_max: s.max_connections,
            connections_per_address: s.max_connections_per_address,
            drain_delay: s.drain_delay,
            drain_timeout: s.drain_timeout,
            idle_timeout: s.idle_timeout,
            ..ListenerLimits::default()
        },
        log: LogConfig::new(s.log, s.log_format, LevelFilter::INFO),
        json: s.json.unwrap_or_default(),
    })
}

fn admin(settings: Settings, input: &Input, command: AdminCommand) -> Result<AdminConfig, String> {
    let database = database(&settings, input)?.ok_or_else(|| no_database(&command))?;
    if let AdminCommand::Key(KeyCommand::Create { scope, .. }) = &command
        && scope.len() > 1
        && scope.contains(&Scopes::default())
    {
        return Err("--scope: `none` excludes all others".to_owned());
    }
    Ok(AdminConfig {
        database,
        command,
        vendor: settings.vendor,
        public_url: settings.public_url,
        log: LogConfig::new(settings.log, settings.log_format, LevelFilter::WARN),
        json: settings.json.unwrap_or_default(),
    })
}

fn no_database(command: &AdminCommand) -> String {
    let problem = "--database-url: missing; set it or PROMPTARIUM_DATABASE_URL";
    match command {
        AdminCommand::SignIn { .. } => {
            format!("{problem}. A server in memory prints a new link when it gets SIGUSR1")
        }
        _ => problem.to_owned(),
    }
}

impl LogConfig {
    fn new(filter: Option<Targets>, format: Option<LogFormat>, default: LevelFilter) -> Self {
        let filter = filter.unwrap_or_else(|| Targets::new().with_default(default));
        Self { filter, format }
    }
}

fn database(settings: &Settings, input: &Input) -> Result<Option<DatabaseConfig>, String> {
    let Some(mut url) = settings.database_url.clone() else {
        return match settings.database_pool {
            Some(_) => Err(format!("{}: needs --database-url", input.source("database_pool"))),
            None => Ok(None),
        };
    };
    url.connections = settings.database_pool.unwrap_or(url.connections);
    let source = input.source("database_url");
    Ok(Some(DatabaseConfig { url, source, migration: settings.migrate }))
}

/// Checks here that the queue provider is complete, instead of failing at the first generation.
fn provider(settings: &Settings, input: &Input) -> Result<Option<QueueSetting>, String> {
    let fault = |id, problem: &str| Err(format!("{}: {problem}", input.source(id)));
    let (url, key) = match (settings.provider, &settings.provider_url, &settings.provider_key) {
        (ProviderKind::Local, None, _) => return Ok(None),
        (ProviderKind::Local, Some(_), _) => {
            return fault("provider", "must be queue, because --provider-url is set");
        }
        (ProviderKind::Queue, None, _) => return fault("provider", "queue needs --provider-url"),
        (ProviderKind::Queue, _, None) => return fault("provider", "queue needs --provider-key"),
        (ProviderKind::Queue, Some(url), Some(key)) => (url, key),
    };
    let private = settings.provider_private_outputs.unwrap_or_default();
    match QueueSetting::new(url, key) {
        Ok(mut queue) => {
            queue.private_outputs = private;
            queue.model_fields = settings.model_field.clone();
            Ok(Some(queue))
        }
        Err(e @ QueueSettingError::Url) => fault("provider_url", &format!("the value {e}")),
        Err(e @ QueueSettingError::Key) => fault("provider_key", &format!("the value {e}")),
    }
}

#[cfg(test)]
mod settings_table;
#[cfg(test)]
mod tests;
