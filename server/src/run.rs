//! The program from start to end: configuration, sockets, service, the ready
//! line, signals, the exit code.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::admin::serve_metrics;
use crate::clock::Clock;
use crate::config::{Address, Config, NoConfig};
use crate::key::MadeKey;
use crate::log;
use crate::public_url::PublicUrl;
use crate::ready::Ready;
use crate::serve::{Drained, serve};
use crate::signals::Signals;
use crate::start::{self, Parts, Service, StartError};
use crate::store::memory::MemoryStore;

/// Something in the flags, the environment or the machine is in the way.
const EXIT_FAULT: u8 = 2;
/// Requests in flight were cut off.
const EXIT_CUT: u8 = 1;
/// A second signal ended it at once; what shells say of an interrupted program.
const EXIT_AT_ONCE: u8 = 130;

/// Runs the program with these arguments, its name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let outcome = match Config::read(arguments) {
        Ok(config) => run_configured(config),
        Err(NoConfig::Fault(fault)) => Err(fault),
        Err(NoConfig::Asked(text)) => {
            // Whoever closed stdout does not want to read it.
            let _ = write!(io::stdout(), "{text}");
            Ok(ExitCode::SUCCESS)
        }
    };
    outcome.unwrap_or_else(|fault| {
        let _ = writeln!(io::stderr(), "promptarium-server: {fault}");
        ExitCode::from(EXIT_FAULT)
    })
}

fn run_configured(config: Config) -> Result<ExitCode, String> {
    log::begin(&config.log);
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| format!("the system gives no threads or no polling: {error}"))?;
    let code = runtime.block_on(run_to_the_end(config));
    // What still runs after a second signal is not waited for.
    runtime.shutdown_background();
    code
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
    let parts = Parts {
        store: Arc::new(MemoryStore::new(Clock::System)),
        clock: Clock::System,
        public,
        provider: None,
        blobs: None,
        with_metrics: admin.is_some(),
    };
    let Service { app, made_key, crew } =
        start::start(config.service, parts).await.map_err(|error| said(&error))?;

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

async fn bind(address: &Address) -> Result<TcpListener, String> {
    TcpListener::bind(&address.text).await.map_err(|error| {
        let (name, text) = (&address.came_by, &address.text);
        match error.kind() {
            io::ErrorKind::AddrInUse => format!("{name}: something listens on {text} already"),
            _ => format!("{name}: cannot listen on {text}: {error}"),
        }
    })
}

/// An error with all its causes, in one line.
fn said(error: &StartError) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
