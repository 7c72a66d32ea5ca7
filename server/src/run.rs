//! The program: reads the configuration, then serves until a signal, or runs one command.

#[cfg(all(unix, feature = "folder"))]
mod admin_socket;
#[cfg(feature = "folder")]
mod archive;
mod commands;
mod dispatch;
mod log;
mod ready;
mod socket;

use std::ffi::OsString;
use std::future::ready;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;

use futures::stream::{self, Stream, StreamExt};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::filter::LevelFilter;

use self::ready::ReadyLine;
use self::socket::{Bound, bind, health};
use crate::api::openapi;
use crate::blobs::setting::BlobSetting;
use crate::config::{CliCommand, Config, ConfigError, DataPlace, command_line};
use crate::domain::{BASE_PATH, GeneratedKey, PublicUrl};
use crate::error_chain::error_chain;
use crate::program::{self, DatabaseAway};
use crate::serve::metrics::{Metrics, serve_metrics};
use crate::start::{Service, SignInLinks};
use crate::store::Cause;

/// Requests in flight were cut off at the end of the drain timeout.
const EXIT_CUT_OFF: u8 = 1;
/// A command does not fit what exists.
const EXIT_PRECONDITION: u8 = 1;
/// The flags, the environment or the machine prevent the start.
const EXIT_FAILURE: u8 = 2;
/// The database was not available, and may be later.
const EXIT_DATABASE_AWAY: u8 = 3;
/// A second signal ended the program; what shells report for an interrupted program.
const EXIT_SECOND_SIGNAL: u8 = 130;

/// An exit code, and one line for stderr.
struct Failure(u8, String);

impl From<String> for Failure {
    fn from(problem: String) -> Self {
        Self(EXIT_FAILURE, problem)
    }
}

/// A failure whose precondition does not hold, such as an account that does not exist.
fn refused(problem: impl Into<String>) -> Failure {
    Failure(EXIT_PRECONDITION, problem.into())
}

/// The result of a command as text and as JSON.
type Output = (String, Value);

impl From<Cause> for Failure {
    fn from(error: Cause) -> Self {
        let code = if error.is::<DatabaseAway>() { EXIT_DATABASE_AWAY } else { EXIT_FAILURE };
        Self(code, error_chain(&*error))
    }
}

/// Runs the program with these arguments, its name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let result = match Config::parse(arguments, std::env::vars_os()) {
        Ok((config, command)) => execute(config, command),
        Err(ConfigError::Help(text)) => print(text),
        Err(ConfigError::Invalid(problem)) => Err(problem.into()),
    };
    result.unwrap_or_else(|Failure(code, problem)| {
        let _ = writeln!(io::stderr(), "promptarium-server: {problem}");
        ExitCode::from(code)
    })
}

fn execute(config: Config, command: CliCommand) -> Result<ExitCode, Failure> {
    let mut text = Vec::new();
    match command {
        CliCommand::Serve => {
            let _log = log::init(&config, LevelFilter::INFO);
            return block_on(serve_until_signal(config));
        }
        CliCommand::Admin(command) => {
            let _log = log::init(&config, LevelFilter::WARN);
            return block_on(dispatch::run(&config, command));
        }
        CliCommand::Health => return health(&config),
        CliCommand::Openapi => {
            let s = &config.settings;
            let document = openapi::document(s.public_url.as_ref(), &s.model_namespace);
            text = format!("{document:#}\n").into();
        }
        CliCommand::Completions { shell } => {
            clap_complete::generate(shell, &mut command_line(), "promptarium-server", &mut text);
        }
        CliCommand::Man => {
            // Memory takes all of it.
            let _ = clap_mangen::Man::new(command_line()).render(&mut text);
        }
    }
    print(text)
}

/// Writes to stdout, which its reader may close before the end.
fn print(text: impl AsRef<[u8]>) -> Result<ExitCode, Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_ref()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to stdout: {error}").into())
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn block_on(program: impl Future<Output = Result<ExitCode, Failure>>) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| format!("the Tokio runtime cannot be started: {error}"))?;
    let code = runtime.block_on(program);
    // After a second signal, tasks that still run are not waited for.
    runtime.shutdown_background();
    code
}

async fn serve_until_signal(config: Config) -> Result<ExitCode, Failure> {
    let signals = signals().map_err(|error| format!("signals cannot be received: {error}"))?;
    let mut stop_signals = pin!(signals);
    let (settings, mut limits) = (&config.settings, config.limits().within_descriptors());
    let json = settings.json;
    let Bound { address, listen, file } = bind(&config, "listen", &settings.listen).await?;
    if file.is_some() {
        // Those of its clients have one address.
        limits.connections_per_address.get_or_insert(0);
    }
    let admin = match &settings.admin_listen {
        Some(address) => Some(bind(&config, "admin_listen", address).await?),
        None => None,
    };
    let (files_in_memory, folder) = (config.blobs == BlobSetting::Memory, config.data_folder());
    // The port refuses connections until then: migrations may take long.
    let (service, metrics) = tokio::select! {
        service = Box::pin(open_service(config, address)) => service?,
        _ = stop_signals.next() => {
            tracing::info!("stopped before it was ready");
            return Ok(ExitCode::SUCCESS);
        }
    };
    let cannot = |error: io::Error| format!("the listener cannot begin: {error}");
    let listener = listen().map_err(cannot)?;
    if let (Some(Bound { address, listen, .. }), Some(metrics)) = (admin, metrics) {
        tracing::info!(address = address.to_string(), "serving metrics");
        tokio::spawn(serve_metrics(listen().map_err(cannot)?, metrics));
    }
    let has_pages = service.app.pages.is_some();
    let root = service.app.api.base_url.trim_end_matches(BASE_PATH);
    let dashboard_url = has_pages.then(|| format!("{root}/"));
    let with_link = has_pages && service.account_is_new;
    let sign_in_url = if with_link { sign_in_url(&service.sign_in).await } else { None };
    #[cfg(all(unix, feature = "folder"))]
    let _commands =
        folder.as_deref().and_then(|folder| admin_socket::serve(folder, &service.app.api.store));
    let ready_line = ReadyLine {
        base_url: &service.app.api.base_url,
        api_key: service.generated_key.as_ref().map(GeneratedKey::expose),
        dashboard_url: dashboard_url.as_deref(),
        sign_in_url: sign_in_url.as_deref(),
        store: service.app.api.store.name(),
        folder: folder.as_deref(),
        pid: std::process::id(),
        files_in_memory,
        socket: file.as_deref(),
    };
    ready_line.print(json);
    let stop = CancellationToken::new();
    let stopping = async {
        stop_signals.next().await;
        // The next server may take the place of a Unix socket.
        drop(file);
        tracing::info!("stopping; another signal ends the program at once");
        stop.cancel();
        stop_signals.filter(|ends| ready(*ends)).next().await;
    };
    Ok(tokio::select! {
        cut = service.serve(listener, limits, stop.cancelled()) => {
            if cut == 0 {
                tracing::info!("stopped");
                return Ok(ExitCode::SUCCESS);
            }
            tracing::warn!(connections = cut, "stopped: drain timeout, connections were cut off");
            ExitCode::from(EXIT_CUT_OFF)
        }
        () = stopping => {
            tracing::warn!("stopped immediately by a second signal");
            ExitCode::from(EXIT_SECOND_SIGNAL)
        }
    })
}

/// Opens the stores and starts the workers.
async fn open_service(
    config: Config,
    local: SocketAddr,
) -> Result<(Service, Option<Arc<Metrics>>), Failure> {
    let settings = &config.settings;
    let public = settings.public_url.clone().unwrap_or_else(|| PublicUrl::of_listener(local));
    if settings.public_url.is_none() && !local.ip().is_loopback() {
        let address = public.url().as_str();
        tracing::warn!(
            address,
            "other machines cannot use the links to this address, nor sign in: set --public-url \
             to the address that clients and browsers open"
        );
    }
    if config.data != Some(DataPlace::Memory) && config.blobs == BlobSetting::Memory {
        tracing::warn!("files are in memory and will be lost at the next stop, unlike the data");
    }
    let start = async || program::start(&config, &public).await;
    Ok(program::with_database(&config, start).await?)
}

/// A new sign-in link. A failure is logged: the server works without.
async fn sign_in_url(links: &SignInLinks) -> Option<String> {
    links.make().await.unwrap_or_else(|error| {
        tracing::warn!(error = error_chain(&error), "no sign-in link could be made");
        None
    })
}

/// SIGINT, SIGTERM, SIGQUIT and SIGHUP, which stop the server. From the call on they do not end the
/// process, nor does SIGXFSZ: a write beyond `ulimit -f` fails. Of each signal the stream says whether
/// as a second one it ends the program at once.
/// SIGHUP does not: a closed terminal sends it twice, and systemd may send it after SIGTERM.
#[cfg(unix)]
fn signals() -> io::Result<impl Stream<Item = bool>> {
    use tokio::signal::unix::{SignalKind, signal};
    let stream = |kind| {
        let mut signal = signal(kind)?;
        io::Result::Ok(stream::poll_fn(move |context| signal.poll_recv(context)))
    };
    // Another number only on MIPS and PA-RISC.
    const SIGXFSZ: i32 = 25;
    // The handler stays after the stream is dropped.
    drop(signal(SignalKind::from_raw(SIGXFSZ))?);
    let hangup = SignalKind::hangup();
    let stop = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::quit(), hangup];
    let stop = stop.map(|kind| Ok(stream(kind)?.map(move |()| kind != hangup)));
    let stop = stop.into_iter().collect::<io::Result<Vec<_>>>()?;
    Ok(stream::select_all(stop))
}

/// Ctrl-C stops the server.
#[cfg(not(unix))]
fn signals() -> io::Result<impl Stream<Item = bool>> {
    let ctrl_c = |()| async { tokio::signal::ctrl_c().await.ok().map(|()| (true, ())) };
    Ok(stream::unfold((), ctrl_c).chain(stream::pending()))
}
