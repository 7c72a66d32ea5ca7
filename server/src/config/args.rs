//! The command line as clap sees it. Values stay raw here: clap's own errors
//! would repeat them, and some are secrets.

use std::ffi::OsString;

use clap::{Args, CommandFactory, Parser, Subcommand};

/// The Promptarium reference server.
#[derive(Debug, Parser)]
#[command(name = "promptarium-server", version)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) settings: Settings,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// The flags that mean something to the commands that look after a database.
const OF_ALL: [&str; 6] = ["database_url", "migrate", "vendor", "log", "log_format", "json"];

/// The flags that change the OpenAPI document.
const OF_OPENAPI: [&str; 2] = ["public_url", "model_namespace"];

/// The command line. All flags are taken everywhere, so that one environment serves
/// all commands, but the help of a command shows those that matter to it.
pub(super) fn command() -> clap::Command {
    let mut command = Cli::command();
    let all_but = |shown: &[&str]| -> Vec<_> {
        let arguments = command.get_arguments().filter(|arg| arg.is_global_set());
        let others = arguments.filter(|arg| !shown.contains(&arg.get_id().as_str()));
        others.map(|arg| arg.clone().hide(true)).collect()
    };
    let (others, of_service) = (all_but(&OF_ALL), all_but(&OF_OPENAPI));
    for name in ["migrate", "account", "key"] {
        command = command.mut_subcommand(name, |command| command.args(others.clone()));
    }
    command.mut_subcommand("openapi", |command| command.args(of_service))
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Serves the API until it is asked to stop; the default.
    Serve,
    /// Brings the schema of the database up to date, and says what that took.
    Migrate,
    /// Makes and lists the accounts of the database.
    #[command(subcommand)]
    Account(AccountCommand),
    /// Makes, lists and revokes the API keys of the database.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Prints the OpenAPI 3.1 document of the service as JSON.
    Openapi,
}

#[derive(Debug, Subcommand)]
pub(super) enum AccountCommand {
    /// Makes an account. Keys for it are made by `key create`.
    Create {
        /// What no other account is called.
        #[arg(value_name = "NAME")]
        name: OsString,
    },
    /// Lists all accounts.
    List,
}

#[derive(Debug, Subcommand)]
pub(super) enum KeyCommand {
    /// Makes a key and prints it, this once: only a digest is kept.
    Create {
        /// Whose key it is.
        #[arg(long, value_name = "NAME")]
        account: OsString,
        /// What it may do; repeatable. Without it, everything; `none` for reading.
        #[arg(long, value_name = "prompts:write|none")]
        scope: Vec<OsString>,
    },
    /// Lists keys, without their secrets.
    List {
        /// Only the keys of this account.
        #[arg(long, value_name = "NAME")]
        account: Option<OsString>,
    },
    /// Revokes a key for good: every server of the database refuses it at once.
    Revoke {
        /// What stands between `_live_` and the last `_` of the key.
        #[arg(value_name = "PUBLIC_ID")]
        public_id: OsString,
    },
}

/// Flags stand before or after the command.
#[derive(Debug, Args)]
pub(super) struct Settings {
    /// The PostgreSQL database to keep everything but files in,
    /// postgres://USER:PASSWORD@HOST/NAME. Without one everything is in memory.
    #[arg(long, env = "PROMPTARIUM_DATABASE_URL", global = true, hide_env_values = true)]
    #[arg(value_name = "URL")]
    pub(super) database_url: Option<OsString>,

    /// Whether the schema of the database is brought up to date first; with off it
    /// must be.
    #[arg(long, env = "PROMPTARIUM_MIGRATE", global = true, value_name = "auto|off")]
    #[arg(default_value = "auto")]
    pub(super) migrate: OsString,

    /// The most connections to the database at once; 16, unless the URL says
    /// pool_max_conns.
    #[arg(long, env = "PROMPTARIUM_DATABASE_POOL", global = true, value_name = "NUMBER")]
    pub(super) database_pool: Option<OsString>,

    /// Where to listen; port 0 picks a free one.
    #[arg(long, env = "PROMPTARIUM_LISTEN", global = true, value_name = "ADDRESS:PORT")]
    #[arg(default_value = "127.0.0.1:8080")]
    pub(super) listen: OsString,

    /// How clients reach the server: the beginning of every address it hands out,
    /// without /api/v1. Taken from the listener if absent.
    #[arg(long, env = "PROMPTARIUM_PUBLIC_URL", global = true, value_name = "URL")]
    pub(super) public_url: Option<OsString>,

    /// Where uploaded and generated files are kept: memory:, file:PATH or
    /// s3://BUCKET/PREFIX. memory: if absent, and file:./data/blobs beside a
    /// database.
    #[arg(long, env = "PROMPTARIUM_BLOB_STORE", global = true, value_name = "STORE")]
    pub(super) blob_store: Option<OsString>,

    /// Who makes generations: local, which is the server itself, or queue, a
    /// service at --provider-url.
    #[arg(long, env = "PROMPTARIUM_PROVIDER", global = true, value_name = "local|queue")]
    #[arg(default_value = "local")]
    pub(super) provider: OsString,

    /// The address of the queue provider, to which a model's id is added.
    #[arg(long, env = "PROMPTARIUM_PROVIDER_URL", global = true, value_name = "URL")]
    pub(super) provider_url: Option<OsString>,

    /// Secret that the queue provider knows the server by.
    #[arg(long, env = "PROMPTARIUM_PROVIDER_KEY", global = true, hide_env_values = true)]
    #[arg(value_name = "SECRET")]
    pub(super) provider_key: Option<OsString>,

    /// Lets outputs be fetched from addresses that are not public.
    #[arg(long, env = "PROMPTARIUM_PROVIDER_PRIVATE_OUTPUTS", global = true)]
    #[arg(value_name = "true|false")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) provider_private_outputs: Option<OsString>,

    /// How many generations are attended to at once.
    #[arg(long, env = "PROMPTARIUM_WORKERS", global = true, value_name = "NUMBER")]
    #[arg(default_value = "2")]
    pub(super) workers: OsString,

    /// The prefix of the provider's models.
    #[arg(long, env = "PROMPTARIUM_MODEL_NAMESPACE", global = true, value_name = "PREFIX")]
    #[arg(default_value = "local")]
    pub(super) model_namespace: OsString,

    /// The prefix of API keys.
    #[arg(long, env = "PROMPTARIUM_VENDOR", global = true, value_name = "NAME")]
    #[arg(default_value = "promptarium")]
    pub(super) vendor: OsString,

    /// Makes an account and exactly this key at the start; repeatable. Without
    /// scopes the key has all; `none` gives it none, `revoked` makes it a revoked
    /// one. In the variable, white space stands between several.
    #[arg(long, env = "PROMPTARIUM_SEED_KEY", global = true, hide_env_values = true)]
    #[arg(value_name = "KEY=ACCOUNT[:SCOPE,…]")]
    pub(super) seed_key: Vec<OsString>,

    /// Secret that signs what is handed out, at least 32 characters; made at the
    /// start if absent, or with a database kept there.
    #[arg(long, env = "PROMPTARIUM_SIGNING_KEY", global = true, hide_env_values = true)]
    #[arg(value_name = "SECRET")]
    pub(super) signing_key: Option<OsString>,

    /// What to log, to stderr: a level, or a list of target=level.
    #[arg(long, env = "PROMPTARIUM_LOG", global = true, value_name = "FILTER")]
    #[arg(default_value = "info")]
    pub(super) log: OsString,

    /// How to log: pretty or json. Pretty on a terminal, else json.
    #[arg(long, env = "PROMPTARIUM_LOG_FORMAT", global = true, value_name = "FORMAT")]
    pub(super) log_format: Option<OsString>,

    /// Where to serve /metrics for Prometheus; nowhere if absent.
    #[arg(long, env = "PROMPTARIUM_ADMIN_LISTEN", global = true, value_name = "ADDRESS:PORT")]
    pub(super) admin_listen: Option<OsString>,

    /// The most connections at once; more wait.
    #[arg(long, env = "PROMPTARIUM_MAX_CONNECTIONS", global = true, value_name = "NUMBER")]
    #[arg(default_value = "10000")]
    pub(super) max_connections: OsString,

    /// How long to go on as before once asked to stop, while /readyz says 503.
    #[arg(long, env = "PROMPTARIUM_DRAIN_DELAY", global = true, value_name = "SECONDS")]
    #[arg(default_value = "0")]
    pub(super) drain_delay: OsString,

    /// How long requests in flight may then take before they are cut off.
    #[arg(long, env = "PROMPTARIUM_DRAIN_TIMEOUT", global = true, value_name = "SECONDS")]
    #[arg(default_value = "30")]
    pub(super) drain_timeout: OsString,

    /// Says in one line of JSON, on stdout, that the server is ready, or what a
    /// command did.
    #[arg(long, env = "PROMPTARIUM_JSON", global = true, value_name = "true|false")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) json: Option<OsString>,
}
