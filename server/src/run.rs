//! The program: reads the configuration, then serves until a signal, or runs one command.

#[cfg(feature = "postgres")]
mod commands;
mod health;
mod log;
mod ready;
mod signals;

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpSocket, lookup_host};

use self::ready::ReadyLine;
use self::signals::{LinkSignals, stop_signals};
use crate::api::openapi;
use crate::blobs::{BlobSetting, Blobs};
use crate::clock::Clock;
use crate::config::{Address, Command, ConfigError, DatabaseConfig, ServeConfig};
use crate::domain::{GeneratedKey, PublicUrl};
use crate::error_chain::error_chain;
use crate::limits::LISTEN_BACKLOG;
use crate::serve::metrics::serve_metrics;
use crate::start::{self, Service, ServiceParts, SignInLinks, StoreKind};
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
    let result = match Command::parse(arguments, std::env::vars_os()) {
        Ok(Command::Serve(config)) => {
            let _log = log::init(&config.log);
            block_on(serve_until_signal(*config))
        }
        #[cfg(feature = "postgres")]
        Ok(Command::Admin(config)) => {
            let _log = log::init(&config.log);
            block_on(commands::run(*config))
        }
        #[cfg(not(feature = "postgres"))]
        Ok(Command::Admin(config)) => match config.database.url.never {},
        Ok(Command::Health(listen)) => block_on(health::run(listen)),
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
    let no_signals = |error| format!("signals cannot be received: {error}");
    let mut first = pin!(stop_signals(1).map_err(no_signals)?);
    let second = stop_signals(2).map_err(no_signals)?;
    let link_signals = LinkSignals::new().map_err(no_signals)?;
    let ServeConfig { listen, admin_listen, json, .. } = &config;
    let socket = bind(listen).await?;
    let admin = match admin_listen {
        Some(address) => Some((bind(address).await?, address)),
        None => None,
    };
    let local_addr =
        socket.local_addr().map_err(|error| format!("the listener has no address: {error}"))?;
    let files_in_memory = config.service.blobs == BlobSetting::Memory;
    // The port refuses connections until then: migrations may take long.
    let service = tokio::select! {
        service = Box::pin(open_service(&config, local_addr)) => service?,
        () = &mut first => {
            tracing::info!("stopped before it was ready");
            return Ok(ExitCode::SUCCESS);
        }
    };
    let listener = accept_from(socket, listen)?;
    if let (Some((socket, address)), Some(metrics)) = (admin, service.app.metrics.clone()) {
        let listener = accept_from(socket, address)?;
        let address = listener.local_addr().map(|address| address.to_string()).unwrap_or_default();
        tracing::info!(address, "serving metrics");
        tokio::spawn(serve_metrics(listener, metrics));
    }
    let has_pages = cfg!(feature = "dashboard");
    let dashboard_url = has_pages.then(|| service.sign_in.dashboard_url());
    let with_link = has_pages && service.account_is_new;
    let sign_in_url = if with_link { sign_in_url(&service.sign_in).await } else { None };
    let ready_line = ReadyLine {
        base_url: &service.app.api.base_url,
        api_key: service.generated_key.as_ref().map(GeneratedKey::expose),
        dashboard_url: dashboard_url.as_deref(),
        sign_in_url: sign_in_url.as_deref(),
        store: service.app.api.store.name(),
        pid: std::process::id(),
        files_in_memory,
    };
    if let Err(error) = ready_line.print(*json) {
        tracing::warn!(%error, "the ready line could not be written");
    }
    let links = tokio::spawn(print_sign_in_links(link_signals, service.sign_in.clone(), *json));

    let stop = async {
        first.await;
        tracing::info!("stopping; another signal ends the program at once");
    };
    let code = tokio::select! {
        cut = service.serve(listener, config.limits.within_descriptors(), stop) => exit_code(cut),
        () = second => {
            tracing::warn!("stopped immediately by a second signal");
            ExitCode::from(EXIT_SECOND_SIGNAL)
        }
    };
    links.abort();
    Ok(code)
}

/// Opens the stores and starts the workers.
async fn open_service(config: &ServeConfig, local: SocketAddr) -> Result<Service, String> {
    let public = config.public_url.clone().unwrap_or_else(|| PublicUrl::of_listener(local));
    if config.public_url.is_none() && !local.ip().is_loopback() {
        let address = public.url().as_str();
        tracing::warn!(
            address,
            "other machines cannot use the links to this address, nor sign in: set --public-url \
             to the address that clients and browsers open"
        );
    }
    if config.database.is_some() && config.service.blobs == BlobSetting::Memory {
        tracing::warn!(
            "files are in memory and will be lost at the next stop, unlike the database"
        );
    }
    // Before the database is migrated.
    let blobs = Blobs::open(&config.service.blobs).map_err(|error| error.to_string())?;
    let parts = ServiceParts {
        store: open_store(config, &public).await?,
        clock: Clock::System,
        public,
        provider: None,
        blobs: Some(blobs),
        with_metrics: config.admin_listen.is_some(),
    };
    start::start(config.service.clone(), parts).await.map_err(|error| error_chain(&error))
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
            tracing::warn!("there is no sign-in link: `promptarium-server sign-in` makes one");
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

fn exit_code(cut: usize) -> ExitCode {
    if cut == 0 {
        tracing::info!("stopped");
        return ExitCode::SUCCESS;
    }
    tracing::warn!(connections = cut, "stopped: drain timeout, connections were cut off");
    ExitCode::from(EXIT_CUT_OFF)
}

async fn open_store(config: &ServeConfig, public: &PublicUrl) -> Result<StoreKind, String> {
    let Some(DatabaseConfig { url, source, migration }) = &config.database else {
        let store = MemoryStore::new(Clock::System).with_vaults_max(config.vaults_max);
        return Ok(StoreKind::Single(Arc::new(store)));
    };
    let store = PostgresStore::open(url, *migration, Clock::System).await;
    let store = store.map_err(|error| format!("{source}: {}", error_chain(&error)))?;
    let stored = store.set_last_public_url(public.url().as_str()).await;
    stored.map_err(|error| format!("{source}: {}", error_chain(&error)))?;
    Ok(StoreKind::Shared(store.with_vaults_max(config.vaults_max)))
}

/// A socket that has the address, but does not accept connections yet.
async fn bind(Address { text, source }: &Address) -> Result<TcpSocket, String> {
    let bind_to = |address: SocketAddr| {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // Connections of the program before may still be closing. On Windows it means more.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        socket.bind(address).map(|()| socket)
    };
    let bound = lookup_host(text).await.and_then(|addresses| {
        let none = Err(io::ErrorKind::AddrNotAvailable.into());
        addresses.fold(none, |bound, address| bound.or_else(|_| bind_to(address)))
    });
    bound.map_err(|error| cannot_listen(text, source, &error))
}

fn accept_from(socket: TcpSocket, address: &Address) -> Result<TcpListener, String> {
    let Address { text, source } = address;
    socket.listen(LISTEN_BACKLOG).map_err(|error| cannot_listen(text, source, &error))
}

fn cannot_listen(text: &str, source: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => format!("{source}: {text} is already in use"),
        _ => format!("{source}: cannot listen on {text}: {error}"),
    }
}
