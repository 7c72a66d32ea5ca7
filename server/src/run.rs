//! The program from start to end: configuration, sockets, service, the ready
//! line, signals, the exit code.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::blobs::BlobSetting;
use crate::clock::Clock;
use crate::config::{
    Address, Config, DatabaseConfig, DescribeConfig, ManageConfig, NoConfig, Task,
};
use crate::domain::{MadeKey, PublicUrl};
use crate::error_chain::error_chain;
use crate::log;
use crate::manage;
use crate::openapi::{self, Described};
use crate::ready::Ready;
use crate::serve::admin::serve_metrics;
use crate::serve::listener::{Drained, serve};
use crate::signals::Signals;
use crate::start::{self, Backing, Parts, Service};
use crate::store::memory::MemoryStore;
use crate::store::postgres::PostgresStore;

/// Something in the flags, the environment or the machine is in the way.
const EXIT_FAULT: u8 = 2;
/// Requests in flight were cut off.
const EXIT_CUT: u8 = 1;
/// A command was refused for what is in the database, or is not.
const EXIT_REFUSED: u8 = 1;
/// A second signal ended it at once; what shells say of an interrupted program.
const EXIT_AT_ONCE: u8 = 130;

/// Runs the program with these arguments, its name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let outcome = match Task::read(arguments) {
        Ok(Task::Serve(config)) => {
            log::begin(&config.log);
            block_on(run_to_the_end(*config))
        }
        Ok(Task::Manage(config)) => {
            log::begin(&config.log);
            block_on(run_managing(*config))
        }
        Ok(Task::Describe(config)) => {
            let DescribeConfig { public_url, model_namespace } = &config;
            let described = Described { public: public_url.as_ref(), model_namespace };
            print(format_args!("{:#}\n", openapi::document(described)))
        }
        Err(NoConfig::Fault(fault)) => Err(fault),
        Err(NoConfig::Asked(text)) => print(format_args!("{text}")),
    };
    outcome.unwrap_or_else(|fault| {
        let _ = writeln!(io::stderr(), "promptarium-server: {fault}");
        ExitCode::from(EXIT_FAULT)
    })
}

fn print(text: std::fmt::Arguments<'_>) -> Result<ExitCode, String> {
    // Whoever closed stdout does not want to read it.
    let _ = io::stdout().write_fmt(text);
    Ok(ExitCode::SUCCESS)
}

fn block_on(program: impl Future<Output = Result<ExitCode, String>>) -> Result<ExitCode, String> {
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| format!("the system gives no threads or no polling: {error}"))?;
    let code = runtime.block_on(program);
    // What still runs after a second signal is not waited for.
    runtime.shutdown_background();
    code
}

async fn run_managing(config: ManageConfig) -> Result<ExitCode, String> {
    match manage::carry_out(config, &mut io::stdout()).await {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if error.is_of_what_is_there() => {
            let _ = writeln!(io::stderr(), "promptarium-server: {error}");
            Ok(ExitCode::from(EXIT_REFUSED))
        }
        Err(error) => Err(error_chain(&error)),
    }
}

async fn run_to_the_end(config: Config) -> Result<ExitCode, String> {
    let mut signals =
        Signals::listen().map_err(|error| format!("signals cannot be listened for: {error}"))?;
    let listener = bind(&config.listen).await?;
    let admin = match &config.admin_listen {
        Some(address) => Some(bind(address).await?),
        None => None,
    };
    let local =
        listener.local_addr().map_err(|error| format!("a socket has no address: {error}"))?;
    let public = config.public_url.unwrap_or_else(|| PublicUrl::of_listener(local));
    if config.database.is_some() && config.service.blobs == BlobSetting::Memory {
        tracing::warn!("files are kept in memory: they do not last as long as the database");
    }
    let parts = Parts {
        backing: backing(config.database).await?,
        clock: Clock::System,
        public,
        provider: None,
        blobs: None,
        with_metrics: admin.is_some(),
    };
    let Service { app, made_key, crew } =
        start::start(config.service, parts).await.map_err(|error| error_chain(&error))?;

    let ready = Ready {
        base_url: &app.api.base_url,
        api_key: made_key.as_ref().map(MadeKey::expose),
        dashboard_url: None,
        store: app.api.store.name(),
    };
    if let Some(admin) = admin {
        let address = admin.local_addr().map(|address| address.to_string()).unwrap_or_default();
        tracing::info!(address, "metrics are served");
        tokio::spawn(serve_metrics(admin, app.clone()));
    }
    if let Err(error) = ready.say(config.json) {
        tracing::warn!(%error, "the ready line could not be written");
    }

    let readiness = app.api.readiness.clone();
    let (stop, stopped) = oneshot::channel::<()>();
    let mut serving = std::pin::pin!(serve(listener, app, config.limits, readiness, async {
        // The sender lives until it has sent.
        let _ = stopped.await;
    }));
    tokio::select! {
        drained = &mut serving => return Ok(exit_code(drained)),
        () = signals.next() => {}
    }
    tracing::info!("stopping: requests in flight are being answered");
    let _ = stop.send(());
    let ended = async {
        let drained = serving.await;
        crew.stop().await;
        drained
    };
    tokio::select! {
        drained = ended => Ok(exit_code(drained)),
        () = signals.next() => {
            tracing::warn!("stopped at once by a second signal");
            Ok(ExitCode::from(EXIT_AT_ONCE))
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
            tracing::warn!(connections, "stopped: time was up for some connections");
            ExitCode::from(EXIT_CUT)
        }
    }
}

async fn backing(database: Option<DatabaseConfig>) -> Result<Backing, String> {
    let Some(DatabaseConfig { url, came_by, migration }) = database else {
        return Ok(Backing::Own(Arc::new(MemoryStore::new(Clock::System))));
    };
    let store = PostgresStore::open(&url, migration, Clock::System).await;
    store.map(Backing::Shared).map_err(|error| format!("{came_by}: {}", error_chain(&error)))
}

async fn bind(address: &Address) -> Result<TcpListener, String> {
    TcpListener::bind(&address.text).await.map_err(|error| {
        let (name, text) = (&address.came_by, &address.text);
        match error.kind() {
            io::ErrorKind::AddrInUse => format!("{name}: something listens on {text} already"),
            _ => format!("{name}: cannot listen on {text}: {error}"),
        }
    })
}
