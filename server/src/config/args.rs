//! The command line as clap sees it, and clap's errors in one line.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::str::FromStr;
use std::time::Duration;

use clap::builder::OsStringValueParser;
use clap::error::{ContextKind, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, Parser, Subcommand};
use tracing_subscriber::filter::Targets;

use super::commands::AdminCommand;
use super::jobs::JobFlags;
use super::values::{
    BOOLEANS, LOG_FORMATS, MIGRATIONS, PROVIDERS, ProviderKind, RateLimits, address, database_url,
    integer, log_filter, model_namespace, one_of, quoted, rate_limits, seconds, secret,
    signing_key, vendor,
};
use super::{ConfigError, LogFormat};
use crate::blobs::BlobSetting;
use crate::domain::{ModelNamespace, PublicUrl, SigningKey, Vendor};
use crate::limits::{
    CONNECTIONS_MAX, DATABASE_CONNECTIONS_MIN, MEMORY_BUDGET_MIB, MEMORY_BUDGET_MIB_MIN, VAULTS_MAX,
};
use crate::store::postgres::{DatabaseUrl, Migration};

/// The Promptarium reference server.
#[derive(Parser)]
#[command(name = "promptarium-server", version)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) settings: Settings,
    #[command(subcommand)]
    pub(super) command: Option<CliCommand>,
}

#[derive(Subcommand)]
pub(super) enum CliCommand {
    /// Serve the API until stopped; the default.
    Serve,
    #[command(flatten)]
    Admin(AdminCommand),
    /// Print the OpenAPI 3.1 document of the service as JSON.
    Openapi,
}

/// The settings. Flags are accepted before and after the command. The variable of `--some-flag`
/// is `PROMPTARIUM_SOME_FLAG`.
#[derive(Args)]
pub(super) struct Settings {
    /// PostgreSQL database, postgres://USER:PASSWORD@HOST/NAME. Default: all data is in memory.
    #[arg(long, value_name = "URL", value_parser = secret(database_url))]
    pub(super) database_url: Option<DatabaseUrl>,
    /// Apply missing migrations at the start (auto), or refuse to start without them (off).
    #[arg(long, value_name = "auto|off", default_value = "auto", value_parser = one_of(&MIGRATIONS))]
    pub(super) migrate: Migration,
    /// Most connections to the database. Default: 16, or pool_max_conns in the URL.
    #[arg(long, value_name = "NUMBER", value_parser = quoted(integer::<DATABASE_CONNECTIONS_MIN, 10_000>))]
    pub(super) database_pool: Option<usize>,
    /// Address to listen on; port 0 picks a free port.
    #[arg(long, value_name = "HOST:PORT", value_parser = quoted(address))]
    #[arg(default_value = "127.0.0.1:8080")]
    pub(super) listen: String,
    /// URL under which clients reach the server, without /api/v1. Default: the listener's.
    #[arg(long, value_name = "URL", value_parser = secret(PublicUrl::parse))]
    pub(super) public_url: Option<PublicUrl>,
    /// Store of uploaded and generated files: memory:, file:PATH or s3://BUCKET/PREFIX.
    /// Default: memory:, or file:./data/blobs with a database.
    #[arg(long, value_name = "STORE", value_parser = secret(BlobSetting::parse))]
    pub(super) blob_store: Option<BlobSetting>,
    /// Provider of generations: the server itself (local), or a service that speaks the fal.ai
    /// queue protocol (queue).
    #[arg(long, value_name = "local|queue", value_parser = one_of(&PROVIDERS))]
    #[arg(default_value = "local")]
    pub(super) provider: ProviderKind,
    /// URL of the queue provider; the model's id is appended.
    #[arg(long, value_name = "URL", value_parser = secret(String::from_str))]
    pub(super) provider_url: Option<String>,
    /// Secret key of the queue provider.
    #[arg(long, value_name = "SECRET", value_parser = secret(String::from_str), allow_hyphen_values = true)]
    pub(super) provider_key: Option<String>,
    /// Allow outputs of the queue provider to be fetched from private addresses.
    #[arg(long, value_name = "true|false", value_parser = one_of(&BOOLEANS))]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) provider_private_outputs: Option<bool>,
    #[command(flatten)]
    pub(super) jobs: JobFlags,
    /// Prefix of the provider's model ids.
    #[arg(long, value_name = "PREFIX", value_parser = quoted(model_namespace))]
    #[arg(default_value = "local")]
    pub(super) model_namespace: ModelNamespace,
    /// Prefix of API keys.
    #[arg(long, value_name = "NAME", default_value = "promptarium", value_parser = quoted(vendor))]
    pub(super) vendor: Vendor,
    /// Create an account with exactly this key at the start; repeatable. Without scopes the key
    /// has all of them; `none` gives it none, `revoked` makes it a revoked key. In the variable,
    /// white space separates several.
    #[arg(long, value_name = "KEY=ACCOUNT[:SCOPE,…]", value_parser = secret(String::from_str))]
    pub(super) seed_key: Vec<String>,
    /// Secret that signs cursors and upload URLs, at least 32 characters. Default: a random one,
    /// stored in the database if there is one.
    #[arg(long, value_name = "SECRET", value_parser = secret(signing_key))]
    #[arg(allow_hyphen_values = true)]
    pub(super) signing_key: Option<SigningKey>,
    /// What to log to stderr: a level, or a list of target=level. Default: info for serve, warn
    /// for other commands.
    #[arg(long, value_name = "FILTER", value_parser = quoted(log_filter))]
    pub(super) log: Option<Targets>,
    /// Format of the log. Default: pretty on a terminal, otherwise json.
    #[arg(long, value_name = "pretty|json", value_parser = one_of(&LOG_FORMATS))]
    pub(super) log_format: Option<LogFormat>,
    /// Address of /metrics for Prometheus. Default: no metrics.
    #[arg(long, value_name = "HOST:PORT", value_parser = quoted(address))]
    pub(super) admin_listen: Option<String>,
    /// Most client connections at once; further ones wait.
    #[arg(long, value_name = "NUMBER", default_value_t = CONNECTIONS_MAX, value_parser = quoted(integer::<1, 1_000_000>))]
    pub(super) max_connections: usize,
    /// Most client connections of one address (IPv6: one /64); further ones are closed. Default: half
    /// of all. 0: any number, as behind a proxy, with whose address all clients come.
    #[arg(long, value_name = "NUMBER", value_parser = quoted(integer::<0, 1_000_000>))]
    pub(super) max_connections_per_address: Option<usize>,
    /// Time after which a connection without requests is closed.
    #[arg(long, value_name = "SECONDS", default_value = "75", value_parser = quoted(seconds::<1>))]
    pub(super) idle_timeout: Duration,
    /// Memory for the bodies of requests and responses, in MiB. Each account may use a quarter of it.
    #[arg(long, value_name = "MIB")]
    #[arg(value_parser = quoted(integer::<MEMORY_BUDGET_MIB_MIN, 1_048_576>))]
    #[arg(default_value_t = MEMORY_BUDGET_MIB)]
    pub(super) memory_budget: usize,
    /// Most vaults of one account.
    #[arg(long, value_name = "NUMBER", default_value_t = VAULTS_MAX, value_parser = quoted(integer::<1, 1_000_000>))]
    pub(super) vaults_max: usize,
    /// How many requests, generations or uploads a key or an account may send in some seconds;
    /// repeatable. Default: any number. In the variable, white space separates several.
    #[arg(long, value_name = "key|account:KIND=NUMBER/SECONDS", value_parser = quoted(rate_limits))]
    pub(super) rate_limit: Vec<RateLimits>,
    /// Time to continue serving after a stop signal, while /readyz answers 503.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = quoted(seconds::<0>))]
    pub(super) drain_delay: Duration,
    /// Time after that for requests in flight to finish.
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = quoted(seconds::<0>))]
    pub(super) drain_timeout: Duration,
    /// Print the ready line, or the result of a command, as one line of JSON on stdout.
    #[arg(long, value_name = "true|false", value_parser = one_of(&BOOLEANS))]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) json: Option<bool>,
}

/// Matches the command line and the environment. All wrong values are reported together: clap
/// stops at the first one, so it runs again without checking that setting.
pub(super) fn matches(arguments: &[OsString]) -> Result<ArgMatches, ConfigError> {
    // By the id of the setting.
    let mut problems = BTreeMap::new();
    loop {
        let error = match command(arguments, &problems).try_get_matches_from(arguments) {
            Ok(matches) if problems.is_empty() => return Ok(matches),
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::ValueValidation => error,
            Err(error) => return Err(usage_error(&error)),
        };
        let arg = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
        let name = arg.split([' ', '[']).next().unwrap_or_default();
        let id = name.trim_start_matches('-').replace('-', "_");
        let from_flag = arguments.iter().any(|argument| is_flag(argument, &id));
        let from_variable = name.starts_with("--") && !from_flag;
        let source = if from_variable { variable(&id) } else { name.to_owned() };
        let problem = error.source().map(ToString::to_string).unwrap_or_default();
        // An argument that is not a setting is checked again.
        if problems.insert(id, format!("{source}: {problem}")).is_some() {
            break;
        }
    }
    Err(ConfigError::Invalid(problems.into_values().collect::<Vec<_>>().join("; ")))
}

/// The command line. All flags are accepted everywhere, so that one environment serves all
/// commands, but the help of a command shows only those that matter to it. Values of variables
/// are not in the help, because some are secret.
fn command(arguments: &[OsString], unchecked: &BTreeMap<String, String>) -> clap::Command {
    let command = Cli::command().mut_args(|mut arg| {
        let id = arg.get_id().to_string();
        if unchecked.contains_key(&id) {
            arg = arg.value_parser(OsStringValueParser::new());
        }
        // Below a subcommand clap would check the variable although the flag above wins.
        if !arguments.iter().any(|argument| is_flag(argument, &id)) {
            arg = arg.env(variable(&id));
        }
        arg.global(true).hide_env_values(true).allow_negative_numbers(true)
    });
    let flags: Vec<_> = command.get_arguments().cloned().collect();
    command.mut_subcommands(|command| {
        let shown: &[_] = match command.get_name() {
            "serve" => return command,
            "openapi" => &["public_url", "model_namespace"],
            _ => &["database_url", "migrate", "vendor", "log", "log_format", "json"],
        };
        let hidden = flags.iter().filter(|flag| !shown.contains(&flag.get_id().as_str()));
        command.args(hidden.map(|flag| flag.clone().hide(true)).collect::<Vec<_>>())
    })
}

fn variable(id: &str) -> String {
    format!("PROMPTARIUM_{}", id.to_ascii_uppercase())
}

/// Whether an argument is the flag of this setting, with or without a value.
pub(super) fn is_flag(argument: &OsStr, id: &str) -> bool {
    argument.to_string_lossy().split('=').next() == Some(&flag(id))
}

pub(super) fn flag(id: &str) -> String {
    format!("--{}", id.replace('_', "-"))
}

/// The flag or variable that a setting came from; the flag if it has its default.
pub(super) fn source(matches: &ArgMatches, id: &str) -> String {
    match matches.value_source(id) {
        Some(ValueSource::EnvVariable) => variable(id),
        _ => flag(id),
    }
}

/// An error of clap in one line.
pub(super) fn usage_error(error: &clap::Error) -> ConfigError {
    let problem = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            return ConfigError::Help(error.render().to_string());
        }
        ErrorKind::UnknownArgument => "unknown argument",
        ErrorKind::InvalidSubcommand => "unknown command",
        ErrorKind::MissingRequiredArgument => "missing",
        ErrorKind::ArgumentConflict => "given more than once",
        ErrorKind::InvalidValue => "a value is missing",
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "a subcommand is missing",
        kind => kind.as_str().unwrap_or("invalid command line"),
    };
    ConfigError::Invalid(format!("{}{problem}; see promptarium-server --help", argument(error)))
}

/// The argument or command an error is about, with a colon. An unknown one is repeated only
/// if it looks like a flag or a command: a secret may have slipped into its place.
fn argument(error: &clap::Error) -> String {
    let kinds = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    let Some(names) = kinds.iter().find_map(|kind| error.get(*kind)) else { return String::new() };
    let names = names.to_string();
    let name = names.split(['=', ' ', ',']).next().unwrap_or_default();
    let placeholder = name.starts_with('<') && name.ends_with('>');
    let plain = name.len() < 32 && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let short_flag = name.starts_with('-') && !name.starts_with("--");
    if placeholder || (plain && !short_flag) {
        format!("{name}: ")
    } else {
        "an argument (not shown): ".to_owned()
    }
}
