//! The command line as clap sees it.
//!
//! All flags are accepted everywhere, so that one environment serves all commands.

use std::time::Duration;

use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use tracing_subscriber::filter::Targets;

use super::commands::AdminCommand;
#[cfg(feature = "postgres")]
use super::values::database_url;
#[cfg(feature = "folder")]
use super::values::{DataPlace, data_place};
use super::values::{
    LogFormat, ProviderKind, address, boolean, delay, integer, listen, log_filter, mode,
    model_field, seconds, signing_key,
};
use crate::blobs::setting::BlobSetting;
use crate::domain::{ModelNamespace, PublicUrl, SigningKey, Vendor};
use crate::http::cors::CorsOrigin;
use crate::http::rates::RateLimit;
use crate::limits::product::MEMORY_BUDGET_MIB_MIN;
use crate::limits::{
    CONNECTIONS_MAX, DATABASE_CONNECTIONS_MIN, JOB_KEEP_DAYS, JOB_RETRY_HOURS, MEMORY_BUDGET_MIB,
    OUTPUT_MAX_MIB, VAULTS_MAX, WORKERS_DEFAULT,
};
#[cfg(feature = "postgres")]
use crate::store::postgres::{DatabaseUrl, Migration};

/// The groups of the help, by their first setting.
const GROUPS: [(&str, &str); 7] = [
    ("listen", "Server"),
    ("data", "Data"),
    ("blob_store", "Files"),
    ("provider", "Provider of generations"),
    ("max_connections", "Limits"),
    ("drain_delay", "Stopping"),
    ("log", "Log and metrics"),
];

/// What `-h` shows.
const EVERYDAY: &str = "listen public_url seed_key data database_url blob_store provider provider_url \
                        provider_key log admin_listen";

const EXAMPLES: &str = "\
Examples:
  promptarium-server --listen 0.0.0.0:8080 --public-url http://192.168.1.5:8080
  promptarium-server --data /srv/promptarium
  PROMPTARIUM_DATABASE_URL=postgres://localhost/promptarium promptarium-server
  promptarium-server sign-in alice
  promptarium-server key create --account alice --name laptop

The variable of --some-flag is PROMPTARIUM_SOME_FLAG; a flag wins over its variable.
-h shows the most used flags, --help all.";

/// The Promptarium reference server.
#[derive(Parser)]
#[command(name = "promptarium-server", version, after_help = EXAMPLES)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) settings: Settings,
    #[command(subcommand)]
    pub(super) command: Option<CliCommand>,
}

#[derive(Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum CliCommand {
    /// Serve the API until stopped; the default.
    Serve,
    #[command(flatten)]
    Admin(AdminCommand),
    /// Print a script that completes commands and flags in a shell.
    Completions {
        /// Shell of the script.
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    /// Print the manual page, for `man`.
    Man,
    /// Print the OpenAPI 3.1 document of the service as JSON.
    Openapi,
    /// Ask the server that listens at --listen whether it is ready, for health checks of containers.
    Health,
}

/// The settings. Flags are accepted before and after the command. The variable of `--some-flag`
/// is `PROMPTARIUM_SOME_FLAG`.
#[derive(Args)]
pub(crate) struct Settings {
    /// Address to listen on. Port 0 picks a free port; a port alone is at 127.0.0.1, a host alone at 8080;
    /// unix:PATH is a Unix socket, for a local proxy.
    #[arg(long, value_name = "HOST:PORT", value_parser = listen, default_value = "127.0.0.1:8080")]
    pub(crate) listen: String,
    /// Permissions of a Unix socket.
    #[arg(long, value_name = "MODE", value_parser = mode, default_value = "660")]
    pub(crate) listen_mode: u32,
    /// URL under which clients and browsers reach the server, without /api/v1. Its path is a prefix
    /// that a proxy removes. Default: the listener's.
    #[arg(long, value_name = "URL", value_parser = PublicUrl::parse)]
    pub(crate) public_url: Option<PublicUrl>,
    /// Origin of web pages that may use the API with a key, such as https://app.example, or `*` for
    /// all; repeatable. In the variable, white space separates several.
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) cors_origin: Vec<CorsOrigin>,
    /// Prefix of API keys: lower-case letters and digits.
    #[arg(long, value_name = "NAME", default_value = "promptarium", value_parser = Vendor::new)]
    pub(crate) vendor: Vendor,
    /// Create an account with exactly this key at the start; repeatable.
    ///
    /// Without scopes the key has all of them; `none` gives it none, `revoked` makes it a revoked
    /// key. In the variable, white space separates several.
    #[arg(long, value_name = "KEY=ACCOUNT[:SCOPE,…]")]
    pub(crate) seed_key: Vec<String>,
    /// Secret that signs cursors and upload URLs, at least 32 characters. Default: a random one,
    /// stored with the data.
    #[arg(long, value_name = "SECRET", value_parser = signing_key, allow_hyphen_values = true)]
    pub(crate) signing_key: Option<SigningKey>,
    /// Print the ready line, or the result of a command, as one line of JSON on stdout.
    #[arg(long, value_name = "true|false", default_value = "false", value_parser = boolean)]
    #[arg(action = ArgAction::Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true")]
    pub(crate) json: bool,
    /// Folder with all data, or memory:, where they are lost at the stop. Not with --database-url.
    /// Default: ./promptarium-data.
    #[cfg(feature = "folder")]
    #[arg(long, value_name = "DIR|memory:", value_parser = data_place)]
    pub(crate) data: Option<DataPlace>,
    /// PostgreSQL database in place of --data, postgres://USER:PASSWORD@HOST/NAME.
    #[cfg(feature = "postgres")]
    #[arg(long, value_name = "URL", value_parser = database_url)]
    pub(crate) database_url: Option<DatabaseUrl>,
    /// Apply missing migrations at the start (auto), or refuse to start without them (off).
    #[cfg(feature = "postgres")]
    #[arg(long, value_name = "auto|off", default_value = "auto")]
    pub(crate) migrate: Migration,
    /// How long a start waits for a database that is away, frozen or full.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds::<0>)]
    pub(crate) database_wait: Duration,
    /// Most connections to the database. Default: 16, or pool_max_conns in the URL.
    #[cfg(feature = "postgres")]
    #[arg(long, value_name = "NUMBER", value_parser = integer::<DATABASE_CONNECTIONS_MIN, 10_000>)]
    pub(crate) database_pool: Option<usize>,
    /// Store of uploaded and generated files: memory:, file:PATH or s3://BUCKET/PREFIX.
    /// Default: the folder blobs in --data, or file:./data/blobs with a database.
    #[arg(long, value_name = "STORE", value_parser = BlobSetting::parse)]
    pub(crate) blob_store: Option<BlobSetting>,
    /// Provider of generations: the server itself (local), or a service that speaks the fal.ai
    /// queue protocol (queue).
    #[arg(long, value_name = "local|queue", default_value = "local")]
    pub(crate) provider: ProviderKind,
    /// URL of the queue provider; the model's id is appended.
    #[arg(long, value_name = "URL")]
    pub(crate) provider_url: Option<String>,
    /// Secret key of the queue provider.
    #[arg(long, value_name = "SECRET", allow_hyphen_values = true)]
    pub(crate) provider_key: Option<String>,
    /// Allow outputs of the queue provider to be fetched from private addresses.
    #[arg(long, value_name = "true|false", default_value = "false", value_parser = boolean)]
    #[arg(action = ArgAction::Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true")]
    pub(crate) provider_private_outputs: bool,
    /// Prefix that every modelId of a prompt must have.
    #[arg(long, value_name = "PREFIX", value_parser = ModelNamespace::new, default_value = "local")]
    pub(crate) model_namespace: ModelNamespace,
    /// Field that models of the queue provider take, by the beginning of their ids: aspect_ratio or
    /// image_size for aspectRatio, image_url or image_urls for imageInput; repeatable. In the
    /// variable, white space separates several.
    #[arg(long, value_name = "PREFIX=FIELD", value_parser = model_field)]
    pub(crate) model_field: Vec<(String, String)>,
    /// Number of generations processed at once, of which one account has at most half. With 0 they
    /// stay queued.
    #[arg(long, value_name = "NUMBER", value_parser = integer::<0, 1000>)]
    #[arg(default_value_t = WORKERS_DEFAULT)]
    pub(crate) workers: usize,
    /// How long a generation is retried while its provider, the storage or the database fails.
    #[arg(long, value_name = "HOURS", value_parser = integer::<1, 10_000>)]
    #[arg(default_value_t = JOB_RETRY_HOURS)]
    pub(crate) job_retry_hours: usize,
    /// When the records of ended generations are deleted. Their outputs stay.
    #[arg(long, value_name = "DAYS", value_parser = integer::<1, 100_000>)]
    #[arg(default_value_t = JOB_KEEP_DAYS)]
    pub(crate) job_keep_days: usize,
    /// Largest output of a generation. A larger one fails it.
    #[arg(long, value_name = "MIB", value_parser = integer::<1, 65_536>)]
    #[arg(default_value_t = OUTPUT_MAX_MIB)]
    pub(crate) output_max_mib: usize,
    /// Allow webhooks at private addresses, and without TLS.
    #[cfg(feature = "webhooks")]
    #[arg(long, value_name = "true|false", default_value = "false", value_parser = boolean)]
    #[arg(action = ArgAction::Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true")]
    pub(crate) allow_private_webhooks: bool,
    /// Seconds before the first attempt to deliver an event to a webhook, and after each that failed.
    #[cfg(feature = "webhooks")]
    #[arg(long, value_name = "SECONDS,…", value_delimiter = ',')]
    #[arg(default_value = "0,5,300,1800,7200,18000,36000,50400,72000,86400")]
    #[arg(value_parser = delay)]
    pub(crate) webhook_delays: Vec<f64>,
    /// Most client connections at once; further ones wait.
    #[arg(long, value_name = "NUMBER", default_value_t = CONNECTIONS_MAX, value_parser = integer::<1, 1_000_000>)]
    pub(crate) max_connections: usize,
    /// Most client connections of one address (IPv6: one /64); further ones are closed. 0 is no limit,
    /// for a server behind a proxy, where all clients have its address. Default: half of all.
    #[arg(long, value_name = "NUMBER", value_parser = integer::<0, 1_000_000>)]
    pub(crate) max_connections_per_address: Option<usize>,
    /// Time after which a connection without requests is closed.
    #[arg(long, value_name = "SECONDS", default_value = "75", value_parser = seconds::<1>)]
    pub(crate) idle_timeout: Duration,
    /// Memory for the bodies of requests and responses, in MiB. Each account may use a quarter of it.
    #[arg(long, value_name = "MIB", value_parser = integer::<MEMORY_BUDGET_MIB_MIN, 1_048_576>)]
    #[arg(default_value_t = MEMORY_BUDGET_MIB)]
    pub(crate) memory_budget: usize,
    /// Most vaults of one account.
    #[arg(long, value_name = "NUMBER", default_value_t = VAULTS_MAX, value_parser = integer::<1, 1_000_000>)]
    pub(crate) vaults_max: usize,
    /// Most requests, generations or uploads that a key or an account may send in a number of seconds,
    /// such as key:requests=600/60; repeatable. In the variable, white space separates several.
    #[arg(long, value_name = "key|account:KIND=NUMBER/SECONDS")]
    pub(crate) rate_limit: Vec<RateLimit>,
    /// Time to continue serving after a stop signal, while /readyz answers 503.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds::<0>)]
    pub(crate) drain_delay: Duration,
    /// Time after that for requests in flight to finish.
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = seconds::<0>)]
    pub(crate) drain_timeout: Duration,
    /// What to log to stderr: a level, or a list of target=level. Default: info for serve, warn
    /// for other commands.
    #[arg(long, value_name = "FILTER", value_parser = log_filter)]
    pub(crate) log: Option<Targets>,
    /// Format of the log. Default: pretty on a terminal, otherwise json.
    #[arg(long, value_name = "pretty|json")]
    pub(crate) log_format: Option<LogFormat>,
    /// Address of /metrics for Prometheus. Default: no metrics.
    #[arg(long, value_name = "HOST:PORT", value_parser = address)]
    pub(crate) admin_listen: Option<String>,
}

/// The command line, also for completions and the man page.
pub(crate) fn command() -> clap::Command {
    let mut heading = None;
    Cli::command().mut_args(|arg| {
        heading = GROUPS.iter().find(|(first, _)| arg.get_id() == first).or(heading);
        let is_everyday = EVERYDAY.split(' ').any(|id| arg.get_id() == id);
        let arg = arg.help_heading(heading.map(|(_, title)| *title));
        let arg = arg.hide_short_help(!is_everyday).hide_possible_values(true);
        arg.global(true).allow_negative_numbers(true)
    })
}
