//! The program: reads the configuration, then serves until a signal, or runs one command.

mod commands;
mod log;
mod signals;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use serde::Serialize;
use tokio::net::TcpListener;

use self::signals::{LinkSignals, stop_signals};
use crate::api::openapi;
use crate::blobs::{BlobSetting, Blobs};
use crate::clock::Clock;
use crate::config::{Address, Command, ConfigError, DatabaseConfig, ServeConfig};
use crate::domain::{GeneratedKey, PublicUrl};
use crate::error_chain::error_chain;
use crate::serve::listener::Drained;
use crate::serve::metrics::serve_metrics;
use crate::start::{self, DEFAULT_ACCOUNT, ServiceParts, SignInLinks, StoreKind};
use crate::store::memory::MemoryStore;
use crate::store::postgres::PostgresStore;

/// Requests in flight were cut off at the end of the drain timeout.
const EXIT_CUT_OFF: u8 = 1;
/// A command does not fit the accounts and keys that exist.
const EXIT_PRECONDITION: u8 = 1;
/// The flags, the environment or the machine prevent the start.
const EXIT_FAILURE: u8 = 2;
/// A second signal ended the program; what shells report for an interrupted program.
const EXIT_SECOND_SIGNAL: u8 = 130;

/// An exit code, and one line for stderr.
struct Failure(u8, String);

impl From<String> for Failure {
    fn from(problem: String) -> Self {
        Self(EXIT_FAILURE, problem)
    }
}

/// Runs the program with these arguments, its name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let result = match Command::parse(arguments) {
        Ok(Command::Serve(config)) => {
            let _log = log::init(&config.log);
            block_on(serve_until_signal(*config))
        }
        Ok(Command::Admin(config)) => {
            let _log = log::init(&config.log);
            block_on(commands::run(*config))
        }
        Ok(Command::OpenApi { public_url, model_namespace }) => {
            let document = openapi::document(public_url.as_ref(), &model_namespace);
            Ok(print_text(&format!("{document:#}\n")))
        }
        Err(ConfigError::Help(text)) => Ok(print_text(&text)),
        Err(ConfigError::Invalid(problem)) => Err(problem.into()),
    };
    result.unwrap_or_else(|Failure(code, problem)| {
        let _ = writeln!(io::stderr(), "promptarium-server: {problem}");
        ExitCode::from(code)
    })
}

/// For texts whose reader may close stdout before their end.
fn print_text(text: &str) -> ExitCode {
    let _ = print(text);
    ExitCode::SUCCESS
}

fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

fn block_on(program: impl Future<Output = Result<ExitCode, Failure>>) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| format!("the Tokio runtime cannot be started: {error}"))?;
    let code = runtime.block_on(program);
    // After a second signal, tasks that still run are not waited for.
    runtime.shutdown_background();
    code
}

async fn serve_until_signal(config: ServeConfig) -> Result<ExitCode, Failure> {
    let signals =
        |number| stop_signals(number).map_err(|e| format!("signals cannot be received: {e}"));
    let (first, second) = (signals(1)?, signals(2)?);
    let link_signals =
        LinkSignals::new().map_err(|error| format!("signals cannot be received: {error}"))?;
    let listener = bind(&config.listen).await?;
    let admin = match &config.admin_listen {
        Some(address) => Some(bind(address).await?),
        None => None,
    };
    let local_addr =
        listener.local_addr().map_err(|error| format!("the listener has no address: {error}"))?;
    if config.database.is_some() && config.service.blobs == BlobSetting::Memory {
        tracing::warn!(
            "files are in memory and will be lost at the next stop, unlike the database"
        );
    }
    // Before the database is migrated.
    let blobs = Blobs::open(&config.service.blobs).map_err(|error| error.to_string())?;
    let parts = ServiceParts {
        store: open_store(config.database, config.vaults_max).await?,
        clock: Clock::System,
        public: config.public_url.unwrap_or_else(|| PublicUrl::of_listener(local_addr)),
        provider: None,
        blobs: Some(blobs),
        with_metrics: admin.is_some(),
    };
    let service = start::start(config.service, parts).await.map_err(|error| error_chain(&error))?;

    if let (Some(admin), Some(metrics)) = (admin, service.app.metrics.clone()) {
        let address = admin.local_addr().map(|address| address.to_string()).unwrap_or_default();
        tracing::info!(address, "serving metrics");
        tokio::spawn(serve_metrics(admin, metrics));
    }
    let sign_in_url = sign_in_url(&service.sign_in).await;
    let ready_line = ReadyLine {
        base_url: &service.app.api.base_url,
        api_key: service.generated_key.as_ref().map(GeneratedKey::expose),
        dashboard_url: &service.sign_in.dashboard_url(),
        sign_in_url: sign_in_url.as_deref(),
        store: service.app.api.store.name(),
    };
    if let Err(error) = ready_line.print(config.json) {
        tracing::warn!(%error, "the ready line could not be written");
    }

    let links =
        tokio::spawn(print_sign_in_links(link_signals, service.sign_in.clone(), config.json));

    let stop = async {
        first.await;
        tracing::info!("stopping: waiting for requests in flight");
    };
    let code = tokio::select! {
        drained = service.serve(listener, config.limits.within_descriptors(), stop) => {
            exit_code(drained)
        }
        () = second => {
            tracing::warn!("stopped immediately by a second signal");
            ExitCode::from(EXIT_SECOND_SIGNAL)
        }
    };
    links.abort();
    Ok(code)
}

/// A new sign-in link. A failure is logged: the server works without.
async fn sign_in_url(links: &SignInLinks) -> Option<String> {
    links.make().await.unwrap_or_else(|error| {
        tracing::warn!(error = error_chain(&error), "no sign-in link could be made");
        None
    })
}

/// Prints a new sign-in link for each signal.
async fn print_sign_in_links(mut signals: LinkSignals, links: SignInLinks, json: bool) {
    loop {
        signals.recv().await;
        let Some(url) = sign_in_url(&links).await else {
            tracing::warn!("there is no sign-in link to print");
            continue;
        };
        let line = match json {
            true => format!("{}\n", serde_json::json!({ "sign_in_url": url })),
            false => format!("Sign in once, within 15 minutes:\n  {url}\n"),
        };
        if let Err(error) = print(&line) {
            tracing::warn!(%error, "the sign-in link could not be written");
        }
    }
}

fn exit_code(drained: Drained) -> ExitCode {
    match drained {
        Drained::All => {
            tracing::info!("stopped");
            ExitCode::SUCCESS
        }
        Drained::Cut(connections) => {
            tracing::warn!(connections, "stopped: drain timeout, connections were cut off");
            ExitCode::from(EXIT_CUT_OFF)
        }
    }
}

async fn open_store(
    database: Option<DatabaseConfig>,
    vaults_max: usize,
) -> Result<StoreKind, String> {
    let Some(DatabaseConfig { url, source, migration }) = database else {
        let store = MemoryStore::new(Clock::System).with_vaults_max(vaults_max);
        return Ok(StoreKind::Single(Arc::new(store)));
    };
    let store = PostgresStore::open(&url, migration, Clock::System).await;
    let store = store.map(|store| store.with_vaults_max(vaults_max));
    store.map(StoreKind::Shared).map_err(|error| format!("{source}: {}", error_chain(&error)))
}

async fn bind(Address { text, source }: &Address) -> Result<TcpListener, String> {
    TcpListener::bind(text).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => format!("{source}: {text} is already in use"),
        _ => format!("{source}: cannot listen on {text}: {error}"),
    })
}

/// How to reach the server, printed once it accepts requests. It contains a key and a sign-in
/// code, therefore no `Debug`.
#[derive(Serialize)]
struct ReadyLine<'a> {
    base_url: &'a str,
    /// The key that was created at the start, if one was.
    api_key: Option<&'a str>,
    dashboard_url: &'a str,
    /// Signs a browser in, once.
    sign_in_url: Option<&'a str>,
    store: &'a str,
}

impl ReadyLine<'_> {
    fn print(&self, json: bool) -> io::Result<()> {
        print(&if json { serde_json::to_string(self)? + "\n" } else { self.to_string() })
    }
}

/// For a person, with a request to try.
impl fmt::Display for ReadyLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { base_url, api_key, dashboard_url, sign_in_url, store } = self;
        writeln!(f, "Promptarium is ready.\n  base URL  {base_url}\n  store     {store}")?;
        match api_key {
            Some(key) => writeln!(f, "  API key   {key}  (new, account {DEFAULT_ACCOUNT})")?,
            None if *store == "memory" => writeln!(f, "  API keys  as seeded")?,
            None => writeln!(f, "  API keys  in the database; `key create` adds one")?,
        }
        match sign_in_url {
            Some(url) => writeln!(f, "  sign in   {url}  (once, within 15 minutes)")?,
            None => writeln!(f, "  dashboard {dashboard_url}")?,
        }
        let key = api_key.unwrap_or("$PROMPTARIUM_API_KEY");
        writeln!(f, "Try:\n  curl -H \"Authorization: Bearer {key}\" {base_url}/vaults")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: ReadyLine<'_> = ReadyLine {
        base_url: "http://127.0.0.1:8080/api/v1",
        api_key: Some("promptarium_live_p1_s"),
        dashboard_url: "http://127.0.0.1:8080/",
        sign_in_url: Some("http://127.0.0.1:8080/sign-in#c0de"),
        store: "memory",
    };

    #[test]
    fn the_text_contains_a_request_to_try() {
        insta::assert_snapshot!(READY, @r#"
    Promptarium is ready.
      base URL  http://127.0.0.1:8080/api/v1
      store     memory
      API key   promptarium_live_p1_s  (new, account default)
      sign in   http://127.0.0.1:8080/sign-in#c0de  (once, within 15 minutes)
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
}
