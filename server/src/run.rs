//! The program: reads the configuration, then serves until a signal, or runs one command.

mod commands;
mod process;
mod ready_line;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

use self::commands::CommandError;
use self::process::{StopSignals, init_log};
use self::ready_line::ReadyLine;
use crate::api::openapi;
use crate::blobs::BlobSetting;
use crate::clock::Clock;
use crate::config::{Address, AdminConfig, Command, ConfigError, DatabaseConfig, ServeConfig};
use crate::domain::{GeneratedKey, PublicUrl};
use crate::error_chain::error_chain;
use crate::serve::listener::{Drained, serve};
use crate::serve::metrics::serve_metrics;
use crate::start::{self, Service, ServiceParts, StoreKind};
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

/// Runs the program with these arguments, its name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let result = match Command::parse(arguments) {
        Ok(Command::Serve(config)) => {
            init_log(&config.log);
            block_on(serve_until_signal(*config))
        }
        Ok(Command::Admin(config)) => {
            init_log(&config.log);
            block_on(run_command(*config))
        }
        Ok(Command::OpenApi { public_url, model_namespace }) => {
            let document = openapi::document(public_url.as_ref(), &model_namespace);
            Ok(print(&format!("{document:#}\n")))
        }
        Err(ConfigError::Help(text)) => Ok(print(&text)),
        Err(ConfigError::Invalid(problem)) => Err(problem),
    };
    result.unwrap_or_else(|problem| fail(EXIT_FAILURE, &problem))
}

fn print(text: &str) -> ExitCode {
    // It fails only if the reader closed stdout.
    let _ = io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

fn fail(code: u8, problem: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "promptarium-server: {problem}");
    ExitCode::from(code)
}

fn block_on(program: impl Future<Output = Result<ExitCode, String>>) -> Result<ExitCode, String> {
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| format!("the Tokio runtime cannot be started: {error}"))?;
    let code = runtime.block_on(program);
    // After a second signal, tasks that still run are not waited for.
    runtime.shutdown_background();
    code
}

async fn run_command(config: AdminConfig) -> Result<ExitCode, String> {
    match commands::run(config, &mut io::stdout()).await {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(CommandError::Precondition(problem)) => Ok(fail(EXIT_PRECONDITION, &problem)),
        Err(CommandError::Failure(problem)) => Err(problem),
    }
}

async fn serve_until_signal(config: ServeConfig) -> Result<ExitCode, String> {
    let mut signals =
        StopSignals::new().map_err(|error| format!("signals cannot be received: {error}"))?;
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
    let parts = ServiceParts {
        store: open_store(config.database).await?,
        clock: Clock::System,
        public: config.public_url.unwrap_or_else(|| PublicUrl::of_listener(local_addr)),
        provider: None,
        blobs: None,
        with_metrics: admin.is_some(),
    };
    let Service { app, generated_key, background } =
        start::start(config.service, parts).await.map_err(|error| error_chain(&error))?;

    if let (Some(admin), Some(metrics)) = (admin, app.metrics.clone()) {
        let address = admin.local_addr().map(|address| address.to_string()).unwrap_or_default();
        tracing::info!(address, "serving metrics");
        tokio::spawn(serve_metrics(admin, metrics));
    }
    let ready_line = ReadyLine {
        base_url: &app.api.base_url,
        api_key: generated_key.as_ref().map(GeneratedKey::expose),
        dashboard_url: None,
        store: app.api.store.name(),
    };
    if let Err(error) = print_ready_line(&ready_line, config.json) {
        tracing::warn!(%error, "the ready line could not be written");
    }

    let readiness = app.api.readiness.clone();
    let (stop, stopped) = oneshot::channel::<()>();
    let limits = config.limits.within_descriptors();
    let mut serving = std::pin::pin!(serve(listener, app, limits, readiness, async {
        // The sender is not dropped before it has sent.
        let _ = stopped.await;
    }));
    tokio::select! {
        drained = &mut serving => return Ok(exit_code(drained)),
        () = signals.recv() => {}
    }
    tracing::info!("stopping: waiting for requests in flight");
    let _ = stop.send(());
    let shutdown = async {
        let drained = serving.await;
        background.stop().await;
        drained
    };
    tokio::select! {
        drained = shutdown => Ok(exit_code(drained)),
        () = signals.recv() => {
            tracing::warn!("stopped immediately by a second signal");
            Ok(ExitCode::from(EXIT_SECOND_SIGNAL))
        }
    }
}

fn print_ready_line(ready_line: &ReadyLine<'_>, json: bool) -> io::Result<()> {
    let text =
        if json { serde_json::to_string(ready_line)? + "\n" } else { ready_line.to_string() };
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
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

async fn open_store(database: Option<DatabaseConfig>) -> Result<StoreKind, String> {
    let Some(DatabaseConfig { url, source, migration }) = database else {
        return Ok(StoreKind::Single(Arc::new(MemoryStore::new(Clock::System))));
    };
    let store = PostgresStore::open(&url, migration, Clock::System).await;
    store.map(StoreKind::Shared).map_err(|error| format!("{source}: {}", error_chain(&error)))
}

async fn bind(Address { text, source }: &Address) -> Result<TcpListener, String> {
    TcpListener::bind(text).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => format!("{source}: {text} is already in use"),
        _ => format!("{source}: cannot listen on {text}: {error}"),
    })
}
