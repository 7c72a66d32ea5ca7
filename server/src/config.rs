//! What the operator wants, read from flags and environment and checked at once.
//!
//! Every setting is a flag and a variable: `--listen` is `PROMPTARIUM_LISTEN`. A
//! flag wins over its variable. All faults are reported together, each with the
//! name under which its value came in; the value of a secret is never repeated.

mod args;
mod database;
mod fault;
mod manage;
mod reader;
mod service;

use std::ffi::OsString;
use std::time::Duration;

use clap::FromArgMatches;
use tracing_subscriber::filter::Targets;

use self::args::{Cli, Command, Settings};
pub use self::database::DatabaseConfig;
use self::database::database;
use self::fault::usage;
use self::manage::manage;
pub use self::manage::{Chore, ManageConfig};
use self::reader::Reader;
use self::service::{model_namespace, service, vendor};
use crate::domain::{ModelNamespace, PublicUrl};
use crate::serve::listener::Limits;
use crate::start::ServiceConfig;

/// How many generations are attended to at once unless it is set.
pub const WORKERS_DEFAULT: usize = 2;

/// What the program is asked to do.
#[derive(Debug)]
pub enum Task {
    /// To serve.
    Serve(Box<Config>),
    /// To look after a database.
    Manage(Box<ManageConfig>),
    /// To describe the service.
    Describe(DescribeConfig),
}

/// What the description of a service depends on.
#[derive(Debug)]
pub struct DescribeConfig {
    /// How clients reach it, if that is known.
    pub public_url: Option<PublicUrl>,
    /// The prefix of its provider's models.
    pub model_namespace: ModelNamespace,
}

/// Everything a server is started with.
#[derive(Debug)]
pub struct Config {
    /// Where it listens.
    pub listen: Address,
    /// Where it shows its metrics, if it does.
    pub admin_listen: Option<Address>,
    /// How clients reach it, if not by where it listens.
    pub public_url: Option<PublicUrl>,
    /// Where everything but files is kept, if not in memory.
    pub database: Option<DatabaseConfig>,
    /// What the service is made from.
    pub service: ServiceConfig,
    /// What the socket side may take.
    pub limits: Limits,
    /// What is logged, and how.
    pub log: LogConfig,
    /// Whether the ready line is JSON.
    pub json: bool,
}

/// A host and a port to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address as it was given.
    pub text: String,
    /// The flag or variable it came by, for an error that only binding shows.
    pub came_by: String,
}

/// What is logged, and how.
#[derive(Debug)]
pub struct LogConfig {
    /// Which events are logged.
    pub filter: Targets,
    /// How they look; chosen by where they go if `None`.
    pub format: Option<LogFormat>,
}

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For a person.
    Pretty,
    /// For a program: one JSON object a line.
    Json,
}

/// Why there is no configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoConfig {
    /// The operator asked for this text instead.
    Asked(String),
    /// The command line or the environment is at fault; one line.
    Fault(String),
}

impl Task {
    /// Reads arguments, the program's name first, and the environment.
    ///
    /// # Errors
    /// If help was asked for, or something is wrong.
    pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, NoConfig> {
        let arguments = arguments.into_iter().collect::<Vec<_>>();
        let matches =
            args::command().try_get_matches_from(&arguments).map_err(|error| usage(&error))?;
        let cli = Cli::from_arg_matches(&matches).map_err(|error| usage(&error))?;
        let mut reader = Reader::new(&matches);
        reader.all_on_one_side("seed_key", cli.settings.seed_key.len(), &arguments);
        let task = match &cli.command {
            None | Some(Command::Serve) => {
                read(&cli.settings, &mut reader).map(|config| Self::Serve(config.into()))
            }
            Some(Command::Openapi) => describe(&cli.settings, &mut reader).map(Self::Describe),
            Some(command) => manage(command, &cli.settings, &mut reader)
                .map(|config| Self::Manage(config.into())),
        };
        let faults = reader.finish();
        match task {
            Some(task) if faults.is_empty() => Ok(task),
            _ => Err(NoConfig::Fault(faults.join("; "))),
        }
    }
}

/// `None` if a setting without which nothing goes is at fault.
fn read(given: &Settings, reader: &mut Reader<'_>) -> Option<Config> {
    let listen = reader.one("listen", Some(&given.listen), address);
    let admin_listen = reader.one("admin_listen", given.admin_listen.as_ref(), address);
    let public_url = public_url(given, reader);
    let database = database(given, reader);
    let service = service(given, reader);
    let limits = limits(given, reader);
    let log = log(given, reader);
    let json = reader.one("json", given.json.as_ref(), switch);
    Some(Config {
        listen: listen.map(|text| Address { text, came_by: reader.name("listen") })?,
        admin_listen: admin_listen
            .map(|text| Address { text, came_by: reader.name("admin_listen") }),
        public_url,
        database,
        service: service?,
        limits: limits?,
        log: log?,
        json: json.unwrap_or(false),
    })
}

/// `None` if something is at fault.
fn describe(given: &Settings, reader: &mut Reader<'_>) -> Option<DescribeConfig> {
    let public_url = public_url(given, reader);
    Some(DescribeConfig { public_url, model_namespace: model_namespace(given, reader)? })
}

fn public_url(given: &Settings, reader: &mut Reader<'_>) -> Option<PublicUrl> {
    reader.one("public_url", given.public_url.as_ref(), |text| {
        PublicUrl::parse(text).map_err(|fault| fault.to_string())
    })
}

fn limits(given: &Settings, reader: &mut Reader<'_>) -> Option<Limits> {
    let connections_max = reader.one("max_connections", Some(&given.max_connections), |text| {
        let number = text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
        number.ok_or_else(|| "must be an integer from 1 to 1000000".to_owned())
    });
    let drain_delay = reader.one("drain_delay", Some(&given.drain_delay), seconds);
    let drain_timeout = reader.one("drain_timeout", Some(&given.drain_timeout), seconds);
    Some(Limits {
        connections_max: connections_max?,
        drain_delay: drain_delay?,
        drain_timeout: drain_timeout?,
        ..Limits::default()
    })
}

fn log(given: &Settings, reader: &mut Reader<'_>) -> Option<LogConfig> {
    let filter = reader.one("log", Some(&given.log), |text| {
        let fault = "must be off, error, warn, info, debug, trace, or a list of target=level";
        text.parse::<Targets>().map_err(|_| fault.to_owned())
    });
    let format = reader.one("log_format", given.log_format.as_ref(), |text| match text {
        "pretty" => Ok(LogFormat::Pretty),
        "json" => Ok(LogFormat::Json),
        _ => Err("must be pretty or json".to_owned()),
    });
    Some(LogConfig { filter: filter?, format })
}

/// A host, a colon, a port; whether the host exists is seen when it is bound.
fn address(text: &str) -> Result<String, String> {
    let fault = || "must be an address and a port such as 127.0.0.1:8080".to_owned();
    let (host, port) = text.rsplit_once(':').ok_or_else(fault)?;
    let bracketed = host.starts_with('[') && host.ends_with(']');
    if host.is_empty() || (host.contains(':') && !bracketed) || port.parse::<u16>().is_err() {
        return Err(fault());
    }
    Ok(text.to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().filter(|number| (0..=3600).contains(number));
    number
        .map(Duration::from_secs)
        .ok_or_else(|| "must be whole seconds, from 0 to 3600".to_owned())
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err("must be true or false".to_owned()),
    }
}

#[cfg(test)]
mod tests;
